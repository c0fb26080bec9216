"""The loop: a turn from the customer's words to the end, against the stand-in over HTTP with the real SDK."""

import json
import uuid
from dataclasses import replace
from typing import Any

import pytest

from agents.context.prompt import definition
from agents.models import Conversation, Message, ToolCall, Turn
from agents.turns import loop
from agents.turns.admission import begin_call
from agents.turns.claims import LostTurn, StoppedTurn
from approvals.brakes import pull
from approvals.models import Staff
from audit.models import Event
from ledger.models import Entry
from tests.support.cast import begin_turn, messages_for, next_turn, seen_by_staff
from tests.support.standin import Server

pytestmark = pytest.mark.usefixtures("shop")


def _run(model: Server, *replies: dict[str, Any]) -> Turn:
    """One turn of Maya's in which the model gives these replies."""
    mark = uuid.uuid4().hex
    if replies:
        model.script(mark, *replies)
    claimed = begin_turn(text=f"please {mark}")
    loop.run(claimed)
    return Turn.objects.get(pk=claimed.turn_id)


def _says(turn: Turn) -> list[tuple[str, str]]:
    rows = Message.objects.filter(conversation=turn.conversation).exclude(text="").order_by("id")
    return [(row.author, row.text) for row in rows if row.author != "customer"]


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"tool": name, "input": arguments}]}


REFUND = {"order_id": "4471", "amount_minor": 1_200, "reason": "damaged"}
TEXT = {"content": [{"type": "text", "text": "There you are."}], "stop_reason": "end_turn"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Where is my order 4471?", "TRK1"),
        ("I want £12 back for order 4471, it came damaged", "T-"),
        ("refund me the whole £124 for order 4471, it came damaged", "R-"),
        ("What have I ordered?", "4472"),
        ("Where is my order 5001?", "5001"),
    ],
)
def test_what_a_customer_asks_in_plain_english(model: Server, words: str, expected: str) -> None:
    claimed = begin_turn(text=words)
    loop.run(claimed)
    turn = Turn.objects.get(pk=claimed.turn_id)
    assert (turn.state, turn.reason) == ("finished", "answered")
    assert expected in _says(turn)[-1][1]


def test_an_executed_write_is_told_by_the_ledger_before_the_model_speaks(model: Server) -> None:
    turn = _run(model, _call("issue_refund", **REFUND), TEXT)
    reference = seen_by_staff(lambda: Entry.objects.get().reference)
    assert _says(turn) == [
        ("notice", f"Refunded £12.00 to Visa ••4242. Reference {reference}."),
        ("assistant", "There you are."),
    ]


def test_a_claim_that_the_ledger_lacks_is_corrected(model: Server) -> None:
    claim = {"content": [{"type": "text", "text": "Done: I have refunded £500 to you."}], "stop_reason": "end_turn"}
    turn = _run(model, claim)
    assert _says(turn)[-1][0] == "notice"
    assert "nothing has been changed" in _says(turn)[-1][1]


BLOCKS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "xyz"},
    {"type": "a_block_of_tomorrow", "nested": {"null": None, "list": [1, 2.5, "é"]}},
    {"type": "text", "text": "Let me look."},
    {"type": "tool_use", "id": "toolu_A", "name": "get_order", "input": {"order_id": "4471"}},
    {"type": "tool_use", "id": "toolu_B", "name": "get_order", "input": {"order_id": "5001"}},
]


def test_a_reply_is_resent_as_it_came_with_all_results_in_one_message(model: Server) -> None:
    turn = _run(model, {"content": BLOCKS, "stop_reason": "tool_use"}, TEXT)
    sent = messages_for(turn.conversation_id, turn.number)
    assert [message["role"] for message in sent] == ["user", "assistant", "user", "assistant"]
    assert sent[1]["content"] == BLOCKS
    results = sent[2]["content"]
    assert [block["tool_use_id"] for block in results] == ["toolu_A", "toolu_B"]
    assert [block.get("is_error", False) for block in results] == [False, True]
    received = model.received("a_block_of_tomorrow")
    assert json.loads(received[-1]["body"])["messages"][1]["content"] == BLOCKS


@pytest.mark.parametrize(
    ("reply", "reason", "in_history"),
    [
        ({"content": [{"type": "text", "text": "So, and"}], "stop_reason": "max_tokens"}, "max_tokens", True),
        ({"content": [{"type": "text", "text": "I will not"}], "stop_reason": "refusal"}, "refusal", False),
        ({"content": [{"type": "text", "text": "x"}], "stop_reason": "model_context_window_exceeded"},
         "context_window", True),
        ({"content": [{"type": "text", "text": "x"}], "stop_reason": "of_tomorrow"}, "cut", True),
        ({"content": [], "stop_reason": "end_turn"}, "cut", False),
        ({"content": [
            {"type": "tool_use", "id": "same", "name": "issue_refund", "input": REFUND},
            {"type": "tool_use", "id": "same", "name": "issue_refund", "input": REFUND | {"amount_minor": 1}},
        ], "stop_reason": "tool_use"}, "cut", False),
        ({"content": [{"type": "tool_use", "id": "t1", "name": "issue_refund", "input": REFUND}],
          "stop_reason": "max_tokens"}, "max_tokens", True),
        ({"content": [{"type": "tool_use", "id": "t1", "name": "issue_refund", "input": REFUND}],
          "stop_reason": "end_turn"}, "answered", True),
        ({"content": [{"type": "tool_use", "id": "t1", "name": "issue_refund", "input": REFUND}],
          "stop_reason": "refusal"}, "refusal", False),
        ({"fault": "non_json"}, "cut", True),
        ({"fault": "bad_json"}, "cut", True),
    ],
)  # fmt: skip
def test_a_reply_that_did_not_end_well_executes_nothing_and_the_next_message_goes_on(
    model: Server, reply: dict[str, Any], reason: str, in_history: bool
) -> None:
    turn = _run(model, reply)
    assert (turn.state, turn.reason) == ("finished", reason)
    assert seen_by_staff(Entry.objects.count) == 0
    stored = Message.objects.filter(author="assistant").first()
    assert stored is None or stored.in_history is in_history
    if reason != "answered":
        assert _says(turn)[-1][0] == "notice"
    after = next_turn(Conversation.objects.get(pk=turn.conversation_id), text="Where is my order 4471?")
    loop.run(after)
    assert Turn.objects.get(pk=after.turn_id).reason == "answered"


def test_a_call_in_a_cut_reply_is_answered_as_not_executed(model: Server) -> None:
    turn = _run(
        model,
        {"content": [{"type": "tool_use", "id": "t1", "name": "issue_refund", "input": REFUND}],
         "stop_reason": "max_tokens"},
    )  # fmt: skip
    call = ToolCall.objects.get()
    assert (call.result, call.is_error) == ("Not executed: the reply was cut.", True)
    assert Event.objects.get(kind="dispatch").rule == "cut"
    assert messages_for(turn.conversation_id, 1)[-1]["content"][0]["is_error"] is True


def test_the_model_is_called_at_most_fifteen_times(model: Server) -> None:
    turn = _run(model, {**_call("get_order", order_id="4471"), "repeat": 40})
    assert (turn.reason, turn.steps) == ("limit_model_calls", 15)
    assert "could not be finished" in _says(turn)[-1][1]


def test_five_errors_in_a_row_end_the_turn(model: Server) -> None:
    turn = _run(model, {**_call("get_order", order_id="nope"), "repeat": 40})
    assert (turn.reason, turn.steps) == ("limit_errors", 5)


def test_a_model_that_is_down_is_waited_for_and_the_customer_told(model: Server) -> None:
    turn = _run(model, {"fault": "status", "status": 529}, TEXT)
    assert (turn.state, turn.owner, turn.lease_until) == ("running", "", None)
    assert "cannot be reached" in _says(turn)[-1][1]


def test_a_key_that_is_refused_parks_the_turn(model: Server) -> None:
    turn = _run(model, {"fault": "status", "status": 401})
    assert turn.reason == "parked"


def test_what_was_stored_before_a_crash_is_dispatched_and_not_asked_again(model: Server) -> None:
    claimed = begin_turn(text=f"please {uuid.uuid4().hex}")
    Message.objects.create(
        conversation_id=claimed.conversation_id, turn_id=claimed.turn_id, author="assistant", step=1,
        stop_reason="tool_use",
        content=json.dumps([{"type": "tool_use", "id": "t1", "name": "issue_refund", "input": REFUND}]),
    )  # fmt: skip
    loop.run(replace(claimed, attempts=2))
    turn = Turn.objects.get(pk=claimed.turn_id)
    assert turn.steps == 1  # the one after the dispatch
    assert seen_by_staff(Entry.objects.count) == 1


def test_a_reply_that_died_with_its_worker_was_paid_and_is_counted(model: Server) -> None:
    claimed = begin_turn(text=f"please {uuid.uuid4().hex}")
    begin_call(claimed, definition(claimed.definition_id))
    noted = Turn.objects.get(pk=claimed.turn_id)
    assert noted.asked_tokens > 500
    assert noted.asked_microcents >= noted.asked_tokens
    model.script(Message.objects.get(turn_id=claimed.turn_id).text, TEXT)
    loop.run(replace(claimed, attempts=2))
    turn = Turn.objects.get(pk=claimed.turn_id)
    assert (turn.reason, turn.steps, turn.asked_tokens, turn.asked_microcents) == ("answered", 2, 0, 0)
    assert turn.input_tokens > noted.asked_tokens
    assert turn.cost_microcents > noted.asked_microcents


def test_a_reply_that_cannot_be_read_is_counted_and_a_refused_call_is_not(model: Server) -> None:
    assert _run(model, {"fault": "non_json"}).steps == 1
    refused = _run(model, {"fault": "status", "status": 401})
    assert (refused.steps, refused.cost_microcents, refused.asked_tokens) == (0, 0, 0)


def test_only_who_runs_the_turn_begins_a_call(model: Server) -> None:
    claimed = begin_turn()
    with pytest.raises(LostTurn):
        begin_call(replace(claimed, fence=claimed.fence - 1), definition(claimed.definition_id))
    assert Turn.objects.get(pk=claimed.turn_id).asked_tokens == 0


def test_a_call_that_is_not_made_is_not_counted(lead: Staff) -> None:
    claimed = begin_turn()
    pull(staff=lead, reason="looking into it", answers=True)
    with pytest.raises(StoppedTurn, match="paused"):
        begin_call(claimed, definition(claimed.definition_id))
    assert Turn.objects.get(pk=claimed.turn_id).asked_tokens == 0


def test_tokens_and_cost_are_counted(model: Server) -> None:
    turn = _run(model, TEXT)
    assert turn.input_tokens > 0
    assert turn.output_tokens > 0
    assert turn.cost_microcents > 0
