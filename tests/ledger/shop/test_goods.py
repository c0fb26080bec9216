"""What returns and exchanges hold ends with the goods: posted and moved, or voided, once."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.models import Message
from audit.models import Event
from ledger.files.export import current_customer, current_order
from ledger.models import Account, Hold, Order, Transfer
from tests.conftest import Propose
from tests.support.cast import ADDRESS, seen_by_staff

LINE = {"type": "order", "customer_id": "maya", "currency": "GBP", "address": ADDRESS, "tracking": []}


def _order(order_id: str) -> dict[str, Any]:
    return seen_by_staff(lambda: current_order(order_id))


def _payments(order_id: str) -> list[tuple[str, int, str]]:
    return [(p["kind"], p["amount_minor"], p["payment_method_id"]) for p in _order(order_id)["payments"]]


def _holds() -> list[str]:
    return seen_by_staff(lambda: list(Hold.objects.order_by("id").values_list("state", flat=True)))


def _gift_card() -> tuple[int, int]:
    def look() -> tuple[int, int]:
        card = Account.objects.get(payment_method_id="maya-gift-0001")
        return card.balance_minor, card.held_minor

    return seen_by_staff(look)


def _run(command: str, order_id: str) -> str:
    said = io.StringIO()
    call_command(command, order_id, stdout=said)
    return said.getvalue()


@pytest.fixture
def returned(propose: Propose) -> str:
    """A £25.00 return of Maya's order that is registered."""
    outcome = propose("return_items", order_id="4471", item_ids=["4471-2"], payment_method_id="maya-visa")
    assert outcome.decision == "executed", outcome.text
    return outcome.reference


def test_a_return_is_paid_when_the_goods_are_back_and_once(returned: str) -> None:
    assert (_payments("4471"), _holds()) == ([("capture", 12_400, "maya-visa")], ["pending"])
    said = _run("goods_received", "4471")
    assert "£25.00 to Visa ••4242" in said
    assert _payments("4471")[1:] == [("refund", 2_500, "maya-visa")]
    assert (_holds(), _order("4471")["status"]) == (["posted"], "delivered")
    assert _order("4471")["return"]["item_ids"] == ["4471-2"]
    with pytest.raises(CommandError, match="no open return or exchange"):
        _run("goods_received", "4471")
    with pytest.raises(CommandError):
        _run("goods_abandoned", "4471")
    assert len(_payments("4471")) == 2


def test_the_customer_is_told_where_they_asked(returned: str) -> None:
    said = _run("goods_received", "4471").strip()
    notice = Message.objects.filter(author="notice").latest("id")
    assert notice.text == said
    event = Event.objects.get(tool="goods_received")
    assert (event.actor_kind, event.amount_minor, event.order_id) == ("system", 2_500, "4471")
    assert event.reference in said


def test_a_return_that_is_given_up_leaves_the_order_as_it_was(returned: str) -> None:
    _run("goods_abandoned", "4471")
    order = _order("4471")
    assert (_holds(), order["status"], "return" in order) == (["voided"], "delivered", False)
    assert _payments("4471") == [("capture", 12_400, "maya-visa")]


def test_after_goods_came_back_a_person_decides_what_follows(propose: Propose, returned: str) -> None:
    _run("goods_received", "4471")
    again = propose("return_items", order_id="4471", item_ids=["4471-1"], payment_method_id="maya-visa")
    assert (again.rule, "came back already" in again.text) == ("status", True)


@pytest.fixture
def mugs(shop: None) -> None:
    """The mug comes in a dearer and a cheaper variant too, and Maya's order 4471 holds two."""

    def fill() -> None:
        from ledger.models import Product

        variants = [("mug-blue", 9_900), ("mug-gold", 10_400), ("mug-tin", 9_400)]
        Product.objects.filter(pk="mug").update(
            items=[{"item_id": i, "options": {}, "available": True, "price_minor": p} for i, p in variants]
        )

    seen_by_staff(fill)


@pytest.mark.parametrize(
    ("new", "method", "reserved", "paid", "card"),
    [
        ("mug-gold", "maya-gift-0001", (3_000, 500), [("capture", 500, "maya-gift-0001")], (2_500, 0)),
        ("mug-gold", "maya-visa", (3_000, 0), [("capture", 500, "maya-visa")], (3_000, 0)),
        ("mug-tin", "maya-gift-0001", (3_000, 0), [("refund", 500, "maya-gift-0001")], (3_500, 0)),
        ("mug-blue", "maya-visa", (3_000, 0), [], (3_000, 0)),
    ],
)
def test_an_exchange_settles_its_difference(
    propose: Propose, mugs: None, new: str, method: str, reserved: Any, paid: Any, card: Any
) -> None:
    outcome = propose(
        "exchange_items", order_id="4471", item_ids=["4471-1"], new_item_ids=[new], payment_method_id=method
    )
    assert outcome.decision == "executed", outcome.text
    assert _gift_card() == reserved
    _run("goods_received", "4471")
    assert (_payments("4471")[1:], _gift_card()) == (paid, card)
    assert _order("4471")["exchange"]["new_item_ids"] == [new]


def test_what_the_shop_itself_brought_ends_the_same_way(shop: None) -> None:
    from ledger.files.importing import import_shop

    item = {"item_id": "i1", "product_id": "mug", "name": "Mug", "options": {}, "price_minor": 700}
    payment = {"kind": "capture", "amount_minor": 700, "payment_method_id": "maya-visa"}
    back = {"item_ids": ["i1"], "payment_method_id": "maya-visa"}
    line = LINE | {
        "order_id": "9",
        "items": [item],
        "payments": [payment],
        "status": "return_requested",
        "return": back,
    }
    import_shop(io.BytesIO(json.dumps(line).encode()), lambda done, total: None)
    _run("goods_received", "9")
    assert _payments("9")[1:] == [("refund", 700, "maya-visa")]
    assert seen_by_staff(lambda: Transfer.objects.get(order_id="9", kind="refund").entry.tool) == "goods_received"


@pytest.mark.parametrize("command", ["goods_received", "goods_abandoned"])
def test_an_order_without_a_promise_is_named(shop: None, command: str) -> None:
    with pytest.raises(CommandError, match="There is no order '0'"):
        _run(command, "0")
    with pytest.raises(CommandError, match="Order '4473' is pending"):
        _run(command, "4473")
    assert seen_by_staff(lambda: Order.objects.filter(touched_at__isnull=False).count()) == 0


def test_the_gift_card_shows_in_the_customers_line(propose: Propose, mugs: None) -> None:
    propose(
        "exchange_items", order_id="4471", item_ids=["4471-1"], new_item_ids=["mug-gold"],
        payment_method_id="maya-gift-0001",
    )  # fmt: skip
    _run("goods_received", "4471")
    methods = seen_by_staff(lambda: current_customer("maya"))["payment_methods"]
    assert methods[1]["balance_minor"] == 2_500
