"""Looking up one's own orders."""

from typing import Annotated, Any, Literal

from pydantic import Field

from agents.tools.registry import Arguments, Tool
from ledger.access.client import Lookups
from ledger.shop.orders import show_order

OrderId = Annotated[
    str,
    Field(min_length=1, max_length=200, description="The order's number as the customer's e-mail shows it."),
]
ItemIds = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200)]],
    Field(min_length=1, max_length=100, description="item_id of each item; one that was bought twice may stand twice."),
]
PaymentMethodId = Annotated[
    str, Field(min_length=1, max_length=200, description="One of the customer's own, as get_my_profile has it.")
]
Status = Literal[
    "pending", "pending_items_changed", "processed", "delivered", "cancelled", "return_requested",
    "exchange_requested",
]  # fmt: skip


class ListMyOrders(Arguments):
    status: Status | None = Field(default=None, description="Only orders with this status.")
    cursor: str | None = Field(default=None, description="next_cursor of an earlier result.")


class GetOrder(Arguments):
    order_id: OrderId


def _list(shop: Lookups, args: ListMyOrders) -> dict[str, Any]:
    return shop.orders(args.status, args.cursor)


def _get(shop: Lookups, args: GetOrder) -> dict[str, Any]:
    return show_order(shop.order(args.order_id))


TOOLS = (
    Tool(
        name="list_my_orders",
        description="The customer's own orders, newest first, with status, total and what can still be refunded.",
        arguments=ListMyOrders,
        read=_list,
    ),
    Tool(
        name="get_order",
        description="One of the customer's own orders: items, prices, payments, address, tracking.",
        arguments=GetOrder,
        read=_get,
        untrusted=("note",),
    ),
)
