"""What a payment provider reports: how our payouts went, and what was done there without Placet.

The second is always recorded, whatever it does to a balance, and can be reported twice or out of order. It
takes the staff's scope, as nobody has asked for it.
"""

from collections.abc import Callable

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from audit.record import SYSTEM, NewEvent, record
from base.locks import lock_customer
from ledger.access.staff import as_staff
from ledger.models import Account, Dispute, Order, Payout, ProviderEvent, Transfer
from ledger.news import order_disturbed
from ledger.payouts import sending
from ledger.payouts.sending import Told, tell
from ledger.payouts.sources import capture_of
from ledger.providers.connector import Report

Kind = Transfer.Kind
APPLIED, KNOWN, UNMATCHED = "applied", "known", "unmatched"
_WHY = {
    "external_refund": "it was refunded in the payment provider's dashboard",
    "reversal": "a refund in the payment provider's dashboard failed",
    "dispute": "its payment is disputed",
    "dispute_won": "a dispute of its payment was won",
    "dispute_lost": "a dispute of its payment was lost",
}


def apply(report: Report) -> str:
    """Bring the books to what the provider reports; says what came of it."""
    if report.kind != "dispute" and (told := as_staff(lambda: payout_of(report))):
        return APPLIED if sending.advance(told, report.answer) else KNOWN
    if report.kind == "charge":
        return UNMATCHED
    capture = as_staff(lambda: capture_of(report.sources))
    if capture is None or capture.currency != report.currency or report.amount_minor <= 0:
        return UNMATCHED
    work = _dispute if report.kind == "dispute" else _refund
    with transaction.atomic():
        lock_customer(str(capture.customer_id))
        news = as_staff(lambda: _under_lock(capture, report, work))
        for decision in news:
            record(SYSTEM, _event(capture, report, decision), source=report.sources, status=report.status)
            order_disturbed.send(
                Order, order_id=str(capture.order_id), customer_id=str(capture.customer_id), why=_WHY[decision]
            )
    return APPLIED if news else KNOWN


def payout_of(report: Report) -> Told | None:
    """The payout of ours that a report is about. A second object under one key is not ours: it stands for itself."""
    named = Q(provider_reference=report.reference)
    if report.key:
        named |= Q(key=report.key, provider_reference__isnull=True)
    found = Payout.objects.filter(named).select_related("transfer__payment_method").first()
    return tell(found) if found else None


def _under_lock(capture: Transfer, report: Report, work: Callable[[Transfer, Report], list[str]]) -> list[str]:
    order = Order.objects.select_for_update(no_key=True).get(pk=capture.order_id)
    made = work(capture, report)
    if made:
        frozen = order.disputes.filter(state=Dispute.State.OPEN).exists()
        Order.objects.filter(pk=order.pk).update(frozen=frozen, touched_at=timezone.now())
    return made


def _refund(capture: Transfer, report: Report) -> list[str]:
    before = Transfer.objects.filter(kind=Kind.EXTERNAL_REFUND, provider_reference=report.reference).first()
    if report.answer.state == "failed":
        if before is None or Transfer.objects.filter(reverses=before).exists():
            return []
        return [_move(capture, report, Kind.REVERSAL, reverses=before)]
    if before is not None or _failed_before(report.reference):
        return []
    return [_move(capture, report, Kind.EXTERNAL_REFUND)]


def _failed_before(reference: str) -> bool:
    """Whether a later report came first."""
    return ProviderEvent.objects.filter(object_id=reference, status__in=["failed", "canceled"]).exists()


def _dispute(capture: Transfer, report: Report) -> list[str]:
    """The first report takes the money away, one that it was won brings it back; both at most once."""
    _, new = Dispute.objects.get_or_create(
        reference=report.reference,
        defaults={
            "customer_id": str(capture.customer_id),
            "order_id": str(capture.order_id),
            "amount_minor": report.amount_minor,
            "currency": report.currency,
            "state": report.disputed,
        },
    )
    open_ = Dispute.objects.filter(pk=report.reference, state=Dispute.State.OPEN)
    ended = report.disputed != "open" and (open_.update(state=report.disputed) > 0 or new)
    taken = report.withdrawn and not _has(Kind.DISPUTE, report)
    if taken:
        _move(capture, report, Kind.DISPUTE)
    if ended and report.disputed == "won" and _has(Kind.DISPUTE, report):
        _move(capture, report, Kind.DISPUTE_WON)
    return (["dispute"] if new or taken else []) + ([f"dispute_{report.disputed}"] if ended else [])


def _has(kind: Kind, report: Report) -> bool:
    return Transfer.objects.filter(kind=kind, provider_reference=report.reference).exists()


def _move(capture: Transfer, report: Report, kind: Kind, reverses: Transfer | None = None) -> str:
    order = Account.objects.get(order_id=capture.order_id)
    leaves = kind in (Kind.EXTERNAL_REFUND, Kind.DISPUTE)
    Transfer.objects.create(
        kind=kind,
        debit_id=order.pk if leaves else capture.debit_id,
        credit_id=capture.debit_id if leaves else order.pk,
        amount_minor=reverses.amount_minor if reverses else report.amount_minor,
        currency=capture.currency,
        customer_id=capture.customer_id,
        order_id=capture.order_id,
        payment_method_id=capture.payment_method_id,
        provider_reference=report.reference,
        reverses=reverses,
    )
    return kind


def _event(capture: Transfer, report: Report, decision: str) -> NewEvent:
    return NewEvent(
        kind="payout",
        decision=decision,
        customer_id=str(capture.customer_id),
        downstream_reference=report.reference,
        order_id=str(capture.order_id),
        amount_minor=report.amount_minor,
        currency=report.currency,
    )
