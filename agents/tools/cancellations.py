"""Cancelling an order that is not sent."""

from typing import Literal

from pydantic import Field

from agents.tools.orders import OrderId
from agents.tools.registry import Arguments, Tool
from ledger.access.client import Shop
from ledger.books.plans import Plan
from ledger.shop.cancellations import plan_cancellation


class CancelOrder(Arguments):
    order_id: OrderId
    reason: Literal["no_longer_needed", "ordered_by_mistake"] = Field(description="Why, as the customer says.")


def _plan(shop: Shop, args: CancelOrder) -> Plan:
    return plan_cancellation(shop.order_to_change(args.order_id), args.reason)


TOOLS = (
    Tool(
        name="cancel_order",
        description=(
            "Cancel a whole order that is pending, and refund what was paid to the methods that paid. It cannot be "
            "undone: have the customer confirm the order and the reason."
        ),
        arguments=CancelOrder,
        plan=_plan,
        moves_money=True,
    ),
)
