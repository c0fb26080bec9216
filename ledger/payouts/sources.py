"""Which payment at the provider a payout belongs to."""

from django.db.models import Q, Sum

from ledger.models import Payout, Transfer
from ledger.providers.connector import Connector, made_up

NEVER_MOVED = (Payout.State.FAILED, Payout.State.RECALLED)


def source_for(moved: Transfer, provider: Connector) -> str:
    """The payment to refund: the first of that method on the order with enough left, or the one with the most
    left. For a charge: the last payment by that method, whose card or account is charged again."""
    paid = Transfer.objects.filter(kind=Transfer.Kind.CAPTURE, payment_method_id=moved.payment_method_id)
    paid = paid.exclude(payout__state__in=NEVER_MOVED).exclude(pk=moved.pk).select_related("payout")
    if moved.kind == Transfer.Kind.CAPTURE:
        last = paid.order_by("-id").first()
        return _source(last or moved, provider)
    captures = list(paid.filter(order_id=moved.order_id).order_by("id"))
    left = {capture: _left(capture, _source(capture, provider)) for capture in captures}
    enough = [capture for capture, amount_minor in left.items() if amount_minor >= moved.amount_minor]
    best = enough[0] if enough else max(captures, key=lambda capture: left[capture], default=None)
    return _source(best, provider) if best else ""


def _source(capture: Transfer, provider: Connector) -> str:
    charged = Payout.objects.filter(pk=capture.pk).values_list("provider_reference", flat=True).first()
    return provider.source_of(capture.pk, charged or capture.provider_reference)


def _left(capture: Transfer, source: str) -> int:
    refunds = Payout.objects.filter(source=source, transfer__kind=Transfer.Kind.REFUND).exclude(state__in=NEVER_MOVED)
    gone = refunds.aggregate(sum=Sum("transfer__amount_minor"))["sum"] or 0
    return capture.amount_minor - int(gone) if source else -1


def capture_of(sources: tuple[str, ...]) -> Transfer | None:
    """The capture that one of a provider's ids belongs to, in whatever scope is on."""
    made = [capture for source in sources if (capture := made_up(source))]
    named = Q(provider_reference__in=sources) | Q(payout__provider_reference__in=sources) | Q(pk__in=made)
    return Transfer.objects.filter(named, kind=Transfer.Kind.CAPTURE).order_by("id").first()
