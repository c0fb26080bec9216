"""Changing items of an order that is not sent."""

from agents.tools.orders import ItemIds, OrderId, PaymentMethodId
from agents.tools.registry import Arguments, Tool
from ledger.access.client import Shop
from ledger.books.plans import Plan
from ledger.shop.item_changes import plan_item_changes


class ChangeOrderItems(Arguments):
    order_id: OrderId
    item_ids: ItemIds
    new_item_ids: ItemIds
    payment_method_id: PaymentMethodId


def _plan(shop: Shop, args: ChangeOrderItems) -> Plan:
    state = shop.order_to_change(args.order_id)
    return plan_item_changes(state, args.item_ids, args.new_item_ids, args.payment_method_id, shop.catalogue(state))


TOOLS = (
    Tool(
        name="change_order_items",
        description=(
            "Replace items of a pending order by available variants of the same products, paired by position. The "
            "payment method pays or receives the difference at once. Only once for an order, and afterwards it can "
            "no longer be changed or cancelled: collect all items."
        ),
        arguments=ChangeOrderItems,
        plan=_plan,
        moves_money=True,
    ),
)
