"""Public bug reports of systems like this one, as sequences: what each says must hold, holds here.

The cases speak of `refund` with a decimal amount on orders O1 and O2; here an amount of 900.00 is 9,000 minor units,
so that one approver is enough.
"""

import json
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, connections

from agents.chat.takeover import take_over
from agents.dispatch.dispatch import dispatch
from agents.dispatch.results import calls_of
from agents.execution.execute import execute, execute_due
from agents.models import Conversation, Message, ToolCall, Turn
from agents.turns import loop, replies
from agents.turns.claims import Claimed, LostTurn, StoppedTurn, claim
from approvals import errors
from approvals.decisions.deciding import decide
from approvals.models import Request, Staff
from ledger.access.staff import as_staff
from ledger.models import Account, Entry
from tests.support import cast
from tests.support.api import as_maya, with_token
from tests.support.cast import begin_turn, messages_for, next_turn, seen_by_staff
from tests.support.standin import Server

Json = dict[str, Any]
FILE = Path(settings.PLACET.shared) / "data" / "peers" / "cases.json"
CASES: dict[str, Json] = {case["id"][:3]: case for case in json.loads(FILE.read_text())} if FILE.exists() else {}
pytestmark = pytest.mark.skipif(not CASES, reason=f"the public cases are not in {FILE} (set PLACET_SHARED)")
END = {"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"}


def _fill() -> None:
    cast.fill_shop()
    for order in ("O1", "O2"):
        cast.make_order(order, "maya", 10_000, method="maya-visa")


@pytest.fixture
def orders(db: None) -> None:
    as_staff(_fill)


def _replies(case: str) -> list[Json]:
    """The case's model replies, with our tool's name and arguments."""
    found = [step["model_reply"] for step in CASES[case]["sequence"] if "model_reply" in step]
    return [{**reply, "content": [_block(block) for block in reply["content"]]} for reply in found]


def _block(block: Json) -> Json:
    if block.get("name") != "refund":
        return block
    minor = int(Decimal(block["input"]["amount"]) * 10)
    given = {"order_id": block["input"]["order_id"], "amount_minor": minor, "reason": "damaged"}
    return {**block, "name": "issue_refund", "input": given}


def _say(model: Server, *replies: Json, conversation: Conversation | None = None) -> Turn:
    """One message of Maya's, answered with these replies."""
    mark = uuid.uuid4().hex
    model.script(mark, *replies)
    claimed = next_turn(conversation, text=mark) if conversation else begin_turn(text=mark)
    loop.run(claimed)
    return Turn.objects.get(pk=claimed.turn_id)


def _paid(order_id: str) -> int:
    return 10_000 - seen_by_staff(lambda: Account.objects.get(order_id=order_id).balance_minor)


def _approve(request: Request, staff: Staff) -> None:
    decide(reference=request.pk, staff=staff, verdict="approve", digest=request.digest, shown={})


def test_p01_two_people_approve_at_once(committing_db: str, at_once: None) -> None:
    as_staff(_fill)
    people = [cast.make_staff(name, "agent") for name in ("ada", "ben")]
    turn = begin_turn()
    reply = Message.objects.create(
        conversation_id=turn.conversation_id, turn_id=turn.turn_id, author="assistant", step=1, stop_reason="tool_use",
        content=json.dumps(_replies("P01")[0]["content"]),
    )  # fmt: skip
    for call in calls_of(turn, reply):
        dispatch(call)
    request = Request.objects.get()

    def click(staff: Staff) -> int:
        try:
            answer = with_token(staff).post(
                f"/api/approvals/{request.pk}/decide/", {"verdict": "approve", "digest": request.digest}
            )
            execute_due()
            return int(answer.status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(click, people)) == [200, 409]
    execute_due()
    assert seen_by_staff(Entry.objects.count) == 1
    assert _paid("O1") == 9_000


def test_p03_new_words_never_approve(orders: None, model: Server) -> None:
    turn = _say(model, *_replies("P03"), END)
    _say(model, END, conversation=turn.conversation)
    execute_due()
    assert Request.objects.get().state == "pending"
    assert _paid("O1") == 0


def test_p05_what_was_denied_is_not_executed(orders: None, model: Server, at_once: None) -> None:
    turn = _say(model, *_replies("P05"), END)
    request, before = Request.objects.get(), ToolCall.objects.get()
    agent = cast.make_staff("ada", "agent")
    decide(reference=request.pk, staff=agent, verdict="deny", digest=request.digest, shown={}, reason_code="policy")
    assert [execute(request.pk), execute(request.pk)] == [False, False]
    assert ToolCall.objects.get().result == before.result
    assert "queued" in before.result
    later = _say(model, END, conversation=turn.conversation)
    notes = [m["content"] for m in messages_for(turn.conversation_id, later.number) if m["role"] == "system"]
    assert any(request.pk in note and "denied" in note for note in notes)
    with pytest.raises(errors.Conflict):
        _approve(request, cast.make_staff("ben", "agent"))
    assert _paid("O1") == 0


def test_p07_two_requests_of_one_reply_are_not_mixed_up(orders: None, model: Server, at_once: None) -> None:
    _say(model, *_replies("P07"), END)
    agent = cast.make_staff("ada", "agent")
    by_call = {request.tool_use_id: request for request in Request.objects.all()}
    _approve(by_call["t2"], agent)
    refused = by_call["t1"]
    decide(reference=refused.pk, staff=agent, verdict="deny", digest=refused.digest, shown={}, reason_code="policy")
    execute_due()
    assert (_paid("O1"), _paid("O2")) == (0, 9_500)


def test_p09_what_was_approved_executes_once_and_is_not_asked_again(orders: None, model: Server, at_once: None) -> None:
    _say(model, *_replies("P09"), END)
    request = Request.objects.get()
    _approve(request, cast.make_staff("ada", "agent"))
    assert [execute(request.pk), execute(request.pk)] == [True, False]
    assert Request.objects.get().state == "executed"
    assert _paid("O1") == 9_000


def test_p11_a_call_without_a_result_does_not_break_the_conversation(
    orders: None, model: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = uuid.uuid4().hex
    model.script(mark, *_replies("P11"), END)
    turn = begin_turn(text=mark)
    with monkeypatch.context() as dying:
        dying.setattr("agents.turns.loop.dispatch", _die)
        with pytest.raises(_Died):
            loop.run(turn)
    assert not ToolCall.objects.exists()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE agents_turn SET lease_until = now() - interval '1 second'")
    again = claim("another worker")
    assert again is not None
    loop.run(again)
    later = _say(model, END, conversation=Conversation.objects.get(pk=turn.conversation_id))
    sent = messages_for(turn.conversation_id, later.number)
    assert [m["role"] for m in sent] == ["user", "assistant", "user", "assistant", "user", "assistant"]
    assert [block["tool_use_id"] for block in sent[2]["content"]] == ["t1", "t2"]
    assert [block["type"] for block in sent[4]["content"]] == ["text"]


class _Died(BaseException):
    pass


def _die(*_: Any) -> None:
    raise _Died


def test_p13_ids_of_the_model_decide_nothing(orders: None, model: Server) -> None:
    repeated, reused = _replies("P13")
    turn = _say(model, repeated)
    assert (turn.reason, ToolCall.objects.count()) == ("cut", 0)
    kept = Message.objects.get(author="assistant")
    assert (kept.in_history, json.loads(kept.content)) == (False, repeated["content"])
    later = _say(model, reused, END, conversation=turn.conversation)
    assert later.reason == "answered"
    assert json.dumps(messages_for(turn.conversation_id, later.number)).count('"id": "t1"') == 1
    assert ToolCall.objects.count() == 1
    assert (_paid("O1"), _paid("O2")) == (0, 70)


def test_p15_a_call_that_was_cut_is_not_made(orders: None, model: Server) -> None:
    turn = _say(model, *_replies("P15"))
    assert turn.reason == "max_tokens"
    assert _paid("O1") == 0
    assert ToolCall.objects.get().result == "Not executed: the reply was cut."


def test_p17_bursts_and_a_person_who_takes_over(
    orders: None, model: Server, agent: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = next(step["user x3 in 200 ms"] for step in CASES["P17"]["sequence"] if "user x3 in 200 ms" in step)
    url = as_maya().post("/api/chat/conversations/").json()["id"]
    path = f"/api/chat/conversations/{url}/"
    turns = [as_maya().post(f"{path}messages/", {"client_id": text, "text": text}).json()["turn_id"] for text in texts]
    assert len(set(turns)) == 1
    running = claim("one")
    assert running is not None
    newer = as_maya().post(f"{path}messages/", {"client_id": "4", "text": "and?"}).json()["turn_id"]
    assert newer != turns[0]
    assert claim("two") is None
    ask = replies.ask_and_store

    def taken_over(*args: Any, **given: Any) -> Message:
        take_over(conversation_id=uuid.UUID(url), staff=agent)
        return ask(*args, **given)

    monkeypatch.setattr("agents.turns.loop.ask_and_store", taken_over)
    model.script("refund O1", END)
    loop.run(running)
    assert Turn.objects.get(pk=running.turn_id).reason == "taken_over"
    shown = as_maya().get(path).json()["messages"]
    assert "ok" not in [message["text"] for message in shown]


def test_p19_an_answer_waits_for_a_browser_that_left(orders: None, model: Server) -> None:
    started = as_maya().post("/api/chat/conversations/").json()["id"]
    path = f"/api/chat/conversations/{started}/"
    mark = uuid.uuid4().hex
    model.script(mark, *_replies("P19"))
    assert as_maya().post(f"{path}messages/", {"client_id": "1", "text": mark}).status_code == 202
    claimed = claim("a worker")
    assert claimed is not None
    loop.run(claimed)
    assert [message["text"] for message in as_maya().get(path).json()["messages"]] == [mark, "ok"]


def test_p21_of_two_workers_on_one_turn_one_writes(orders: None) -> None:
    first = begin_turn()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE agents_turn SET lease_until = now() - interval '1 second'")
    second = claim("another worker")
    assert second is not None
    reply = Message.objects.create(
        conversation_id=first.conversation_id, turn_id=first.turn_id, author="assistant", step=1,
        content=json.dumps(CASES["P21"]["sequence"][0]["model"]["model_reply"]["content"]),
    )  # fmt: skip
    given = {"order_id": "O1", "amount_minor": 200, "reason": "damaged"}

    def call(turn: Claimed) -> Any:
        return dispatch(_as_call(turn, reply, given))

    with pytest.raises((LostTurn, StoppedTurn)):
        call(first)
    assert _paid("O1") == 0
    assert call(second).decision == "executed"
    assert _paid("O1") == 200


def _as_call(turn: Claimed, reply: Message, given: Json) -> Any:
    return replace(calls_of(turn, reply)[0], name="issue_refund", input=given)


def test_every_case_has_its_test() -> None:
    tests: list[Callable[..., Any]] = [value for name, value in globals().items() if name.startswith("test_p")]
    assert {test.__name__[5:8].upper() for test in tests} == set(CASES)
