"""The shop's format: one JSON object per line, checked strictly, with sentences for whoever wrote the line.

Amounts are integers in minor units. A key that does not apply is absent, never null.
"""

import datetime as dt
import re
from collections import Counter
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from base.emails import checked_email
from base.money import MAX_MINOR
from base.phones import checked_phone

Json = dict[str, Any]


# What Postgres cannot keep: NUL, and half of a surrogate pair. Ids hold no control character either.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff]")


def _storable(text: str) -> str:
    if _UNSTORABLE.search(text):
        raise ValueError("must not hold NUL or half a surrogate pair")
    return text


def _plain(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("must not hold control characters")
    return text


def _currency(text: str) -> str:
    if not (len(text) == 3 and text.isascii() and text.isalpha() and text.isupper()):
        raise ValueError(f"must be three capital letters, got {text[:20]!r}")
    return text


def _moment(text: str) -> str:
    try:
        dt.datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError("must be a date and time like 2026-11-03T09:30:00Z") from error
    return text


Id = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_plain)]
Text = Annotated[str, AfterValidator(_storable)]
Short = Annotated[Text, Field(max_length=200)]
Email = Annotated[str, Field(max_length=320), AfterValidator(_plain), AfterValidator(checked_email)]
Phone = Annotated[str, Field(max_length=40), AfterValidator(_plain), AfterValidator(checked_phone)]
Moment = Annotated[str, Field(max_length=40), AfterValidator(_moment)]
Currency = Annotated[str, AfterValidator(_currency)]
Minor = Annotated[int, Field(ge=0, le=MAX_MINOR)]
SomeMinor = Annotated[int, Field(ge=1, le=MAX_MINOR)]
Difference = Annotated[int, Field(ge=-MAX_MINOR, le=MAX_MINOR)]
Status = Literal[
    "pending", "pending_items_changed", "processed", "delivered", "cancelled", "return_requested", "exchange_requested"
]  # fmt: skip


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Address(_Strict):
    line1: Text
    line2: Text
    city: Text
    region: Text
    postal_code: Text
    country: Text


class MethodLine(_Strict):
    payment_method_id: Id
    kind: Literal["card", "paypal", "gift_card"]
    brand: Annotated[Text, Field(max_length=60)] | None = None
    last4: Annotated[Text, Field(max_length=4)] | None = None
    currency: Currency | None = None
    balance_minor: Minor | None = None

    @model_validator(mode="after")
    def _balance(self) -> Self:
        if self.kind == "gift_card" and (self.currency is None or self.balance_minor is None):
            raise ValueError("a gift card needs currency and balance_minor")
        if self.kind != "gift_card" and self.balance_minor is not None:
            raise ValueError("balance_minor is for gift cards only")
        return self


class CustomerLine(_Strict):
    type: Literal["customer"]
    customer_id: Id
    name: Short
    email: Email
    phone: Phone | None = None
    address: Address
    payment_methods: list[MethodLine]

    @property
    def id(self) -> str:
        return self.customer_id


class Variant(_Strict):
    item_id: Id
    options: dict[Short, Short]
    available: bool
    price_minor: Minor


class ProductLine(_Strict):
    type: Literal["product"]
    product_id: Id
    name: Short
    description: Text | None = None
    items: list[Variant]

    @property
    def id(self) -> str:
        return self.product_id

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        if len({item.item_id for item in self.items}) < len(self.items):
            raise ValueError("an item_id stands twice in items")
        return self


class ItemLine(_Strict):
    item_id: Id
    product_id: Id
    name: Short
    options: dict[Short, Short]
    price_minor: Minor


class PaymentLine(_Strict):
    kind: Literal["capture", "refund"]
    amount_minor: SomeMinor
    payment_method_id: Id
    provider_reference: Short | None = None


class ReturnLine(_Strict):
    item_ids: Annotated[list[Id], Field(min_length=1)]
    payment_method_id: Id


class ExchangeLine(ReturnLine):
    new_item_ids: list[Id]
    price_difference_minor: Difference


class OrderLine(_Strict):
    type: Literal["order"]
    order_id: Id
    customer_id: Id
    currency: Currency
    status: Status
    address: Address
    items: list[ItemLine]
    tracking: list[Short]
    payments: list[PaymentLine]
    note: Text | None = None
    placed_at: Moment | None = None
    delivered_at: Moment | None = None
    cancel_reason: Short | None = None
    returning: ReturnLine | None = Field(default=None, alias="return")
    exchanging: ExchangeLine | None = Field(default=None, alias="exchange")

    @property
    def id(self) -> str:
        return self.order_id

    @property
    def promise(self) -> ReturnLine | None:
        """What the shop owes or is owed once the goods are back, while that is open."""
        open_ = {"return_requested": self.returning, "exchange_requested": self.exchanging}
        return open_.get(self.status)

    @model_validator(mode="after")
    def _promised(self) -> Self:
        if self.status in ("return_requested", "exchange_requested") and self.promise is None:
            raise ValueError(f"an order that is {self.status} needs the key {self.status.partition('_')[0]}")
        for name, wish in (("return", self.returning), ("exchange", self.exchanging)):
            if wish and not _within(wish.item_ids, [item.item_id for item in self.items]):
                raise ValueError(f"{name}.item_ids names items that the order does not hold")
        if self.exchanging and len(self.exchanging.new_item_ids) != len(self.exchanging.item_ids):
            raise ValueError("exchange.new_item_ids must be as many as item_ids")
        return self


def _within(part: list[str], whole: list[str]) -> bool:
    return not Counter(part) - Counter(whole)


Model = CustomerLine | ProductLine | OrderLine
KINDS: dict[str, type[Model]] = {"customer": CustomerLine, "product": ProductLine, "order": OrderLine}
