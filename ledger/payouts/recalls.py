"""Taking money back before it leaves: a payout that was never attempted is recalled, and its transfer reversed."""

from django.db import transaction

from audit.record import Actor, record
from base.locks import lock_customer
from ledger.access.scopes import as_customer
from ledger.models import Order, Payout
from ledger.news import payout_changed
from ledger.payouts.sending import State, Told, event_of, reverse, tell


class TooLate(Exception):
    """A payout of the write was attempted, or left to the shop, before; nothing was changed."""


def recall(*, entry: str, customer_id: str, actor: Actor) -> list[Told]:
    """Recall every payout of an executed write, or none: its refunds and charges belong together. Empty where it
    has none here. Raises TooLate."""
    with transaction.atomic():
        lock_customer(customer_id)
        recalled = as_customer(customer_id, lambda: _take_back(entry))
        for told in recalled:
            record(actor, event_of(told, State.RECALLED))
            payout_changed.send(Payout, told=told, was=told.was, state=State.RECALLED)
    return recalled


def _take_back(entry: str) -> list[Told]:
    """One conditional UPDATE by primary key, so that a row which a worker has just claimed is looked at again."""
    rows = Payout.objects.filter(transfer__entry_id=entry).exclude(state=State.RECALLED)
    found = list(rows.select_related("transfer__payment_method").order_by("pk"))
    if not found:
        return []
    Order.objects.select_for_update(no_key=True).get(pk=found[0].transfer.order_id)
    waiting = Payout.objects.filter(pk__in=[row.pk for row in found], state=State.PENDING, attempts=0)
    if waiting.update(state=State.RECALLED) < len(found):
        raise TooLate
    for row in found:
        reverse(row.pk)
    return [tell(row) for row in found]
