"""How people review, for leads: how much, how fast, and with whom."""

import datetime as dt
from collections import Counter
from itertools import combinations
from statistics import median
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from approvals.models import Decision
from audit.access import ADMIN, AUDITOR, LEAD, staff_page

WINDOW = dt.timedelta(days=30)
MOST_DECISIONS = 20_000
MOST_PAIRS = 50


@staff_page(LEAD, ADMIN, AUDITOR)
@require_safe
def reviewers(request: HttpRequest) -> HttpResponse:
    """The last 30 days."""
    since = timezone.now() - WINDOW
    recent = Decision.objects.filter(at__gt=since, withdrawal=None).select_related("staff").order_by("-at")
    decisions = list(recent.filter(request__is_decoy=False)[:MOST_DECISIONS])
    decoys = Counter(recent.filter(request__is_decoy=True).values_list("staff__username", "verdict"))
    context = {"people": people(decisions, decoys), "pairs": pairs(decisions)}
    return render(request, "approvals/reviewers.html", context)


def people(decisions: list[Decision], decoys: Counter[tuple[str, str]]) -> list[dict[str, Any]]:
    """By person: how many they approved and denied, how long the middle one took, and how many were too fast; and
    apart from these how many decoys they decided and approved. `decoys` counts by name and verdict."""
    found = []
    for name in sorted({decision.staff.username for decision in decisions} | {name for name, _ in decoys}):
        own = [decision for decision in decisions if decision.staff.username == name]
        times = [decision.seconds for decision in own if decision.seconds is not None]
        found.append(
            {
                "name": name,
                "approved": sum(decision.verdict == "approve" for decision in own),
                "denied": sum(decision.verdict == "deny" for decision in own),
                "seconds": round(median(times)) if times else None,
                "too_fast": sum(decision.too_fast for decision in own),
                "decoys": decoys[name, "approve"] + decoys[name, "deny"],
                "decoys_approved": decoys[name, "approve"],
            }
        )
    return found


def pairs(decisions: list[Decision]) -> list[tuple[str, str, int]]:
    """Who approved the same revision of the same request, and how often; most often first."""
    approvers: dict[tuple[str, int], set[str]] = {}
    for decision in decisions:
        if decision.verdict == "approve":
            approvers.setdefault((decision.request_id, decision.revision), set()).add(decision.staff.username)
    count = Counter(pair for names in approvers.values() for pair in combinations(sorted(names), 2))
    return [(*pair, times) for pair, times in count.most_common(MOST_PAIRS)]
