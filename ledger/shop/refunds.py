"""Refunds of an order's captured money to the methods that paid."""

from collections import Counter
from collections.abc import Sequence

from base.money import show
from ledger.books.plans import Movement, Plan, listed
from ledger.errors import Refused
from ledger.shop.orders import OrderState

REFUSED_STATUS = ("pending", "cancelled")


def plan_refund(state: OrderState, amount_minor: int, item_ids: Sequence[str] | None) -> Plan:
    """Refund `amount_minor` to methods with a positive net, first capture first; never above the refundable."""
    if state.status in REFUSED_STATUS:
        raise Refused(
            "status",
            f"Order {state.order_id} is {state.status}, so it cannot be refunded. "
            + ("Offer cancel_order instead, which returns what was paid." if state.status == "pending" else
               "What was paid went back when it was cancelled."),
        )  # fmt: skip
    if item_ids is not None:
        require_items(state, item_ids)
    if amount_minor > state.refundable_minor:
        raise Refused("balance", _too_much(state))
    movements = _spread(state, amount_minor)
    words = listed(movements, state.currency)
    return Plan(
        tool="issue_refund",
        customer_id=state.customer_id,
        order_id=state.order_id,
        currency=state.currency,
        amount_minor=amount_minor,
        summary=f"Refund {words} for order {state.order_id}",
        done=f"Refunded {words}.",
        status_before=state.status,
        order_value_minor=state.value_minor,
        movements=movements,
    )


def require_items(state: OrderState, item_ids: Sequence[str]) -> None:
    """The items must be a non-empty multiset within the order's own."""
    own = Counter(item["item_id"] for item in state.items)
    if not item_ids or Counter(item_ids) - own:
        raise Refused(
            "items",
            f"item_ids must name items of order {state.order_id}, each as often as it was bought: "
            f"{', '.join(sorted(own.elements()))}. Call again with those, or call get_order to see them.",
        )


def _too_much(state: OrderState) -> str:
    left = state.refundable_minor
    if left <= 0:
        return (
            f"Nothing of order {state.order_id} can be refunded: {show(state.captured_minor, state.currency)} was "
            f"paid and all of it is refunded or waiting. Do not call issue_refund for it again; tell the customer."
        )
    return (
        f"At most {show(left, state.currency)} of order {state.order_id} can still be refunded. Ask the customer, "
        f"or call issue_refund with amount_minor of at most {left}."
    )


def _spread(state: OrderState, amount_minor: int) -> tuple[Movement, ...]:
    movements: list[Movement] = []
    for method, net in state.net_by_method().items():
        part = min(net, amount_minor)
        if part > 0:
            movements.append(state.movement("refund", method, part))
            amount_minor -= part
    return tuple(movements)
