"""Refunds to the methods that paid."""

from typing import Annotated, Literal

from pydantic import Field

from agents.tools.orders import OrderId
from agents.tools.registry import Arguments, Tool
from base.money import MAX_MINOR
from ledger.access.client import Shop
from ledger.books.plans import Plan
from ledger.shop.refunds import plan_refund

AmountMinor = Annotated[
    int, Field(gt=0, le=MAX_MINOR, description="In the currency's minor unit: £12.00 is 1200, ¥500 is 500.")
]


class IssueRefund(Arguments):
    order_id: OrderId
    amount_minor: AmountMinor
    reason: Literal["damaged", "late", "wrong_item", "other"] = Field(description="Why, as the customer says.")
    item_ids: list[str] | None = Field(default=None, max_length=100, description="Which items it is for, if any.")


def _plan(shop: Shop, args: IssueRefund) -> Plan:
    return plan_refund(shop.order_to_change(args.order_id), args.amount_minor, args.item_ids)


TOOLS = (
    Tool(
        name="issue_refund",
        description=(
            "Refund part or all of what was paid for a delivered order, to the methods that paid. Small refunds are "
            "executed at once; others are queued for a person, and the result says so."
        ),
        arguments=IssueRefund,
        plan=_plan,
        moves_money=True,
    ),
)
