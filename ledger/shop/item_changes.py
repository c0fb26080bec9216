"""Changing items of an order that is not sent, once: the difference moves at once."""

from collections.abc import Sequence

from ledger.books.plans import Plan, listed
from ledger.errors import Refused
from ledger.shop.exchanges import due
from ledger.shop.items import Catalogue, Swap, difference_minor, replaced, swaps
from ledger.shop.methods import own_method, require_cover, require_refundable
from ledger.shop.orders import OrderState
from ledger.shop.statuses import require_pending


def plan_item_changes(
    state: OrderState, item_ids: Sequence[str], new_item_ids: Sequence[str], payment_method_id: str,
    catalogue: Catalogue,
) -> Plan:  # fmt: skip
    """Charge or refund the difference on the named method; afterwards the order takes no further change."""
    require_pending(state, "changed")
    pairs = swaps(state, item_ids, new_item_ids, catalogue, "change_order_items")
    _require_new(pairs)
    method = own_method(state, payment_method_id, "change_order_items")
    difference = difference_minor(pairs)
    require_cover(state, method, difference, "change_order_items")
    if difference < 0:
        require_refundable(state, -difference)
    movements = due(state, payment_method_id, difference)
    return Plan(
        tool="change_order_items",
        customer_id=state.customer_id,
        order_id=state.order_id,
        currency=state.currency,
        amount_minor=abs(difference),
        summary=_told("Change", state, pairs, listed(movements, state.currency)),
        done=_told("Changed", state, pairs, listed(movements, state.currency)) + ".",
        status_before=state.status,
        order_value_minor=state.value_minor,
        movements=movements,
        order_before={"status": state.status, "items": state.items},
        order_changes={"status": "pending_items_changed", "items": replaced(state, pairs)},
    )


def _require_new(pairs: Sequence[Swap]) -> None:
    same = [pair.old["item_id"] for pair in pairs if pair.old["item_id"] == pair.new["item_id"]]
    if same:
        raise Refused(
            "variants",
            f"The new item for {', '.join(same)} is the same as the old one. Call change_order_items again, once, with "
            "only the items that change, each with another variant.",
        )


def _told(deed: str, state: OrderState, pairs: Sequence[Swap], moved: str) -> str:
    money = f", {moved}" if moved else " at no difference in price"
    return f"{deed} {len(pairs)} of {len(state.items)} items of order {state.order_id}{money}"
