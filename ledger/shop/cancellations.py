"""Cancelling an order that is not sent: all that was paid goes back to where it came from."""

from ledger.books.plans import Plan, listed
from ledger.shop.methods import require_refundable
from ledger.shop.orders import OrderState
from ledger.shop.statuses import require_pending


def plan_cancellation(state: OrderState, reason: str) -> Plan:
    """One refund of its net to each method that has one, in order of first capture."""
    require_pending(state, "cancelled")
    movements = tuple(state.movement("refund", method, net) for method, net in state.net_by_method().items() if net > 0)
    amount = sum(movement.amount_minor for movement in movements)
    require_refundable(state, amount)
    words = listed(movements, state.currency)
    return Plan(
        tool="cancel_order",
        customer_id=state.customer_id,
        order_id=state.order_id,
        currency=state.currency,
        amount_minor=amount,
        summary=f"Cancel order {state.order_id}" + (f" and refund {words}" if words else ""),
        done=f"Cancelled order {state.order_id}" + (f" and refunded {words}." if words else "."),
        status_before=state.status,
        order_value_minor=state.value_minor,
        movements=movements,
        order_before={"status": state.status},
        order_changes={"status": "cancelled", "cancel_reason": reason},
    )
