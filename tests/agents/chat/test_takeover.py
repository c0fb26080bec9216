"""A person takes over: the model falls silent at once, nothing is lost, and staff's words never reach it."""

import json
import uuid
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from agents.chat import conversations, stream, takeover
from agents.chat.takeover import NotYours, OtherText, close, hand_back, name_of, say, take_over
from agents.chat.transcript import show_message, visible
from agents.dispatch.dispatch import dispatch
from agents.models import Conversation, HandOff, Message, ToolCall, Turn
from agents.turns import loop, steering
from agents.turns import model as model_client
from agents.turns.claims import claim, claimable
from approvals import errors
from approvals.decisions.deciding import decide
from approvals.models import Participant, Request, Staff
from audit.models import Event
from standins.model.history import check_messages
from tests.conftest import Propose
from tests.support import cast
from tests.support.cast import begin_turn, messages_for, next_turn
from tests.support.standin import Server

pytestmark = pytest.mark.usefixtures("shop")
SECRET = "Between us: the goodwill budget is 40 pounds."
OK = {"content": [{"type": "text", "text": "There you are."}], "stop_reason": "end_turn"}
REFUND = {"calls": [{"tool": "issue_refund", "input": {"order_id": "4471", "amount_minor": 1_000, "reason": "late"}}]}


def begun() -> Conversation:
    return conversations.begin(customer_id="maya", session_id="s1")


def post(found: Conversation, text: str) -> conversations.Posted:
    return conversations.post_message(conversation_id=found.pk, session_id="s1", client_id=uuid.uuid4().hex, text=text)


def said(found: Conversation, author: str) -> list[str]:
    return list(visible(found.pk).filter(author=author).values_list("text", flat=True))


def test_the_customer_is_told_who_speaks(agent: Staff) -> None:
    found = begun()
    taken = take_over(conversation_id=found.pk, staff=agent)
    assert (taken.state, taken.holder) == ("with_staff", agent)
    assert said(found, "notice") == ["You are now talking to Ada from our team."]
    message = say(conversation_id=found.pk, staff=agent, client_id="1", text="Hello, <b>Maya</b>")
    assert show_message(message) == {
        "id": str(message.pk), "author": "staff", "text": "Hello, <b>Maya</b>", "name": "Ada",
        "created_at": message.created_at.isoformat(),
    }  # fmt: skip
    hand_back(conversation_id=found.pk, staff=agent)
    assert said(found, "notice")[-1].startswith("Ada has left this conversation.")
    decisions = Event.objects.filter(conversation_id=found.pk, kind="turn").order_by("id")
    assert [(e.decision, e.actor_id) for e in decisions] == [
        ("taken_over", "ada"), ("staff_wrote", "ada"), ("handed_back", "ada"),
    ]  # fmt: skip


def test_a_first_name_is_what_customers_see() -> None:
    assert name_of(Staff(username="a.lovelace", first_name="ada")) == "Ada"
    assert name_of(Staff(username="a.lovelace")) == "A.lovelace"


def test_of_two_who_take_over_one_is_told_who_has_it(agent: Staff) -> None:
    other = cast.make_staff("bea", "agent")
    found = begun()
    take_over(conversation_id=found.pk, staff=agent)
    with pytest.raises(NotYours, match="ada has this conversation, since"):
        take_over(conversation_id=found.pk, staff=other)
    take_over(conversation_id=found.pk, staff=agent)  # again is nothing new
    assert len(said(found, "notice")) == 1
    assert not Participant.objects.filter(staff=other).exists()


def test_a_lead_takes_it_from_the_agent_whom_the_page_showed(agent: Staff, lead: Staff) -> None:
    found = begun()
    take_over(conversation_id=found.pk, staff=agent)
    with pytest.raises(NotYours, match="ada has"):
        take_over(conversation_id=found.pk, staff=lead)  # the page showed nobody
    take_over(conversation_id=found.pk, staff=lead, instead_of="ada")
    assert said(found, "notice")[-1] == "You are now talking to Lena from our team."
    with pytest.raises(NotYours, match="lena has"):
        say(conversation_id=found.pk, staff=agent, client_id="1", text="too late")
    with pytest.raises(NotYours, match="lena has"):
        take_over(conversation_id=found.pk, staff=agent, instead_of="lena")
    with pytest.raises(NotYours):
        hand_back(conversation_id=found.pk, staff=agent)


@pytest.mark.parametrize("deed", [take_over, hand_back, close])
def test_who_may_not(deed: Any, auditor: Staff) -> None:
    found = begun()
    own = cast.make_staff("mayas-account", "agent", customer_id="maya")
    idle = cast.make_staff("idle", "agent", is_active=False)
    for staff, code in ((auditor, "role"), (cast.make_staff("root", "admin"), "role"), (own, "self"), (idle, "role")):
        with pytest.raises(errors.Forbidden) as caught:
            deed(conversation_id=found.pk, staff=staff)
        assert caught.value.code == code
    with pytest.raises(errors.NotFound):
        deed(conversation_id=uuid.uuid4(), staff=cast.make_staff("bea", "agent"))
    assert Conversation.objects.get(pk=found.pk).state == "open"


def test_what_staff_say_is_said_once(agent: Staff) -> None:
    found = begun()
    take_over(conversation_id=found.pk, staff=agent)
    first = say(conversation_id=found.pk, staff=agent, client_id="1", text="Hello")
    close(conversation_id=found.pk, staff=agent)
    assert say(conversation_id=found.pk, staff=agent, client_id="1", text="Hello").pk == first.pk
    with pytest.raises(OtherText):
        say(conversation_id=found.pk, staff=agent, client_id="1", text="Goodbye")
    with pytest.raises(NotYours, match="is closed"):
        say(conversation_id=found.pk, staff=agent, client_id="2", text="Goodbye")
    assert said(found, "staff") == ["Hello"]


def test_a_closed_conversation_takes_nothing_more(agent: Staff) -> None:
    found = begun()
    take_over(conversation_id=found.pk, staff=agent)
    close(conversation_id=found.pk, staff=agent)
    with pytest.raises(conversations.ConversationClosed):
        post(found, "hello?")
    with pytest.raises(NotYours, match="closed"):
        take_over(conversation_id=found.pk, staff=agent)


def test_what_customers_write_meanwhile_runs_no_turn_and_is_read_later(model: Server, agent: Staff) -> None:
    first = begin_turn(text="where is 4471?")
    loop.run(first)
    found = Conversation.objects.get(pk=first.conversation_id)
    take_over(conversation_id=found.pk, staff=agent)
    one, two = post(found, "are you a person?"), post(found, "it came damaged, by the way")
    assert one.turn_id == two.turn_id
    turn = Turn.objects.get(pk=one.turn_id)
    assert (turn.state, turn.reason, turn.attempts) == ("finished", "taken_over", 0)
    assert claimable() == 0
    assert claim("a worker") is None
    say(conversation_id=found.pk, staff=agent, client_id="1", text=SECRET)
    hand_back(conversation_id=found.pk, staff=agent)
    assert claim("a worker") is None  # the model goes on at the customer's next message
    after = next_turn(found, text="and what now?")
    loop.run(after)
    assert Turn.objects.get(pk=after.turn_id).reason == "answered"
    history = messages_for(found.pk, after.number)
    check_messages(history[:-1])
    texts = [block["text"] for m in history if m["role"] == "user" for block in m["content"] if block["type"] == "text"]
    assert texts[-3:] == ["are you a person?", "it came damaged, by the way", "and what now?"]
    notes = [m["content"] for m in history if m["role"] == "system"]
    assert len(notes) == 1
    assert notes[0].startswith("A person of the shop's staff answered the customer in this conversation between 20")
    sent = json.dumps([row["body"] for row in model.received("and what now?")])
    assert sent
    for words in (SECRET, "goodwill", "Ada", "ada"):
        assert words not in sent


def test_a_person_who_said_nothing_is_not_told_of(agent: Staff) -> None:
    found = begun()
    take_over(conversation_id=found.pk, staff=agent)
    hand_back(conversation_id=found.pk, staff=agent)
    assert not Message.objects.filter(conversation=found, author="operator").exists()


def test_a_turn_that_waits_in_the_queue_never_runs(agent: Staff) -> None:
    found = begun()
    posted = post(found, "hello")
    take_over(conversation_id=found.pk, staff=agent)
    assert Turn.objects.get(pk=posted.turn_id).reason == "taken_over"
    hand_back(conversation_id=found.pk, staff=agent)
    assert claim("a worker") is None


def test_taken_over_while_the_model_thinks_nothing_of_its_reply_happens(
    model: Server, agent: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even when it was handed back again before the reply came."""
    ask = model_client.ask

    def slow(*given: Any, **more: Any) -> Any:
        reply = ask(*given, **more)
        take_over(conversation_id=turn.conversation_id, staff=agent)
        hand_back(conversation_id=turn.conversation_id, staff=agent)
        return reply

    monkeypatch.setattr("agents.turns.replies.ask", slow)
    model.script("think hard", REFUND, OK)
    turn = begin_turn(text="think hard")
    loop.run(turn)
    row = Turn.objects.get(pk=turn.turn_id)
    assert (row.reason, row.steps) == ("taken_over", 1)
    assert row.cost_microcents > 0  # what was spent counts
    assert not ToolCall.objects.filter(turn_id=turn.turn_id).exists()
    late = Message.objects.get(turn_id=turn.turn_id, author="assistant")
    assert (late.in_history, late.text, late.stop_reason) == (False, "", "taken_over")
    monkeypatch.undo()
    after = next_turn(Conversation.objects.get(pk=turn.conversation_id), text="still there?")
    check_messages(messages_for(turn.conversation_id, after.number))


def test_taken_over_between_two_calls_the_rest_is_answered_as_cut(
    model: Server, agent: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = dispatch

    def then_take_over(call: Any) -> Any:
        outcome = real(call)
        take_over(conversation_id=turn.conversation_id, staff=agent)
        return outcome

    monkeypatch.setattr("agents.turns.loop.dispatch", then_take_over)
    model.script("two at once", {"calls": [*REFUND["calls"], *REFUND["calls"]]}, OK)
    turn = begin_turn(text="two at once")
    loop.run(turn)
    assert Turn.objects.get(pk=turn.turn_id).reason == "taken_over"
    results = ToolCall.objects.filter(turn_id=turn.turn_id).order_by("block").values_list("decision", "result")
    assert [decision for decision, _ in results] == ["executed", "refused"]
    hand_back(conversation_id=turn.conversation_id, staff=agent)
    after = next_turn(Conversation.objects.get(pk=turn.conversation_id), text="and?")
    check_messages(messages_for(turn.conversation_id, after.number))


def test_a_silenced_turn_whose_worker_died_is_only_ended(model: Server, agent: Staff) -> None:
    turn = begin_turn(text="hello there")
    take_over(conversation_id=turn.conversation_id, staff=agent)
    hand_back(conversation_id=turn.conversation_id, staff=agent)
    Turn.objects.filter(pk=turn.turn_id).update(lease_until=None)
    again = claim("the sweeper's worker")
    assert again is not None
    loop.run(again)
    assert Turn.objects.get(pk=turn.turn_id).reason == "taken_over"
    assert model.received("hello there") == []


def test_a_failed_turn_is_not_tried_again_under_a_person(agent: Staff) -> None:
    turn = begin_turn()
    steering.end_turn(turn.turn_id)
    take_over(conversation_id=turn.conversation_id, staff=agent)
    with pytest.raises(steering.CannotSteer, match="Staff have this conversation"):
        steering.retry_turn(turn.turn_id)


def test_what_a_silenced_turn_says_is_not_heard(
    turn: Any, django_capture_on_commit_callbacks: Any, agent: Staff
) -> None:
    shown = {"turn_id": str(turn.turn_id), "step": 1, "text": "I would"}
    stream.publish(turn.conversation_id, ("text.delta", shown))
    before = stream.last_event_id(turn.conversation_id)
    with django_capture_on_commit_callbacks(execute=True):
        take_over(conversation_id=turn.conversation_id, staff=agent)
    told = stream.last_event_id(turn.conversation_id)
    assert told != before
    stream.publish(turn.conversation_id, ("text.delta", shown))
    stream.publish(turn.conversation_id, ("activity", {"turn_id": str(turn.turn_id), "tool": "get_order"}))
    assert stream.last_event_id(turn.conversation_id) == told
    stream.publish(turn.conversation_id, ("turn.finished", {"turn_id": str(turn.turn_id)}))
    assert stream.last_event_id(turn.conversation_id) != told


def test_who_took_part_does_not_decide(propose: Propose, agent: Staff, lead: Staff) -> None:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    request = Request.objects.get()
    take_over(conversation_id=request.conversation_id, staff=agent)
    hand_back(conversation_id=request.conversation_id, staff=agent)
    with pytest.raises(errors.Forbidden, match="took part"):
        decide(reference=request.pk, staff=agent, verdict="approve", digest=request.digest, shown={})
    decide(reference=request.pk, staff=lead, verdict="approve", digest=request.digest, shown={})


def test_a_hand_off_waits_with_its_summary_until_somebody_comes(propose: Propose, agent: Staff) -> None:
    first = propose("hand_off_to_human", summary="They want £500 and shouted")
    again = propose("hand_off_to_human", summary="Still shouting")
    assert first.reference == again.reference
    waiting = HandOff.objects.get()
    assert (waiting.summary, waiting.ended_at) == ("They want £500 and shouted", None)
    take_over(conversation_id=waiting.conversation_id, staff=agent)
    waiting.refresh_from_db()
    assert waiting.ended_by == agent
    hand_back(conversation_id=waiting.conversation_id, staff=agent)
    Turn.objects.update(silenced=False)
    assert propose("hand_off_to_human", summary="Once more").reference != first.reference


def refused(statement: str, *values: Any) -> None:
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


def test_the_database_refuses_what_cannot_be(agent: Staff) -> None:
    found = begun()
    refused("UPDATE agents_conversation SET state = 'with_staff' WHERE id = %s", found.pk)
    refused("UPDATE agents_conversation SET holder_id = %s, held_since = now() WHERE id = %s", agent.pk, found.pk)
    take_over(conversation_id=found.pk, staff=agent)
    message = say(conversation_id=found.pk, staff=agent, client_id="1", text="Hello")
    refused("UPDATE agents_message SET text = 'Refunded' WHERE id = %s", message.pk)
    refused("UPDATE agents_message SET in_history = true WHERE id = %s", message.pk)
    for fields in ({"author": "staff"}, {"author": "notice", "said_by": "Ada"}, {"author": "customer", "staff": agent}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Message.objects.create(conversation=found, text="x", **fields)
    HandOff.objects.create(conversation=found, reference="T-AAAAAA", summary="x")
    with pytest.raises(IntegrityError), transaction.atomic():
        HandOff.objects.create(conversation=found, reference="T-BBBBBB", summary="x")
    refused("UPDATE agents_handoff SET ended_at = now()")


@pytest.mark.parametrize("where", ["notice", "_record", "keep_part"])
def test_a_crash_in_the_middle_changes_nothing(agent: Staff, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    found = begun()
    posted = post(found, "hello")

    def crash(*_: Any, **__: Any) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr(takeover, where, crash)
    with pytest.raises(RuntimeError):
        take_over(conversation_id=found.pk, staff=agent)
    assert Conversation.objects.get(pk=found.pk).state == "open"
    assert Turn.objects.get(pk=posted.turn_id).state == "queued"
    assert not Participant.objects.exists()
