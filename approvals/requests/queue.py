"""What the queue shows: a page of rows that costs the same wherever it lies, and counts that end somewhere."""

import datetime as dt
import hashlib
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, F, QuerySet, When
from django.db.models.functions import Now

from approvals.casefile.flags import flagged_among
from approvals.models import Decision, Request, Staff
from approvals.requests.queue_filters import Filters, condition, keyset_of
from approvals.requests.risk import risk_of, suitable
from ledger.access.staff import as_staff
from ledger.models import Customer

PAGE = 50
MOST_COUNTED = 1_000
DECOY_SAYS = {"customer": "customer_name", "customer_id": "customer_id", "order_id": "order_id"}
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """Rows in their order; `after` leads to the next page and is empty on the last."""

    rows: list[Row]
    after: str


def page(filters: Filters, staff: Staff, *, after: str = "") -> Page:
    """One page of a view. Raises BadCursor."""
    found = _values(Request.objects.filter(condition(filters, staff)))
    part = keyset_of(filters).page(found, after, PAGE)
    return Page(_told(part.rows), part.cursor)


def rows_of(references: list[str]) -> list[Row]:
    """The rows of these requests as they stand now, whatever their state."""
    return _told(list(_values(Request.objects.filter(pk__in=references[:PAGE]))))


def count(filters: Filters, staff: Staff, *, since: dt.datetime | None = None) -> int:
    """How many a view shows, or how many of them are newer; more than a thousand are 1,001."""
    found = Request.objects.filter(condition(filters, staff))
    if since is not None:
        found = found.filter(created_at__gt=since)
    return found.order_by()[: MOST_COUNTED + 1].count()


def waiting_count() -> int:
    """How many wait for a person, counted as `count` does."""
    return Request.objects.filter(state="pending").order_by()[: MOST_COUNTED + 1].count()


def _values(found: "QuerySet[Request]") -> Any:
    return found.annotate(
        assignee=Case(When(assigned_until__gt=Now(), then=F("assigned_to__username"))),
        assigned=F("second_approver__username"),
        summary=F("preview__summary"),
        repeats=F("facts__repeats"),
    ).values(
        "reference", "state", "revision", "tool", "summary", "amount_minor", "currency", "customer_id", "order_id",
        "rule", "facts", "policy_version", "created_at", "expires_at", "approvals_needed", "assignee", "assigned",
        "assigned_until", "decided_by", "decided_at", "digest", "repeats", "is_decoy",
    )  # fmt: skip


def _told(raw: list[Row]) -> list[Row]:
    """With what other tables say: five queries, however many rows."""
    ids = {row["customer_id"] for row in raw if row["customer_id"]}
    names = as_staff(lambda: dict(Customer.objects.filter(pk__in=ids).values_list("pk", "name")))
    given, flagged = _given(raw), flagged_among(ids)
    together = suitable([row for row in raw if row["state"] == "pending"])
    decoys = _told_by_decoys(raw)
    return [
        _sealed(
            {**row, "customer": names.get(row["customer_id"], ""), "bulk": row["reference"] in together}
            | {"given": given.get((row["reference"], row["revision"]), 0)}
            | {"risk": risk_of(row, flagged=row["customer_id"] in flagged)}
            | decoys.get(row["reference"], {})
        )
        for row in raw
    ]


def _given(raw: list[Row]) -> dict[tuple[str, int], int]:
    counted = Decision.objects.filter(
        request__in=[row["reference"] for row in raw], verdict="approve", withdrawal=None, staff__is_active=True
    )
    by = counted.values_list("request_id", "revision").annotate(given=Count("pk"))
    return {(reference, revision): given for reference, revision, given in by}


def _told_by_decoys(raw: list[Row]) -> dict[str, dict[str, str]]:
    """By reference, the customer and the order that a decoy names and that do not exist."""
    decoys = [row["reference"] for row in raw if row["is_decoy"]]
    previews = Request.objects.filter(pk__in=decoys).values_list("pk", "preview")
    return {reference: {name: told[key] for name, key in DECOY_SAYS.items()} for reference, told in previews}


_SEEN = ("state", "revision", "given", "assignee", "assigned", "decided_by", "amount_minor")


def _sealed(row: Row) -> Row:
    """With a short hash that changes when what is shown of it does."""
    seen = repr([row[name] for name in _SEEN] + [row["risk"].level])
    return {**row, "seal": hashlib.sha256(seen.encode()).hexdigest()[:8]}
