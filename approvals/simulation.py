"""What a draft of the policy would have decided on what the record holds, without a model.

The facts of every verdict are in its event, so a verdict can be taken again under another policy. Sums in the
facts count what was executed and what was held, so they are the same whichever of the two a draft chooses.
"""

import datetime as dt
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from approvals.policies import policy_at, version_in_force
from approvals.policy import Facts, Policy, Verdict, decide
from approvals.policy_document import Document
from audit.models import Event
from ledger.money import show

MOST_DAYS, MOST_SHOWN = 90, 50


@dataclass(frozen=True, slots=True)
class Changed:
    """One recorded write that the draft decides otherwise."""

    event_id: int
    at: dt.datetime
    tool: str
    customer_id: str
    amount: str
    before: str
    after: str
    rule: str


@dataclass(slots=True)
class Simulation:
    """A draft's verdicts beside those of the policy that was in force, over `days` days of the record."""

    days: int
    writes: int = 0
    reviews_before: int = 0
    reviews_after: int = 0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many verdicts changed from what to what."""
    money: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """The same with a currency: minor units."""
    changed: list[Changed] = field(default_factory=list)
    """The newest of them."""

    @property
    def otherwise(self) -> int:
        """How many verdicts changed."""
        return self.counts.total()

    @property
    def extra_reviews_per_day(self) -> float:
        """How many more decisions people would have taken each day; negative for fewer."""
        return (self.reviews_after - self.reviews_before) / self.days

    def rows(self) -> list[dict[str, Any]]:
        """From what to what, how many, and the money in words."""
        return [
            {"before": before, "after": after, "count": count, "money": self._money(before, after)}
            for (before, after), count in sorted(self.counts.items(), key=lambda row: -row[1])
        ]

    def _money(self, before: str, after: str) -> str:
        sums = {key[2]: minor for key, minor in self.money.items() if key[:2] == (before, after)}
        return ", ".join(show(minor, currency) for currency, minor in sorted(sums.items()))


def simulate(draft: Document, days: int) -> Simulation:
    """Take the verdicts of the last `days` days again, newest first. Each is compared with what the policy that
    decided it says of the same facts."""
    policy = draft if isinstance(draft, Policy) else Policy(version=0, **dict(draft))
    found, now = Simulation(days=days), version_in_force()
    for event, facts in _recorded(days):
        before, after = decide(policy_at(event.policy_version or now), facts), decide(policy, facts)
        found.writes += 1
        found.reviews_before += before.approvals_needed
        found.reviews_after += after.approvals_needed
        if _words(before) != _words(after):
            _count(found, event, facts, before, after)
    return found


def _recorded(days: int) -> Iterator[tuple[Event, Facts]]:
    """The dispatches that a policy decided, with the facts that it saw."""
    since = timezone.now() - dt.timedelta(days=days)
    events = Event.objects.filter(kind="dispatch", at__gte=since, detail__body__contains='"facts":{"')
    for event in events.select_related("detail").order_by("-id").iterator(chunk_size=500):
        facts = json.loads(event.detail.body).get("facts")
        if isinstance(facts, dict) and "tool" in facts:
            yield event, Facts.stored(facts)


def _words(verdict: Verdict) -> str:
    if verdict.outcome != "ask":
        return {"allow": "alone", "deny": "refused"}[verdict.outcome]
    return "one person" if verdict.approvals_needed == 1 else "two people"


def _count(found: Simulation, event: Event, facts: Facts, before: Verdict, after: Verdict) -> None:
    change = _words(before), _words(after)
    found.counts[change] += 1
    if facts.currency:
        found.money[*change, facts.currency] += facts.amount_minor
    if len(found.changed) < MOST_SHOWN:
        amount = show(facts.amount_minor, facts.currency) if facts.currency else ""
        row = Changed(event.pk, event.at, facts.tool, event.customer_id, amount, *change, after.rule)
        found.changed.append(row)
