"""Dispatch: who may what, what is refused with which sentence, and that each call leaves exactly one row."""

import json

import pytest
from django.db import connection

from agents.dispatch.dispatch import dispatch
from agents.models import Message, ToolCall
from agents.turns.claims import LostTurn
from approvals.models import Request
from audit.models import Event
from ledger.models import Account, Entry, Transfer
from tests.conftest import Propose, make_call
from tests.support.cast import begin_turn, seen_by_staff


def _refundable(order_id: str) -> int:
    def read() -> int:
        account = Account.objects.get(order_id=order_id)
        return account.balance_minor - account.held_minor

    return seen_by_staff(read)


def _entries() -> int:
    return seen_by_staff(Entry.objects.count)


def test_an_own_order_is_looked_up(propose: Propose) -> None:
    outcome = propose("get_order", order_id="4471")
    assert not outcome.is_error
    assert json.loads(outcome.text)["refundable_minor"] == 12_400


def test_a_foreign_order_reads_exactly_as_none(propose: Propose) -> None:
    foreign = propose("get_order", order_id="5001")
    missing = propose("get_order", order_id="5002")
    assert foreign.text.replace("5001", "5002") == missing.text
    assert foreign.text == (
        "No order 5001 in this account. Call list_my_orders, "
        "or ask the customer for the number in the confirmation e-mail."
    )
    assert (foreign.rule, foreign.is_error) == (missing.rule, missing.is_error)


def test_a_small_refund_is_executed_with_entry_event_and_notice(propose: Propose) -> None:
    outcome = propose("issue_refund", order_id="4471", amount_minor=1_200, reason="damaged")
    answer = json.loads(outcome.text)
    assert answer["status"] == "executed"
    assert answer["message"] == "Refunded £12.00 to Visa ••4242."
    event = Event.objects.get(reference=answer["reference"])
    assert (event.kind, event.decision, event.amount_minor, event.currency) == ("dispatch", "executed", 1_200, "GBP")
    assert (event.actor_kind, event.actor_id, event.rule) == ("customer", "maya", "within_lines")
    notice = Message.objects.get(author="notice")
    assert notice.text == f"Refunded £12.00 to Visa ••4242. Reference {answer['reference']}."
    assert _refundable("4471") == 11_200
    assert seen_by_staff(lambda: Transfer.objects.get(entry=answer["reference"]).kind) == "refund"


def test_a_refund_over_the_line_waits_and_holds_its_money(propose: Propose) -> None:
    outcome = propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    answer = json.loads(outcome.text)
    assert answer["status"] == "queued"
    request = Request.objects.get(reference=answer["reference"])
    assert (request.state, request.rule, request.approvals_needed) == ("pending", "above_automatic_day", 1)
    assert _refundable("4471") == 0
    assert _entries() == 0


@pytest.mark.parametrize(
    ("amounts", "statuses"),
    [
        ([5_000], ["executed"]),
        ([5_001], ["queued"]),
        ([2_500, 2_501], ["executed", "queued"]),
        ([2_500, 2_500], ["executed", "queued"]),  # the same again is a repeat
        ([4_999, 1], ["executed", "executed"]),
    ],
)
def test_single_and_cumulative_amounts_meet_the_line(propose: Propose, amounts: list[int], statuses: list[str]) -> None:
    outcomes = [propose("issue_refund", order_id="4471", amount_minor=amount, reason="damaged") for amount in amounts]
    assert [json.loads(outcome.text)["status"] for outcome in outcomes] == statuses


def test_two_people_one_of_them_a_lead_above_the_higher_line(propose: Propose) -> None:
    propose("issue_refund", order_id="4472", amount_minor=50_001, reason="late")
    request = Request.objects.get()
    assert (request.approvals_needed, request.lead_needed, request.rule) == (2, True, "above_two_people_day")


def test_held_money_counts_against_the_line(propose: Propose) -> None:
    propose("issue_refund", order_id="4472", amount_minor=6_000, reason="damaged")
    small = propose("issue_refund", order_id="4471", amount_minor=1, reason="damaged")
    assert json.loads(small.text)["status"] == "queued"


def test_an_order_with_an_open_request_takes_no_other_write(propose: Propose) -> None:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    again = propose("issue_refund", order_id="4471", amount_minor=100, reason="damaged")
    assert again.decision == "refused"
    assert again.rule == "open_request"
    assert Request.objects.get().reference in again.text


@pytest.mark.parametrize("amount", [0, -1, 1.5, "12", float("nan"), 10**18, True, None, [1], {"a": 1}, 10**12 + 1])
def test_an_amount_that_is_none_teaches(propose: Propose, amount: object) -> None:
    outcome = propose("issue_refund", order_id="4471", amount_minor=amount, reason="damaged")
    assert (outcome.decision, outcome.rule) == ("refused", "arguments")
    assert "amount_minor" in outcome.text
    assert "Call again with order_id (string), amount_minor (integer above 0)" in outcome.text
    assert _entries() == 0


def test_more_than_the_order_holds_is_refused_with_what_is_left(propose: Propose) -> None:
    outcome = propose("issue_refund", order_id="4471", amount_minor=12_401, reason="damaged")
    assert outcome.rule == "balance"
    assert "amount_minor of at most 12400" in outcome.text


@pytest.mark.parametrize(
    "arguments",
    [
        {"order_id": "4471", "customer_id": "noor"},
        {"order_id": "4471", "user_id": "noor", "session_token": "x"},
        {},
        {"order_id": 4471},
        {"order_id": ""},
        {"order_id": "44\x0071"},
        {"order_id": "\ud800"},
        {"order_id": "4" * 5_000},
    ],
)
def test_wrong_missing_and_extra_arguments_are_refused(propose: Propose, arguments: dict[str, object]) -> None:
    outcome = propose("get_order", **arguments)
    assert (outcome.decision, outcome.is_error) == ("refused", True)
    assert "Call again with order_id (string)" in outcome.text


@pytest.mark.parametrize("received", [None, [], "4471", 3, float("nan")])
def test_arguments_that_are_no_object_are_refused(turn, received: object) -> None:
    outcome = dispatch(make_call(turn, 1, "get_order", received))
    assert outcome.rule == "arguments"
    assert Event.objects.filter(kind="dispatch").count() == 1


def test_an_unknown_tool_is_answered_with_what_there_is(propose: Propose) -> None:
    outcome = propose("drop_tables", order_id="4471")
    assert outcome.text.startswith("No tool 'drop_tables'. Tools here: list_my_orders, get_order, issue_refund")


def test_every_dispatch_leaves_one_event_and_one_result(propose: Propose) -> None:
    propose("get_order", order_id="4471")
    propose("get_order", order_id="5001")
    propose("nothing")
    propose("issue_refund", order_id="4471", amount_minor=0, reason="damaged")
    decisions = list(Event.objects.filter(kind="dispatch").order_by("id").values_list("decision", flat=True))
    assert decisions == ["executed", "refused", "refused", "refused"]
    assert ToolCall.objects.count() == 4


def test_the_same_call_again_is_answered_from_the_first(turn) -> None:
    call = make_call(turn, 1, "issue_refund", {"order_id": "4471", "amount_minor": 100, "reason": "late"})
    first, again = dispatch(call), dispatch(call)
    assert first.text == again.text
    assert again.decision == "replayed"
    assert _entries() == 1


def test_a_worker_that_lost_its_turn_changes_nothing(turn) -> None:
    call = make_call(turn, 1, "issue_refund", {"order_id": "4471", "amount_minor": 100, "reason": "late"})
    with connection.cursor() as cursor:
        cursor.execute("UPDATE agents_turn SET fence = fence + 1 WHERE id = %s", [turn.turn_id])
    with pytest.raises(LostTurn):
        dispatch(call)
    assert _entries() == 0
    assert not Event.objects.filter(kind="dispatch").exists()


def test_a_handler_that_raises_or_returns_nothing_has_failed(propose: Propose, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_: object) -> None:
        raise RuntimeError("secret of the house")

    monkeypatch.setattr("ledger.shop.orders.load_order", explode)
    outcome = propose("get_order", order_id="4471")
    assert outcome.decision == "failed"
    assert "get_order failed on our side (E-" in outcome.text
    assert "secret" not in outcome.text
    code = outcome.text.split("(")[1].split(")")[0]
    assert code in Event.objects.get(decision="failed").detail.body
    monkeypatch.setattr("agents.tools.orders.show_order", lambda state: None)
    monkeypatch.setattr("ledger.shop.orders.load_order", lambda *_, **__: None)
    assert propose("get_order", order_id="4471").decision == "failed"


def test_a_turn_proposes_at_most_five_writes(propose: Propose) -> None:
    outcomes = [propose("issue_refund", order_id="4471", amount_minor=n, reason="late") for n in (1, 2, 0, 3, 4, 5)]
    assert [outcome.rule for outcome in outcomes][-1] == "limit_writes"


def test_another_customers_session_reaches_only_its_own(shop: None, propose: Propose) -> None:
    noor = begin_turn("noor")
    mine = propose("get_order", turn=noor, order_id="5001")
    assert not mine.is_error
    assert propose("issue_refund", turn=noor, order_id="4471", amount_minor=1, reason="late").rule == "not_found"
