"""What each write may do and what it is refused for: rows of an order and arguments, and what follows."""

from collections.abc import Callable
from typing import Any

import pytest

from ledger.books.plans import Plan
from ledger.errors import Refused
from ledger.models import Order
from ledger.shop.addresses import plan_my_address, plan_order_address
from ledger.shop.cancellations import plan_cancellation
from ledger.shop.exchanges import plan_exchange
from ledger.shop.item_changes import plan_item_changes
from ledger.shop.orders import OrderState
from ledger.shop.payment_changes import plan_payment_change
from ledger.shop.returns import plan_return
from tests.ledger.shop.states import CATALOGUE, capture, line, refund, state

ADDRESS = {"line1": "2 Quay", "line2": "", "city": "Bristol", "region": "B", "postal_code": "BS1", "country": "GB"}
Planner = Callable[[OrderState], Plan]


def cancel(order: OrderState) -> Plan:
    return plan_cancellation(order, "no_longer_needed")


def send_back(*item_ids: str, to: str = "card") -> Planner:
    return lambda order: plan_return(order, item_ids, to)


def exchange(old: list[str], new: list[str], method: str = "card") -> Planner:
    return lambda order: plan_exchange(order, old, new, method, CATALOGUE)


def change(old: list[str], new: list[str], method: str = "card") -> Planner:
    return lambda order: plan_item_changes(order, old, new, method, CATALOGUE)


def pay_with(method: str) -> Planner:
    return lambda order: plan_payment_change(order, method)


def send_to(order: OrderState) -> Plan:
    return plan_order_address(order, ADDRESS)


def moves(plan: Plan) -> list[tuple[str, int, str]]:
    return [(m.kind, m.amount_minor, m.payment_method_id) for m in (*plan.movements, *plan.promised)]


WRITES: list[tuple[Planner, str]] = [
    (cancel, "pending"),
    (change(["mug-1"], ["mug-2"]), "pending"),
    (pay_with("paypal"), "pending"),
    (send_to, "pending"),
    (send_back("mug-1"), "delivered"),
    (exchange(["mug-1"], ["mug-2"]), "delivered"),
]


@pytest.mark.parametrize("status", Order.Status.values)
@pytest.mark.parametrize(("write", "needed"), WRITES)
def test_each_write_has_one_status(write: Planner, needed: str, status: str) -> None:
    if status == needed:
        assert write(state(status)).status_before == needed
        return
    with pytest.raises(Refused) as refusal:
        write(state(status))
    assert refusal.value.rule == "status"
    assert status in refusal.value.message
    assert needed in refusal.value.message


MOVED: list[tuple[Planner, OrderState, int, list[tuple[str, int, str]]]] = [
    (cancel, state(), 7_000, [("refund", 7_000, "card")]),
    (
        cancel,
        state("pending", capture(3_000, "gift"), capture(4_000), refund(500)),
        6_500,
        [("refund", 3_000, "gift"), ("refund", 3_500, "card")],
    ),
    (cancel, state("pending", capture(7_000), refund(7_000)), 0, []),
    (send_back("mug-1"), state("delivered"), 1_000, [("refund", 1_000, "card")]),
    (send_back("mug-1", "mug-1", to="gift"), state("delivered"), 2_000, [("refund", 2_000, "gift")]),
    (send_back("lamp-1"), state("delivered", capture(7_000), refund(4_000)), 3_000, [("refund", 3_000, "card")]),
    (send_back("lamp-1"), state("delivered", held_minor=6_900), 100, [("refund", 100, "card")]),
    (exchange(["mug-1"], ["mug-2"], "gift"), state("delivered"), 400, [("capture", 400, "gift")]),
    (exchange(["mug-1"], ["mug-4"], "paypal"), state("delivered"), 400, [("refund", 400, "paypal")]),
    (exchange(["mug-1"], ["mug-1"]), state("delivered"), 0, []),
    (exchange(["mug-1", "mug-1"], ["mug-2", "mug-4"]), state("delivered"), 0, []),
    (change(["mug-1"], ["mug-2"]), state(), 400, [("capture", 400, "card")]),
    (change(["mug-1", "mug-1"], ["mug-4", "mug-4"]), state(), 800, [("refund", 800, "card")]),
    (change(["mug-1", "mug-1"], ["mug-2", "mug-4"]), state(), 0, []),
    (
        pay_with("gift"),
        state("pending", capture(3_000)),
        6_000,
        [("capture", 3_000, "gift"), ("refund", 3_000, "card")],
    ),
    (send_to, state(), 0, []),
]


@pytest.mark.parametrize(("write", "order", "amount", "expected"), MOVED)
def test_what_moves(write: Planner, order: OrderState, amount: int, expected: list[tuple[str, int, str]]) -> None:
    plan = write(order)
    assert (plan.amount_minor, moves(plan)) == (amount, expected)
    assert bool(plan.promised) <= (order.status == "delivered")


@pytest.mark.parametrize(
    ("write", "order", "rule", "says"),
    [
        (send_back("mug-1", "mug-1", "mug-1"), state("delivered"), "items", "as often as it was bought"),
        (send_back("nobodys"), state("delivered"), "items", "get_order"),
        (send_back("mug-1", to="nobodys"), state("delivered"), "payment_method", "card (Visa ••4242)"),
        (send_back("mug-1", to="paypal"), state("delivered"), "payment_method", "did not pay"),
        (send_back("mug-1", to="gift-eur"), state("delivered"), "payment_method", "EUR"),
        (send_back("mug-1"), state("delivered", held_minor=7_000), "balance", "Nothing can be refunded"),
        (send_back("mug-1"), state("delivered", returning={"item_ids": []}), "status", "came back already"),
        (exchange(["mug-1"], []), state("delivered"), "items", "paired by position"),
        (exchange(["mug-1"], ["lamp-1"]), state("delivered"), "variants", "get_product('mug')"),
        (exchange(["mug-1"], ["mug-3"]), state("delivered"), "variants", "not available"),
        (exchange(["mug-1"], ["mug-4"]), state("delivered", held_minor=6_700), "balance", "$3.00 left"),
        (change(["mug-1", "mug-1"], ["mug-1", "mug-2"]), state(), "variants", "same as the old one"),
        (change(["mug-1"], ["mug-2"], "nobodys"), state(), "payment_method", "change_order_items again"),
        (pay_with("card"), state("pending", capture(3_000)), "payment_method", "already"),
        (pay_with("gift"), state("pending", capture(3_001)), "balance", "$30.00 to spend and $30.01 are needed"),
        (pay_with("paypal"), state("pending", capture(3_000), capture(1)), "status", "2 payments"),
        (cancel, state("pending", capture(5_000), refund(6_000, "gift"), capture(2_000)), "balance", "left"),
    ],
)
def test_what_is_refused(write: Planner, order: OrderState, rule: str, says: str) -> None:
    with pytest.raises(Refused) as refusal:
        write(order)
    assert (refusal.value.rule, says in refusal.value.message) == (rule, True), refusal.value.message


def test_what_is_checked_first() -> None:
    """Status, items, variants, payment method, balance: the first that fails gives its name."""
    wrong: dict[str, Any] = {"old": ["mug-1"], "new": ["mug-3"], "method": "nobodys"}
    rules = []
    for order, arguments in (
        (state("processed"), wrong | {"old": ["x"]}),
        (state(), wrong | {"old": ["x"]}),
        (state(), wrong),
        (state(), wrong | {"new": ["mug-2"]}),
        (state("pending", capture(1_000), held_minor=900), {"old": ["mug-1"], "new": ["mug-4"]}),
    ):
        with pytest.raises(Refused) as refusal:
            change(**arguments)(order)
        rules.append(refusal.value.rule)
    assert rules == ["status", "items", "variants", "payment_method", "balance"]


def test_changed_lines_keep_position_product_and_name() -> None:
    plan = change(["mug-1", "mug-1"], ["mug-2", "mug-4"])(state())
    expected = [line("mug-2"), line("lamp-1"), line("mug-4")]
    assert plan.order_changes == {"status": "pending_items_changed", "items": expected}
    assert plan.order_before["items"] == state().items


def test_a_promise_is_written_as_asked() -> None:
    assert send_back("mug-1")(state("delivered")).order_changes == {
        "status": "return_requested",
        "returning": {"item_ids": ["mug-1"], "payment_method_id": "card"},
    }
    assert exchange(["mug-1"], ["mug-4"])(state("delivered")).order_changes["exchanging"] == {
        "item_ids": ["mug-1"],
        "new_item_ids": ["mug-4"],
        "payment_method_id": "card",
        "price_difference_minor": -400,
    }


def test_money_reads_in_its_currency() -> None:
    yen = state("pending", capture(7_000), currency="JPY")
    assert cancel(yen).done == "Cancelled order #W1 and refunded ¥7,000 to Visa ••4242."
    assert "¥7,000 from PayPal instead of Visa ••4242" in pay_with("paypal")(yen).done


def test_an_address_is_replaced_whole_and_the_other_one_stays() -> None:
    assert send_to(state()).order_changes == {"address": ADDRESS}
    assert send_to(state()).customer_changes == {}
    mine = plan_my_address("maya", {"line1": "1 Quay"}, ADDRESS)
    assert (mine.customer_changes, mine.order_changes) == ({"address": ADDRESS}, {})
