"""What the payment provider in force can never move is refused before anything is asked, naming what it can.

Without a provider the shop pays by itself, and its own rules stand alone.
"""

from ledger.books.plans import Movement, Plan
from ledger.errors import Refused
from ledger.models import Payout, Transfer
from ledger.providers import connector
from ledger.providers.amounts import NotPayable, to_provider
from ledger.providers.connector import Connector


def require_payable(plan: Plan) -> None:
    """Under the customer's scope. Raises Refused for an amount that the provider cannot move, a charge to a method that
    has never paid through it, and a refund to one that never paid on this order."""
    if (provider := connector()) is None:
        return
    for movement in (*plan.movements, *plan.promised):
        if movement.method_kind == "gift_card":  # the shop's own money
            continue
        _require_amount(plan, movement)
        usable = _usable(plan, movement, provider)
        if movement.payment_method_id not in usable:
            raise _cannot(plan, movement, sorted(usable))


def _require_amount(plan: Plan, movement: Movement) -> None:
    try:
        to_provider(movement.amount_minor, plan.currency)
    except NotPayable as exc:
        message = (
            f"Nothing was changed: {exc} If {plan.tool} takes an amount, call it again with one of these; otherwise "
        )
        raise Refused("amount_not_payable", f"{message}offer hand_off_to_human.") from exc


def _usable(plan: Plan, movement: Movement, provider: Connector) -> set[str]:
    """Methods with a payment that the provider knows: for a refund of this order, for a charge of any order of the
    customer's, because their cards are kept there."""
    paid = Transfer.objects.filter(kind=Transfer.Kind.CAPTURE, payment_method__isnull=False)
    paid = paid.exclude(payout__state__in=[Payout.State.FAILED, Payout.State.RECALLED]).exclude(
        payment_method__kind="gift_card"
    )
    if movement.kind == "refund":
        paid = paid.filter(order_id=plan.order_id)
    payments = paid.values_list("payment_method_id", "pk", "payout__provider_reference", "provider_reference")
    return {str(method) for method, pk, charged, paid_as in payments if provider.source_of(pk, charged or paid_as)}


def _cannot(plan: Plan, movement: Movement, usable: list[str]) -> Refused:
    why = "has not paid on this order, so nothing can go back to it" if movement.kind == "refund" else (
        "has never paid in this shop, so it cannot be charged without the customer being there"
    )  # fmt: skip
    others = ", ".join(usable) or "none of the cards and accounts"
    return Refused(
        "payment_method",
        f"Nothing was changed: the {movement.label} {why}. The payment provider can use: {others}; a gift card of the "
        f"customer's in {plan.currency} works too. Ask the customer which, and call {plan.tool} again with it.",
    )
