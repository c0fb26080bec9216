"""Returning delivered items: the refund is promised and held, and leaves when the goods are back."""

from collections.abc import Sequence

from base.money import show
from ledger.books.plans import Plan
from ledger.errors import Refused
from ledger.shop.items import positions
from ledger.shop.methods import own_method
from ledger.shop.orders import OrderState
from ledger.shop.statuses import require_delivered


def plan_return(state: OrderState, item_ids: Sequence[str], payment_method_id: str) -> Plan:
    """Hold the items' price, at most what is refundable, for a method that paid or an own gift card."""
    require_delivered(state, "returned")
    worth = sum(int(state.items[place]["price_minor"]) for place in positions(state, item_ids))
    method = own_method(state, payment_method_id, "return_items")
    if method.kind != "gift_card" and state.net_by_method().get(payment_method_id, 0) <= 0:
        raise Refused("payment_method", _did_not_pay(state, method.label))
    amount = min(worth, state.refundable_minor)
    if amount <= 0:
        raise Refused(
            "balance",
            f"Nothing can be refunded for these items of order {state.order_id}: what was paid is refunded or waiting. "
            "Do not call return_items for them again; tell the customer, and offer hand_off_to_human.",
        )
    words = f"{show(amount, state.currency)} to {method.label}"
    return Plan(
        tool="return_items",
        customer_id=state.customer_id,
        order_id=state.order_id,
        currency=state.currency,
        amount_minor=amount,
        summary=f"Take back {len(item_ids)} of {len(state.items)} items of order {state.order_id} for {words}",
        done=f"Registered the return of order {state.order_id}: {words} once the goods are back with us.",
        status_before=state.status,
        order_value_minor=state.value_minor,
        promised=(state.movement("refund", payment_method_id, amount),),
        order_before={"status": state.status},
        order_changes={
            "status": "return_requested",
            "returning": {"item_ids": list(item_ids), "payment_method_id": payment_method_id},
        },
    )


def _did_not_pay(state: OrderState, label: str) -> str:
    net = state.net_by_method()
    fit = [
        f"{m.payment_method_id} ({m.label})"
        for m in state.methods.values()
        if net.get(m.payment_method_id, 0) > 0 or (m.kind == "gift_card" and m.currency == state.currency)
    ]
    return (
        f"{label} did not pay for order {state.order_id}, so a return cannot go there. Ask the customer, and call "
        f"return_items again with one of: {', '.join(fit) or 'none fits; offer hand_off_to_human'}."
    )
