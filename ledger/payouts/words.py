"""A payout's state as its customer reads it."""

from ledger.access.scopes import as_customer
from ledger.models import Payout, Transfer

REFUND = {
    "pending": "on its way to your bank",
    "unknown": "sent to your bank, not confirmed yet",
    "sent": "sent to your bank",
    "settled": "paid out by your bank",
    "failed": "could not be paid out; a person looks into it",
    "recalled": "taken back before it was sent; it stands on the order again",
}
CHARGE = {
    "pending": "about to be charged",
    "unknown": "charged, not confirmed yet",
    "sent": "being charged",
    "settled": "charged",
    "failed": "could not be charged; a person looks into it",
    "recalled": "taken back before it was charged",
}


def status_words(kind: str, state: str | None) -> str | None:
    """None where Placet moves the money itself, or the shop does."""
    return (REFUND if kind == Transfer.Kind.REFUND else CHARGE).get(state or "")


def money_of(customer_id: str, entries: list[str]) -> dict[str, list[str]]:
    """What became of the money of executed writes, by their references."""

    def read() -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        rows = Payout.objects.filter(transfer__entry_id__in=entries).select_related("transfer").order_by("pk")
        for row in rows:
            if words := status_words(row.transfer.kind, row.state):
                found.setdefault(str(row.transfer.entry_id), []).append(words)
        return found

    return as_customer(customer_id, read)
