"""Where an order goes, and the address of the profile. An address is replaced whole."""

import unicodedata
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from agents.tools.orders import OrderId
from agents.tools.registry import Arguments, Tool
from ledger.access.client import Shop
from ledger.books.plans import Plan
from ledger.shop.addresses import plan_order_address


def _one_line(text: str) -> str:
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in text):
        raise ValueError("must be one line without control characters")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Line = Annotated[str, Field(max_length=200), AfterValidator(_one_line)]
Filled = Annotated[Line, AfterValidator(_not_blank)]


class ChangeMyAddress(Arguments):
    line1: Filled = Field(description="Street and number.")
    line2: Line = Field(description='Flat, floor or the like; "" where there is none.')
    city: Filled
    region: Filled = Field(description="State, county or the like.")
    postal_code: Filled
    country: Filled

    def address(self) -> dict[str, Any]:
        """The address alone, as the shop keeps it."""
        return self.model_dump(exclude={"order_id"})


class ChangeOrderAddress(ChangeMyAddress):
    order_id: OrderId


def _plan_order(shop: Shop, args: ChangeOrderAddress) -> Plan:
    return plan_order_address(shop.order_to_change(args.order_id), args.address())


def _plan_mine(shop: Shop, args: ChangeMyAddress) -> Plan:
    return shop.plan_address(args.address())


TOOLS = (
    Tool(
        name="change_order_address",
        description="Send a pending order to another address, replaced whole. The profile keeps its own.",
        arguments=ChangeOrderAddress,
        plan=_plan_order,
    ),
    Tool(
        name="change_my_address",
        description="Replace the address of the customer's profile whole. Orders keep the address that they have.",
        arguments=ChangeMyAddress,
        plan=_plan_mine,
    ),
)
