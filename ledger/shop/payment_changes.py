"""Letting another method pay for an order that is not sent: the new one is charged, then the old one refunded."""

from base.money import show
from ledger.books.plans import Plan
from ledger.errors import Refused
from ledger.shop.methods import named, own_method, require_cover
from ledger.shop.orders import Json, Method, OrderState
from ledger.shop.statuses import require_pending

TOOL = "change_order_payment"


def plan_payment_change(state: OrderState, payment_method_id: str) -> Plan:
    """Move the whole payment; only where the order has one payment, so it cannot be repeated."""
    require_pending(state, "changed")
    paid = _only_payment(state)
    method = own_method(state, payment_method_id, TOOL)
    old = _old_method(state, paid["payment_method_id"], payment_method_id)
    amount = int(paid["amount_minor"])
    require_cover(state, method, amount, TOOL)
    words = f"{show(amount, state.currency)} from {method.label} instead of {old.label}"
    return Plan(
        tool=TOOL,
        customer_id=state.customer_id,
        order_id=state.order_id,
        currency=state.currency,
        amount_minor=2 * amount,
        summary=f"Let order {state.order_id} be paid with {words}",
        done=f"Changed the payment of order {state.order_id}: {words}.",
        status_before=state.status,
        order_value_minor=state.value_minor,
        movements=(
            state.movement("capture", payment_method_id, amount),
            state.movement("refund", old.payment_method_id, amount),
        ),
    )


def _only_payment(state: OrderState) -> Json:
    if len(state.payments) != 1 or state.payments[0]["kind"] != "capture":
        raise Refused(
            "status",
            f"Order {state.order_id} has {len(state.payments)} payments, and only one single payment can be moved to "
            "another method. Do not call change_order_payment for it again; tell the customer.",
        )
    return state.payments[0]


def _old_method(state: OrderState, old_id: str, new_id: str) -> Method:
    if old_id == new_id:
        raise Refused(
            "payment_method",
            f"Order {state.order_id} is paid with {new_id} already. Ask the customer for another method, and call "
            f"{TOOL} again with one of: {named(state)}.",
        )
    return state.methods[old_id]
