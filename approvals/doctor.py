"""Proving that requests and books agree. The books lie behind row-level security, so both sides are read and
compared here."""

from collections.abc import Iterator

from approvals.models import OPEN_STATES, Request
from ledger.access.staff import as_staff
from ledger.models import Entry, Hold


def prove() -> Iterator[tuple[str, list[str]]]:
    """Each check with its contradictions."""
    yield "every executed request has its entry, and no other has one", _entries()
    yield "what requests hold is reserved exactly while they are open", _holds()


def _entries() -> list[str]:
    rows = as_staff(lambda: list(Entry.objects.exclude(request_reference="").values_list("request_reference", "pk")))
    asked = Request.objects.filter(state=Request.State.EXECUTED).values_list("reference", "entry_reference")
    return [f"request {request} and entry {entry}" for request, entry in sorted(set(rows) ^ set(asked))]


def _holds() -> list[str]:
    pending = Hold.objects.filter(state=Hold.State.PENDING, owner__startswith="R-")
    held = as_staff(lambda: set(pending.values_list("owner", flat=True)))
    is_open = set(Request.objects.filter(state__in=OPEN_STATES).values_list("reference", flat=True))
    waiting = Request.objects.filter(state__in=OPEN_STATES, tool="issue_refund", is_decoy=False)
    moves = waiting.values_list("reference", flat=True)
    return [f"{owner} holds money and is not open" for owner in sorted(held - is_open)] + [
        f"{owner} is open and holds nothing" for owner in sorted(set(moves) - held)
    ]
