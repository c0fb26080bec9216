"""Replies that stream because somebody watches: what goes wrong in mid-stream, and what watchers are told."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import redis

from agents.chat import stream
from agents.models import Conversation, Message, Turn
from agents.turns import breaker, loop
from agents.turns.claims import claim
from ledger.models import Entry
from tests.support.cast import begin_turn, next_turn, seen_by_staff
from tests.support.env import replace
from tests.support.standin import Server

pytestmark = pytest.mark.usefixtures("shop")
REFUND = {"order_id": "4471", "amount_minor": 1_200, "reason": "damaged"}
TEXT = {"content": [{"type": "text", "text": "There you are, all is well."}], "stop_reason": "end_turn"}
CALL = {"content": [
    {"type": "text", "text": "Let me see to that."},
    {"type": "tool_use", "id": "toolu_1", "name": "issue_refund", "input": REFUND},
], "stop_reason": "tool_use"}  # fmt: skip
Run = Callable[..., Turn]


@pytest.fixture
def run(model: Server) -> Run:
    """One watched turn of Maya's in which the model gives these replies."""
    breaker._breakers.clear()

    def go(*replies: dict[str, Any]) -> Turn:
        mark = uuid.uuid4().hex
        model.script(mark, *replies)
        turn = begin_turn(text=f"please {mark}")
        stream.client().set(f"{stream.WATCH}{turn.conversation_id}", "1", ex=60)
        loop.run(turn)
        return Turn.objects.get(pk=turn.turn_id)

    return go


def _events(turn: Turn) -> list[tuple[str, Any]]:
    kept: Any = stream.client().xrange(f"{stream.STREAM}{turn.conversation_id}")
    return [(fields["event"], json.loads(fields["data"])) for _, fields in kept]


def test_a_watched_reply_streams_and_is_stored_as_it_came(run: Run, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        turn = run(CALL, TEXT)
    assert turn.reason == "answered"
    stored = Message.objects.filter(author="assistant").order_by("id")
    assert [json.loads(row.content) for row in stored] == [CALL["content"], TEXT["content"]]
    names = [name for name, _ in _events(turn)]
    assert names[0] == "turn.started"
    assert {"text.reset", "activity", "message", "turn.finished"} <= set(names)


@pytest.mark.parametrize(
    "fault",
    [
        {"fault": "cut_stream", "after_events": 3},
        {"fault": "cut_stream", "after_events": 6},
        {"fault": "error_event", "type": "overloaded_error", "after_events": 3},
        {"fault": "disconnect"},
        {"fault": "status", "status": 529},
        {"fault": "status", "status": 500},
        {"fault": "status", "status": 429, "retry_after": 3},
    ],
)
def test_a_stream_that_breaks_is_asked_for_again_and_executes_nothing(run: Run, fault: dict[str, Any]) -> None:
    turn = run(CALL | fault, TEXT)
    assert (turn.state, turn.waits) == ("running", 1)
    assert not Message.objects.filter(author="assistant").exists()
    assert seen_by_staff(Entry.objects.count) == 0
    Turn.objects.filter(pk=turn.pk).update(claimable_at=turn.created_at)
    again = claim("tests")
    assert again is not None
    loop.run(again)
    assert Turn.objects.get(pk=turn.pk).reason == "answered"


@pytest.mark.parametrize("after", [2, 4, 7])
def test_a_stream_that_ends_without_its_end_executes_nothing(run: Run, after: int) -> None:
    turn = run(CALL | {"fault": "early_eof", "after_events": after})
    assert (turn.state, turn.reason) == ("finished", "cut")
    assert seen_by_staff(Entry.objects.count) == 0
    after_it = next_turn(Conversation.objects.get(pk=turn.conversation_id), text="Where is my order 4471?")
    loop.run(after_it)
    assert Turn.objects.get(pk=after_it.turn_id).reason == "answered"


def test_a_stream_that_stalls_ends_with_the_turns_time(run: Run, settings: Any) -> None:
    settings.PLACET = replace(settings.PLACET, turn_seconds=2)
    turn = run(CALL | {"fault": "stall", "seconds": 30, "after_events": 3})
    assert turn.waits == 1
    assert seen_by_staff(Entry.objects.count) == 0


@pytest.mark.parametrize("fault", ["non_json", "bad_json"])
def test_an_answer_that_is_no_stream_is_cut(run: Run, fault: str) -> None:
    turn = run(CALL | {"fault": fault})
    assert turn.reason == "cut"
    assert seen_by_staff(Entry.objects.count) == 0


def test_a_dead_redis_costs_the_turn_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = redis.Redis(port=1, socket_connect_timeout=0.2)
    turn = run(TEXT)
    monkeypatch.setattr(stream, "client", lambda: dead)
    after = next_turn(Conversation.objects.get(pk=turn.conversation_id), text="Where is my order 4471?")
    loop.run(after)
    assert Turn.objects.get(pk=after.turn_id).reason == "answered"
