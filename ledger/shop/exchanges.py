"""Exchanging delivered items: the difference is promised, and moves when the goods are back."""

from collections.abc import Sequence

from base.money import show
from ledger.books.plans import Movement, Plan
from ledger.shop.items import Catalogue, difference_minor, swaps
from ledger.shop.methods import own_method, require_cover, require_refundable
from ledger.shop.orders import OrderState
from ledger.shop.statuses import require_delivered


def plan_exchange(
    state: OrderState, item_ids: Sequence[str], new_item_ids: Sequence[str], payment_method_id: str,
    catalogue: Catalogue,
) -> Plan:  # fmt: skip
    """Store the signed difference; money that will go back is held, a gift card that will pay is reserved."""
    require_delivered(state, "exchanged")
    pairs = swaps(state, item_ids, new_item_ids, catalogue, "exchange_items")
    method = own_method(state, payment_method_id, "exchange_items")
    difference = difference_minor(pairs)
    require_cover(state, method, difference, "exchange_items")
    if difference < 0:
        require_refundable(state, -difference)
    words = _difference(difference, state.currency, method.label)
    return Plan(
        tool="exchange_items",
        customer_id=state.customer_id,
        order_id=state.order_id,
        currency=state.currency,
        amount_minor=abs(difference),
        summary=f"Exchange {len(pairs)} of {len(state.items)} items of order {state.order_id}, {words}",
        done=f"Registered the exchange of order {state.order_id}: {words} once the goods are back with us.",
        status_before=state.status,
        order_value_minor=state.value_minor,
        promised=due(state, payment_method_id, difference),
        order_before={"status": state.status},
        order_changes={
            "status": "exchange_requested",
            "exchanging": {
                "item_ids": list(item_ids),
                "new_item_ids": list(new_item_ids),
                "payment_method_id": payment_method_id,
                "price_difference_minor": difference,
            },
        },
    )


def due(state: OrderState, payment_method_id: str, difference: int) -> tuple[Movement, ...]:
    """The movement that a price difference makes: a capture above zero, a refund below, none at zero."""
    if difference == 0:
        return ()
    return (state.movement("capture" if difference > 0 else "refund", payment_method_id, abs(difference)),)


def _difference(difference: int, currency: str, label: str) -> str:
    if difference == 0:
        return "at no difference in price"
    return f"{show(abs(difference), currency)} {'from' if difference > 0 else 'to'} {label}"
