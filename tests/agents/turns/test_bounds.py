"""Limits of days, the circuit breaker, the successor of a long history, and what operators do with turns."""

import json
import uuid
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.chat import conversations
from agents.chat.takeover import take_over
from agents.chat.tokens import TokenRefused, mint_widget_token, verify_widget_token
from agents.models import Conversation, Message, Session, ToolCall, Turn
from agents.turns import breaker, limits, loop
from agents.turns.claims import LostTurn, claim
from agents.turns.model import ModelDown
from agents.turns.steering import end_turn, sign_out
from approvals.models import Staff
from audit.models import Event
from ledger.access.staff import as_staff
from ledger.models import Entry
from standins.model.history import check_messages
from tests.support import cast
from tests.support.cast import begin_turn, messages_for, next_turn, seen_by_staff
from tests.support.standin import Server

pytestmark = pytest.mark.usefixtures("shop")
TEXT = {"content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn"}


@pytest.fixture(autouse=True)
def _fresh_state() -> None:
    limits.forget()
    breaker._breakers.clear()


def _reason(turn: Any) -> str:
    return Turn.objects.get(pk=turn.turn_id).reason


@pytest.mark.parametrize("name", ["customer_day_turns", "site_day_tokens", "site_day_minor"])
def test_a_day_that_is_used_up_ends_the_turn_before_money_is_spent(model: Server, lead: Staff, name: str) -> None:
    call_command("limits", "set", name, "0", "--as", "lena", stdout=StringIO())
    turn = begin_turn()
    loop.run(turn)
    assert _reason(turn) == "limit_day"
    assert model.received("hello") == []
    assert Message.objects.filter(author="notice", text__contains="could not be finished").exists()
    call_command("limits", "set", name, "1000000", "--as", "lena", stdout=StringIO())
    after = next_turn(Conversation.objects.get(pk=turn.conversation_id))
    loop.run(after)
    assert _reason(after) == "answered"
    assert Event.objects.filter(kind="policy", decision="limit_set", rule=name).count() == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["set", "nonsense", "1", "--as", "lena"], "No limit 'nonsense'"),
        (["set", "site_day_turns", "-1", "--as", "lena"], "from 0 on"),
        (["set", "site_day_turns", "1", "--as", "nobody"], "no active lead"),
        (["set", "site_day_turns", "many", "--as", "lena"], "invalid int"),
    ],
)
def test_a_wrong_limit_says_what_is_wrong(lead: Staff, arguments: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        call_command("limits", *arguments)


def test_the_breaker_refuses_after_failures_in_a_row_and_lets_one_probe_through() -> None:
    tried = breaker.breaker_of("m")
    for _ in range(breaker.MOST_FAILURES):
        tried.admit()
        with pytest.raises(ModelDown), breaker.counting(tried):
            raise ModelDown("529")
    with pytest.raises(ModelDown, match="breaker is open") as refused:
        tried.admit()
    assert refused.value.retry_after is not None
    tried.open_until = 0.0
    tried.admit()  # the probe
    with pytest.raises(ModelDown):
        tried.admit()  # while the probe is out nobody follows
    tried.worked()
    tried.admit()


def test_a_turn_that_meets_an_open_breaker_waits_without_a_call(model: Server) -> None:
    breaker.breaker_of("claude-opus-5-5").open_until = float("inf")
    turn = begin_turn(text=f"wait {uuid.uuid4().hex}")
    loop.run(turn)
    row = Turn.objects.get(pk=turn.turn_id)
    assert (row.state, row.owner, row.waits) == ("running", "", 1)
    assert model.received("wait") == []


@pytest.mark.usefixtures("model")
def test_a_first_turn_whose_customer_signed_out_ends_although_the_model_is_down() -> None:
    breaker.breaker_of("claude-opus-5-5").open_until = float("inf")
    turn = begin_turn(text=f"bye {uuid.uuid4().hex}")
    Session.objects.create(session_id=turn.session_id, customer_id=turn.customer_id)
    loop.run(turn)
    row = Turn.objects.get(pk=turn.turn_id)
    assert (row.state, row.reason, row.asked_tokens) == ("finished", "signed_out", 0)


def test_a_turn_is_given_up_after_many_waits(model: Server) -> None:
    turn = begin_turn(text=f"down {uuid.uuid4().hex}")
    model.script("down", {"fault": "status", "status": 529, "repeat": 50})
    Turn.objects.filter(pk=turn.turn_id).update(waits=limits.MOST_WAITS)
    loop.run(replace(turn, waits=limits.MOST_WAITS))
    assert _reason(turn) == "model_unavailable"


def test_a_turn_whose_workers_die_is_parked(model: Server) -> None:
    turn = replace(begin_turn(), attempts=limits.MOST_DEATHS + 1)
    loop.run(turn)
    assert _reason(turn) == "parked"
    assert model.received("hello") == []


def test_a_conversation_grown_long_goes_on_in_a_new_history_made_from_the_record(model: Server) -> None:
    mark = uuid.uuid4().hex
    refund = {"tool": "issue_refund", "input": {"order_id": "4471", "amount_minor": 1_200, "reason": "damaged"}}
    long = TEXT | {"usage": {"input_tokens": 60_001, "output_tokens": 5}}
    model.script(mark, {"calls": [refund]}, long)
    turn = begin_turn(text=f"{mark} my secret hobby is knitting")
    loop.run(turn)
    after = next_turn(Conversation.objects.get(pk=turn.conversation_id), text="Where is my order 4471?")
    loop.run(after)
    assert _reason(after) == "answered"
    history = messages_for(turn.conversation_id, after.number)
    opening = history[0]["content"][0]["text"]
    reference = seen_by_staff(lambda: Entry.objects.get().reference)
    assert f"Executed issue_refund, order 4471, £12.00: {reference}." in opening
    assert history[0]["content"][1]["text"] == "Where is my order 4471?"
    assert "knitting" not in str(history)
    assert "knitting" in Message.objects.get(turn_id=turn.turn_id, author="customer").text
    assert opening not in [m.text for m in Message.objects.filter(author__in=["assistant", "notice"])]


def test_signing_out_stops_a_turn_before_its_next_dispatch_and_voids_the_token(model: Server) -> None:
    token = mint_widget_token("maya", "s1", 600)
    model.script("sign me out", {"calls": [{"tool": "get_order", "input": {"order_id": "4471"}}]}, TEXT)
    turn = begin_turn(text="sign me out")
    sign_out(customer_id="maya", session_id="s1")
    loop.run(turn)
    assert _reason(turn) == "signed_out"
    with pytest.raises(TokenRefused):
        verify_widget_token(token)


def test_disabling_a_customer_stops_their_turns(model: Server) -> None:
    turn = begin_turn()
    as_staff(lambda: cast.Customer.objects.filter(pk="maya").update(disabled_at="2026-11-01T00:00:00Z"))
    loop.run(turn)
    assert _reason(turn) == "signed_out"


def test_staff_taking_over_stops_a_turn(model: Server, agent: Staff) -> None:
    turn = begin_turn()
    take_over(conversation_id=turn.conversation_id, staff=agent)
    loop.run(turn)
    assert _reason(turn) == "taken_over"


def test_a_parked_turn_is_listed_and_tried_again(model: Server) -> None:
    model.script("refused key", {"fault": "status", "status": 401})
    turn = begin_turn(text="refused key")
    loop.run(turn)
    listed = StringIO()
    call_command("turns", "list", stdout=listed)
    assert f"{turn.turn_id} parked customer=maya" in listed.getvalue()
    call_command("turns", "retry", str(turn.turn_id), stdout=StringIO())
    again = claim("tests")
    assert again is not None
    loop.run(again)
    assert _reason(again) == "answered"


def test_a_turn_that_is_ended_between_a_reply_and_its_calls_leaves_a_valid_history(model: Server) -> None:
    turn = begin_turn()
    call = {"type": "tool_use", "id": "t1", "name": "issue_refund", "input": {"order_id": "4471"}}
    Message.objects.create(
        conversation_id=turn.conversation_id, turn_id=turn.turn_id, author="assistant", step=1,
        stop_reason="tool_use", content=json.dumps([call]),
    )  # fmt: skip
    end_turn(turn.turn_id)
    after = next_turn(Conversation.objects.get(pk=turn.conversation_id))
    check_messages(messages_for(after.conversation_id, after.number))
    assert ToolCall.objects.get().decision == "refused"
    assert Turn.objects.get(pk=turn.turn_id).reason == "parked"


def test_ending_a_turn_fences_its_worker_off(model: Server) -> None:
    turn = begin_turn()
    end_turn(turn.turn_id)
    with pytest.raises(LostTurn):
        loop.run(turn)
    assert _reason(turn) == "parked"
    assert conversations.post_message(
        conversation_id=turn.conversation_id, session_id="s1", client_id="x", text="still here"
    ).new


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["retry", "nonsense"], "no turn's id"),
        (["retry", str(uuid.uuid4())], "There is no turn"),
        (["end", str(uuid.uuid4())], "There is no turn"),
    ],
)
def test_a_wrong_turn_says_what_is_wrong(db: None, arguments: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        call_command("turns", *arguments)


SEARCH: list[dict[str, Any]] = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "lamp returns"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
        {"type": "web_search_result", "url": "https://example.com/returns", "title": "t", "encrypted_content": "e"}]},
    {"type": "text", "text": "Found."},
]  # fmt: skip


def test_a_server_tool_is_recorded_as_observed_with_query_and_sources(model: Server) -> None:
    model.script("search the web", {"content": SEARCH, "stop_reason": "end_turn"})
    turn = begin_turn(text="search the web")
    loop.run(turn)
    event = Event.objects.get(decision="observed")
    assert (event.tool, event.tool_use_id) == ("web_search", "srvtoolu_1")
    assert "lamp returns" in event.detail.body
    assert "https://example.com/returns" in event.detail.body


def test_a_paused_reply_is_resumed_with_the_same_content(model: Server) -> None:
    model.script("pause please", {"content": SEARCH[:2], "stop_reason": "pause_turn"}, TEXT)
    turn = begin_turn(text="pause please")
    loop.run(turn)
    assert _reason(turn) == "answered"
    assert messages_for(turn.conversation_id, 1)[1]["content"] == SEARCH[:2]
