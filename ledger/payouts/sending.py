"""Telling the payment provider to move the money of one transfer, exactly once.

The intent is committed before the call, which is made outside any transaction and without a connection; the
outcome is committed after it. In between the payout is `unknown`, and whoever finds it so, after a death, a
time-out or a server error, looks under its key before sending again. The keys of providers live for 24 hours
(Stripe: docs.stripe.com/api/idempotent_requests); looking up first makes that no matter.
"""

import datetime as dt
from dataclasses import dataclass, replace

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from audit.record import SYSTEM, Actor, NewEvent, record
from base.failpoints import reach
from base.locks import lock_customer
from base.work import TryAgain
from ledger.access.scopes import as_customer
from ledger.models import Order, Payout, Transfer
from ledger.news import payout_changed
from ledger.payouts.sources import source_for
from ledger.providers.calls import CallFailed, Declined, NotSent
from ledger.providers.connector import Answer, Connector, Instruction
from ledger.shop.orders import method_label

State = Payout.State

LEASE = dt.timedelta(seconds=60)
POLL = dt.timedelta(hours=1)
"""How often one that is only sent is looked up, in case the provider's report got lost."""
_BEFORE = {
    "sent": (State.PENDING, State.UNKNOWN),
    "settled": (State.PENDING, State.UNKNOWN, State.SENT),
    "failed": (State.PENDING, State.UNKNOWN, State.SENT, State.SETTLED),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A payout as one attempt saw it. `attempt` is the fence of what that attempt writes."""

    instruction: Instruction
    customer_id: str
    payment_method_id: str
    label: str
    was: str
    attempt: int
    provider: str
    reference: str = ""


def carry_out(transfer_id: int, customer_id: str, provider: Connector) -> bool:
    """One attempt at one payout; False when it was not to be had or ended as it was. TryAgain when it was neither
    sent nor found."""
    told = _claim(transfer_id, customer_id, provider)
    if told is None:
        return False
    reach("payout_claimed", told.instruction.key)
    if not connection.in_atomic_block:
        connection.close()  # back to the pool: a call may take long
    try:
        answer = _ask(provider, told)
    except CallFailed as failed:
        return _not_done(told, failed)
    reach("payout_answered", told.instruction.key)
    if answer is not None and advance(told, answer, fenced=True):
        return True
    _pause(told, "" if answer else "not_found")
    return False


def _ask(provider: Connector, told: Told) -> Answer | None:
    """Send what was never sent; look up everything else first. None: what was sent is not there."""
    if told.was != State.PENDING and (found := provider.look_up(told.instruction)):
        return found
    if told.was != State.SENT:
        return provider.send(told.instruction)
    return None


def _claim(transfer_id: int, customer_id: str, provider: Connector) -> Told | None:
    """Take a due payout and commit the intent. The row's lock lets one of several workers be first."""

    def claim() -> Told | None:
        free = Q(lease_until__isnull=True) | Q(lease_until__lte=Now())
        delay = dt.timedelta(seconds=settings.PLACET.payout_delay_seconds)
        ripe = Q(attempts__gt=0) | Q(at__lte=Now() - delay)
        row = Payout.objects.select_for_update(no_key=True, of=("self",)).select_related("transfer__payment_method")
        found = row.filter(
            free, ripe, pk=transfer_id, next_at__lte=Now(), state__in=["pending", "unknown", "sent"]
        ).first()
        if found is None:
            return None
        if found.provider not in ("", provider.name):  # another provider has it: only that one can be asked
            Payout.objects.filter(pk=transfer_id).update(next_at=Now() + POLL, error_code="other_provider")
            return None
        told = replace(tell(found), attempt=found.attempts + 1, provider=provider.name)
        source = found.source or source_for(found.transfer, provider)
        Payout.objects.filter(pk=transfer_id, state=found.state, attempts=found.attempts).update(
            state=State.UNKNOWN if found.state == State.PENDING else found.state,
            attempts=F("attempts") + 1,
            lease_until=Now() + LEASE,
            provider=provider.name,
            source=source,
            first_sent_at=Coalesce("first_sent_at", Now()),
        )
        return replace(told, instruction=replace(told.instruction, source=source))

    with transaction.atomic():
        told = as_customer(customer_id, claim)
        if told is not None and told.was != State.SENT:
            record(SYSTEM, event_of(told, "sending"), attempt=told.attempt, provider=provider.name)
    return told


def tell(payout: Payout) -> Told:
    """A payout with its transfer and method loaded, as an attempt needs it."""
    moved = payout.transfer
    method = moved.payment_method
    assert method is not None
    return Told(
        instruction=Instruction(
            key=payout.key,
            kind="refund" if moved.kind == Transfer.Kind.REFUND else "capture",
            amount_minor=moved.amount_minor,
            currency=moved.currency,
            source=payout.source,
            transfer_id=moved.pk,
            entry=str(moved.entry_id),
            order_id=str(moved.order_id),
            made_at=payout.at,
        ),
        customer_id=payout.customer_id,
        payment_method_id=method.pk,
        label=method_label(method.kind, method.brand, method.last4, method.pk),
        was=payout.state,
        attempt=payout.attempts,
        provider=payout.provider or settings.PLACET.payments,
        reference=payout.provider_reference or "",
    )


def event_of(told: Told, decision: str) -> NewEvent:
    """The event columns that a payout fills."""
    asked = told.instruction
    return NewEvent(
        kind="payout",
        decision=decision,
        customer_id=told.customer_id,
        reference=asked.entry,
        downstream_reference=told.reference,
        order_id=asked.order_id,
        amount_minor=asked.amount_minor,
        currency=asked.currency,
        idempotency_key=asked.key,
    )


def _not_done(told: Told, failed: CallFailed) -> bool:
    """A refusal for good is a failure; otherwise it is tried again, as not sent or with the outcome unknown."""
    if isinstance(failed, Declined) and told.was != State.SENT:
        return advance(told, Answer(reference="", state="failed", code=failed.code), fenced=True)
    never_sent = isinstance(failed, NotSent) and told.was == State.PENDING
    _pause(told, failed.code, State.PENDING if never_sent else None)
    return False


def _pause(told: Told, code: str, back_to: State | None = None) -> None:
    """Give it back, one that is sent for an hour. Where something went wrong, that was an attempt: TryAgain."""
    pause = POLL if told.was == State.SENT else dt.timedelta(0)
    changes = {"state": back_to} if back_to else {}
    with transaction.atomic():
        changed = as_customer(
            told.customer_id,
            lambda: Payout.objects.filter(pk=told.instruction.transfer_id, attempts=told.attempt).update(
                next_at=Now() + pause, lease_until=None, error_code=code, **changes
            ),
        )
        if changed and told.was != State.SENT:
            decision = "not_sent" if back_to else "unknown"
            record(SYSTEM, event_of(told, decision), attempt=told.attempt, reason=code)
    if code:
        raise TryAgain(code)


def advance(told: Told, answer: Answer, *, fenced: bool = False, actor: Actor = SYSTEM) -> bool:
    """Move a payout forward to where the provider has it; False when it is there or further already.

    One that failed gives its money back to the order by a reversing transfer, in the same transaction as the
    state, the event and the news: never by another method.
    """
    state = State(answer.state)
    told = replace(told, reference=answer.reference or told.reference)
    with transaction.atomic():
        lock_customer(told.customer_id)
        if not as_customer(told.customer_id, lambda: _move(told, answer, fenced)):
            return False
        record(actor, event_of(told, state), reason=answer.code)
        payout_changed.send(Payout, told=told, was=told.was, state=state)
    return True


def _move(told: Told, answer: Answer, fenced: bool) -> bool:
    asked = told.instruction
    if answer.state == "failed":
        Order.objects.select_for_update(no_key=True).get(pk=asked.order_id)
    rows = Payout.objects.filter(pk=asked.transfer_id, state__in=_BEFORE[answer.state])
    if fenced:
        rows = rows.filter(attempts=told.attempt)
    named = {"provider_reference": answer.reference} if answer.reference else {}
    moved = rows.update(
        state=answer.state,
        provider=Case(When(provider="", then=Value(told.provider)), default="provider"),
        lease_until=None,
        next_at=Now() + POLL,
        error_code=answer.code,
        **named,
    )
    if moved and answer.state == "failed":
        reverse(asked.transfer_id)
    return bool(moved)


def reverse(transfer_id: int) -> None:
    """The money of a payout that will not happen goes back to where it was. Under its order's lock."""
    failed = Transfer.objects.get(pk=transfer_id)
    Transfer.objects.create(
        kind=Transfer.Kind.REVERSAL,
        debit_id=failed.credit_id,
        credit_id=failed.debit_id,
        amount_minor=failed.amount_minor,
        currency=failed.currency,
        customer_id=failed.customer_id,
        order_id=failed.order_id,
        payment_method_id=failed.payment_method_id,
        reverses=failed,
    )
    Order.objects.filter(pk=failed.order_id).update(touched_at=timezone.now())
