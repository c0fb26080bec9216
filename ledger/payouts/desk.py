"""What staff do about payouts: see which need somebody, have one looked up, note that one was taken care of."""

from django.db import transaction
from django.db.models import Q, QuerySet

from audit.record import Actor, record
from ledger.access.staff import as_staff
from ledger.models import Payout
from ledger.payouts import sending
from ledger.payouts.sending import Told, event_of, tell
from ledger.providers import connector
from ledger.providers.calls import CallFailed

ATTENTION = Q(state="unknown") | Q(state="failed", handled_by="")


class CannotResolve(Exception):
    """Nothing was changed; the message is a sentence for the member of staff who tried."""


def rows(which: Q) -> QuerySet[Payout]:
    """Payouts with what a list shows of them, newest first. Lazy: read it in the staff's scope."""
    return Payout.objects.filter(which).select_related("transfer__payment_method").order_by("-pk")


def resolve(transfer_id: int, actor: Actor) -> str:
    """Look one up under its key and move it to where it is; says in a sentence what was found."""
    provider = connector()
    if provider is None:
        raise CannotResolve("No payment provider is set up: PLACET_PAYMENTS is off.")
    told = _told(transfer_id)
    try:
        answer = provider.look_up(told.instruction)
    except CallFailed as failed:
        raise CannotResolve(f"The payment provider does not answer ({failed.code}); try again later.") from failed
    if answer is None:
        return f"{told.instruction.key} is not at the provider; the worker sends it again under the same key."
    if sending.advance(told, answer, actor=actor):
        return f"{told.instruction.key} is now {answer.state}."
    return f"{told.instruction.key} is {answer.state} at the provider and {told.was} here; nothing was changed."


def handle(transfer_id: int, actor: Actor) -> str:
    """Note that somebody took care of a failed one."""
    with transaction.atomic():
        told = _told(transfer_id)
        failed = Payout.objects.filter(pk=transfer_id, state="failed", handled_by="")
        if not as_staff(lambda: failed.update(handled_by=actor.id)):
            raise CannotResolve(f"{told.instruction.key} is not a failed payout that waits for somebody.")
        record(actor, event_of(told, "handled"))
    return f"{told.instruction.key} is marked as taken care of."


def _told(transfer_id: int) -> Told:
    found = as_staff(lambda: rows(Q(pk=transfer_id)).first())
    if found is None:
        raise CannotResolve(f"There is no payout {transfer_id}.")
    if found.state == "recalled":
        raise CannotResolve(f"Payout {transfer_id} was recalled before it was sent; no provider knows it.")
    if found.state == "outside":
        raise CannotResolve(f"Payout {transfer_id} was left to the shop; no provider knows it.")
    return tell(found)
