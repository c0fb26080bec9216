"""How people review, for leads: how much, how fast, and with whom."""

import datetime as dt
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy

from base import sql
from base.access import READS_RECORD, staff_page

WINDOW = dt.timedelta(days=30)
MOST_PAIRS = 50
_RECENT = """
    WITH recent AS (
        SELECT d.staff_id, d.request_id, d.revision, d.verdict, d.seconds, d.too_fast, r.is_decoy
        FROM approvals_decision d JOIN approvals_request r ON r.reference = d.request_id
        WHERE d.at > %s AND NOT EXISTS (SELECT FROM approvals_withdrawal w WHERE w.decision_id = d.id))
"""
_PEOPLE = f"""{_RECENT},
    counted AS (
        SELECT staff_id, count(*) FILTER (WHERE verdict = 'approve' AND NOT is_decoy) AS approved,
               count(*) FILTER (WHERE verdict = 'deny' AND NOT is_decoy) AS denied,
               round(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE NOT is_decoy))::int AS seconds,
               count(*) FILTER (WHERE too_fast AND NOT is_decoy) AS too_fast,
               count(*) FILTER (WHERE is_decoy) AS decoys,
               count(*) FILTER (WHERE verdict = 'approve' AND is_decoy) AS decoys_approved
        FROM recent GROUP BY staff_id)
    SELECT s.username, approved, denied, seconds, too_fast, decoys, decoys_approved
    FROM counted JOIN approvals_staff s ON s.id = staff_id ORDER BY s.username
"""  # noqa: S608 - our own texts
_PAIRS = f"""{_RECENT},
    approved AS (SELECT staff_id, request_id, revision FROM recent WHERE verdict = 'approve' AND NOT is_decoy),
    counted AS (
        SELECT one.staff_id AS one, other.staff_id AS other, count(*) AS times FROM approved one
        JOIN approved other USING (request_id, revision) WHERE one.staff_id < other.staff_id GROUP BY 1, 2)
    SELECT least(s.username, t.username), greatest(s.username, t.username), times FROM counted
    JOIN approvals_staff s ON s.id = one JOIN approvals_staff t ON t.id = other
    ORDER BY 3 DESC, 1, 2 LIMIT {MOST_PAIRS}
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Reviewer:
    """How many requests somebody approved and denied, how long the middle one took, and how many were too fast; and
    apart from these how many decoys they decided and approved."""

    name: str
    approved: int
    denied: int
    seconds: int | None
    too_fast: int
    decoys: int
    decoys_approved: int


@staff_page(READS_RECORD, what=gettext_lazy("How reviewers decide"))
def reviewers(request: HttpRequest) -> HttpResponse:
    """The last 30 days."""
    since = timezone.now() - WINDOW
    return render(request, "pages/people/reviewers.html", {"people": people(since), "pairs": pairs(since)})


def people(since: dt.datetime) -> list[Reviewer]:
    """Everybody who has decided since, by name; what was taken back does not count."""
    return [Reviewer(*row) for row in sql.rows(_PEOPLE, [since])]


def pairs(since: dt.datetime) -> list[tuple[str, str, int]]:
    """Who approved the same revision of the same request, and how often; most often first."""
    return [(one, other, times) for one, other, times in sql.rows(_PAIRS, [since])]
