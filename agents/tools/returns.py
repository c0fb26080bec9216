"""Returning delivered items."""

from agents.tools.orders import ItemIds, OrderId, PaymentMethodId
from agents.tools.registry import Arguments, Tool
from ledger.access.client import Shop
from ledger.books.plans import Plan
from ledger.shop.returns import plan_return


class ReturnItems(Arguments):
    order_id: OrderId
    item_ids: ItemIds
    payment_method_id: PaymentMethodId


def _plan(shop: Shop, args: ReturnItems) -> Plan:
    return plan_return(shop.order_to_change(args.order_id), args.item_ids, args.payment_method_id)


TOOLS = (
    Tool(
        name="return_items",
        description=(
            "Register the return of items of a delivered order. Their price goes to a method that paid for the order, "
            "or to a gift card of the customer's, once the goods are back. Only once for an order: collect all items."
        ),
        arguments=ReturnItems,
        plan=_plan,
        moves_money=True,
    ),
)
