"""What the queue shows, in one query for the requests and one for their customers' names; one
more where there are decoys."""

import hashlib
from typing import Any

from django.db.models import Case, Count, F, Q, When
from django.db.models.functions import Now

from approvals.bulk import suitable
from approvals.models import Request
from ledger.models import Customer
from ledger.staff import as_staff

MOST_ROWS = 200
TABS: dict[str, tuple[str, tuple[str, ...]]] = {
    "pending": ("Waiting", ("pending",)),
    "approved": ("In progress", ("approved", "executing", "unknown")),
    "executed": ("Executed", ("executed",)),
    "denied": ("Denied", ("denied",)),
    "closed": ("Ended otherwise", ("expired", "stale", "withdrawn", "failed")),
}
DECOY_SAYS = {"customer": "customer_name", "customer_id": "customer_id", "order_id": "order_id"}


def rows(tab: str) -> list[dict[str, Any]]:
    """The tab's requests: what waits by how soon it expires, what ended newest first."""
    order = "expires_at" if tab == "pending" else "-created_at"
    found = list(_requests(TABS[tab][1]).order_by(order, "reference")[:MOST_ROWS])
    ids = {request["customer_id"] for request in found if request["customer_id"]}
    names = as_staff(lambda: dict(Customer.objects.filter(pk__in=ids).values_list("pk", "name")))
    together = suitable(found) if tab == "pending" else set()
    told = _told_by_decoys(found)
    return [
        {**row, "customer": names.get(row["customer_id"], ""), "bulk": row["reference"] in together}
        | told.get(row["reference"], {})
        for row in found
    ]


def _told_by_decoys(found: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """By reference, the customer and the order that a decoy names and that do not exist."""
    decoys = [row["reference"] for row in found if not row["customer_id"]]
    previews = Request.objects.filter(pk__in=decoys).values_list("pk", "preview")
    return {reference: {name: told[key] for name, key in DECOY_SAYS.items()} for reference, told in previews}


def _requests(states: tuple[str, ...]) -> Any:
    counted = Q(decisions__verdict="approve", decisions__revision=F("revision"), decisions__withdrawal=None)
    return (
        Request.objects.filter(Q(is_decoy=False) | Q(state="pending"), state__in=states)
        .annotate(
            given=Count("decisions", filter=counted),
            holder=Case(When(claimed_until__gt=Now(), then=F("claimed_by__username"))),
            summary=F("preview__summary"),
            repeats=F("facts__repeats"),
        )
        .values(
            "reference", "state", "revision", "tool", "summary", "amount_minor", "currency", "customer_id",
            "order_id", "rule", "created_at", "expires_at", "approvals_needed", "given", "holder", "decided_by",
            "decided_at", "digest", "repeats",
        )
    )  # fmt: skip


def seal_of(found: list[dict[str, Any]]) -> str:
    """A short hash that changes when anything on the page does."""
    return hashlib.sha256(repr(found).encode()).hexdigest()[:16]


def waiting_count() -> int:
    """How many wait for a person, as the first tab shows them."""
    return Request.objects.filter(state="pending").count()
