"""The numbers of the overview: bounded queries, each over an index, and decoys in none of them."""

import datetime as dt
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django.db import connection
from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from agents.models import Turn
from approvals.models import Request
from ledger.access.staff import as_staff
from ledger.models import Entry

RANGES = (7, 30, 90)
SOON = dt.timedelta(hours=4)
MOST_SOON, MOST_CURRENCIES = 10, 6


@dataclass(frozen=True, slots=True)
class Span:
    """The last so many days of a reader's time zone, today included."""

    days: int
    zone: ZoneInfo

    @property
    def dates(self) -> list[dt.date]:
        today = timezone.now().astimezone(self.zone).date()
        return [today - dt.timedelta(days=back) for back in range(self.days - 1, -1, -1)]

    @property
    def since(self) -> dt.datetime:
        return dt.datetime.combine(self.dates[0], dt.time(), self.zone)


def zone_named(name: str) -> ZoneInfo | None:
    """A time zone by its name; None for what is no zone's."""
    return ZoneInfo(name) if name in available_timezones() else None


def waiting() -> dict[str, Any]:
    """How many wait for a decision, and those that expire soon, the soonest first."""
    pending = Request.objects.filter(state="pending", is_decoy=False)
    soon = pending.filter(expires_at__lt=timezone.now() + SOON).order_by("expires_at")
    return {"count": pending.count(), "soon": list(soon[:MOST_SOON])}


_DECIDED = """
    FROM approvals_request WHERE decided_at >= %s AND NOT is_decoy
      AND (state = 'expired' OR decided_by <> '' AND state <> 'withdrawn')
"""
_TIMES = f"""
    SELECT count(*), percentile_cont(ARRAY[0.5, 0.95])
        WITHIN GROUP (ORDER BY extract(epoch FROM decided_at - created_at)) {_DECIDED} AND state <> 'expired'
"""  # noqa: S608 - our own text
_BY_RULE = f"""
    SELECT rule, count(*) FILTER (WHERE state NOT IN ('denied', 'expired') AND lowered_from_minor IS NULL),
        count(*) FILTER (WHERE state NOT IN ('denied', 'expired') AND lowered_from_minor IS NOT NULL),
        count(*) FILTER (WHERE state = 'denied'), count(*) FILTER (WHERE state = 'expired')
    {_DECIDED} GROUP BY rule ORDER BY count(*) DESC, rule
"""


def decided(span: Span) -> dict[str, Any]:
    """How long decisions took, in seconds (the middle one, and the one that 95 of 100 are faster than), and what became
    of what each rule asked about."""
    with connection.cursor() as cursor:
        cursor.execute(_TIMES, [span.since])
        count, (median, p95) = ((row := cursor.fetchone())[0], row[1] or (None, None))
        cursor.execute(_BY_RULE, [span.since])
        rules = cursor.fetchall()
    return {"count": count, "median": median, "p95": p95, "rules": rules}


def money(span: Span) -> dict[str, dict[dt.date, list[int]]]:
    """What was executed, by currency and day: in minor units without a person, and after an approval. The currencies
    with most executions first."""
    rows = as_staff(lambda: list(_money(span)))
    counted: dict[str, int] = {}
    for row in rows:
        counted[row["currency"]] = counted.get(row["currency"], 0) + row["count"]
    chosen = sorted(counted, key=lambda currency: (-counted[currency], currency))[:MOST_CURRENCIES]
    found = {currency: {day: [0, 0] for day in span.dates} for currency in chosen}
    for row in rows:
        if row["day"] in found.get(row["currency"], {}):
            found[row["currency"]][row["day"]] = [row["automatic"] or 0, row["approved"] or 0]
    return found


def _money(span: Span) -> Any:
    own = Q(request_reference="")
    executed = Entry.objects.filter(at__gte=span.since).exclude(currency="")
    by_day = executed.annotate(day=TruncDate("at", tzinfo=span.zone)).values("currency", "day")
    summed = by_day.annotate(
        automatic=Sum("amount_minor", filter=own), approved=Sum("amount_minor", filter=~own), count=Count("pk")
    )
    return summed.order_by("currency", "day")


def model_cost(span: Span) -> dict[dt.date, list[int]]:
    """What models cost by day, in millionths of a US cent."""
    turns = Turn.objects.filter(created_at__gte=span.since).annotate(day=TruncDate("created_at", tzinfo=span.zone))
    spent = dict(turns.values("day").annotate(cost=Sum("cost_microcents")).values_list("day", "cost"))
    return {day: [spent.get(day) or 0] for day in span.dates}


def limits_hit(span: Span) -> list[tuple[str, int]]:
    """How many turns ended at which limit, most first."""
    ended = Turn.objects.filter(created_at__gte=span.since, reason__startswith="limit_")
    return list(ended.values("reason").annotate(count=Count("pk")).order_by("-count").values_list("reason", "count"))
