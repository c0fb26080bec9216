"""Exchanging delivered items for other variants."""

from agents.tools.orders import ItemIds, OrderId, PaymentMethodId
from agents.tools.registry import Arguments, Tool
from ledger.access.client import Shop
from ledger.books.plans import Plan
from ledger.shop.exchanges import plan_exchange


class ExchangeItems(Arguments):
    order_id: OrderId
    item_ids: ItemIds
    new_item_ids: ItemIds
    payment_method_id: PaymentMethodId


def _plan(shop: Shop, args: ExchangeItems) -> Plan:
    state = shop.order_to_change(args.order_id)
    return plan_exchange(state, args.item_ids, args.new_item_ids, args.payment_method_id, shop.catalogue(state))


TOOLS = (
    Tool(
        name="exchange_items",
        description=(
            "Register the exchange of items of a delivered order for available variants of the same products, paired "
            "by position. The payment method pays or receives the difference once the goods are back. Only once for "
            "an order: collect all items."
        ),
        arguments=ExchangeItems,
        plan=_plan,
        moves_money=True,
    ),
)
