"""The list of conversations, and one with its desk."""

import datetime as dt
import uuid
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.chat import conversations, takeover
from agents.chat.lists import PAGE
from agents.models import Conversation, HandOff, Message
from agents.turns.claims import Claimed
from approvals.models import Note, Request, Staff
from audit.models import Event
from tests.conftest import Propose
from tests.support.cast import begin_turn, make_staff

pytestmark = pytest.mark.django_db
DEEDS = ("take", "say", "hand-back", "close", "note")


def url(name: str, conversation_id: uuid.UUID) -> str:
    return reverse(f"conversation-{name}", args=[conversation_id])


def pages(conversation_id: uuid.UUID) -> list[str]:
    own = [reverse("conversation", args=[conversation_id]), url("live", conversation_id), url("desk", conversation_id)]
    return [reverse("conversations"), *own]


def test_nobody_is_sent_to_sign_in(client: Client, turn: Claimed) -> None:
    for each in pages(turn.conversation_id):
        assert client.get(each)["Location"].startswith(reverse("sign-in"))
    for deed in DEEDS:
        assert client.post(url(deed, turn.conversation_id))["Location"].startswith(reverse("sign-in"))
    assert Conversation.objects.get().state == "open"


def test_wrong_methods(signed_in: Any, agent: Staff, turn: Claimed) -> None:
    client = signed_in(agent)
    for each in pages(turn.conversation_id):
        assert client.post(each).status_code == 405
    for deed in DEEDS:
        assert client.get(url(deed, turn.conversation_id)).status_code == 405


@pytest.mark.parametrize("role", ["auditor", "admin"])
def test_who_only_reads(signed_in: Any, turn: Claimed, role: str) -> None:
    client = signed_in(make_staff("reader", role))
    for each in pages(turn.conversation_id):
        response = client.get(each)
        assert response.status_code == 200
        assert b'<button type="submit">Take over' not in response.content
    for deed in DEEDS:
        assert client.post(url(deed, turn.conversation_id), {"text": "x"}).status_code == 403
    assert Conversation.objects.get().state == "open"


def test_an_unknown_conversation_is_not_found(signed_in: Any, agent: Staff) -> None:
    client = signed_in(agent)
    for each in pages(uuid.uuid4())[1:]:
        assert client.get(each).status_code == 404
    for deed in DEEDS:
        assert client.post(url(deed, uuid.uuid4()), {"text": "x", "client_id": "1"}).status_code == 404


def test_take_answer_hand_back(signed_in: Any, agent: Staff, turn: Claimed) -> None:
    client, here = signed_in(agent), turn.conversation_id
    body = client.get(reverse("conversation", args=[here])).content.decode()
    assert "Whoever takes a conversation over cannot decide its requests any more." in body
    client.post(url("take", here))
    body = client.get(reverse("conversation", args=[here])).content.decode()
    assert "You have this conversation." in body
    client.post(url("say", here), {"client_id": "1", "text": " Hello\r\n<b>Maya</b> "})
    assert Message.objects.get(author="staff").text == "Hello\n<b>Maya</b>"
    body = client.get(reverse("conversation", args=[here])).content.decode()
    assert "Ada (ada), staff" in body
    assert "&lt;b&gt;Maya" in body
    client.post(url("hand-back", here))
    assert Conversation.objects.get(pk=here).state == "open"
    assert "You took part in this conversation" in client.get(url("desk", here)).content.decode()


@pytest.mark.parametrize(("text", "status"), [("", 422), ("   ", 422), ("x" * 8_001, 422), ("x" * 8_000, 200)])
def test_the_limits_of_what_is_said_are_the_customers(
    signed_in: Any, agent: Staff, turn: Claimed, text: str, status: int
) -> None:
    takeover.take_over(conversation_id=turn.conversation_id, staff=agent)
    given = {"client_id": "1", "text": text}
    response = signed_in(agent).post(url("say", turn.conversation_id), given, headers={"HX-Request": "true"})
    assert response.status_code == status
    assert Message.objects.filter(author="staff").count() == (status == 200)
    assert b"<html" not in response.content
    if len(text) > 8_000:
        assert text in response.content.decode()  # what was typed stays


def test_who_lost_it_keeps_what_was_typed_and_is_told(signed_in: Any, agent: Staff, lead: Staff, turn: Claimed) -> None:
    takeover.take_over(conversation_id=turn.conversation_id, staff=agent)
    takeover.take_over(conversation_id=turn.conversation_id, staff=lead, instead_of="ada")
    response = signed_in(agent).post(url("say", turn.conversation_id), {"client_id": "1", "text": "My long answer"})
    assert response.status_code == 409
    assert b"lena has this conversation" in response.content
    taken = signed_in(agent).post(url("take", turn.conversation_id), follow=True)
    assert b"lena has this conversation" in taken.content


def test_a_lead_takes_it_from_the_page_that_shows_who_has_it(
    signed_in: Any, agent: Staff, lead: Staff, turn: Claimed
) -> None:
    takeover.take_over(conversation_id=turn.conversation_id, staff=agent)
    client = signed_in(lead)
    body = client.get(url("desk", turn.conversation_id)).content.decode()
    assert "Take it from ada" in body
    client.post(url("take", turn.conversation_id), {"instead_of": "ada"})
    assert Conversation.objects.get(pk=turn.conversation_id).holder == lead


def test_ones_own_account_is_a_colleagues(signed_in: Any, turn: Claimed) -> None:
    client = signed_in(make_staff("mayas-account", "agent", customer_id="maya"))
    body = client.get(url("desk", turn.conversation_id)).content.decode()
    assert "This is your own customer account" in body
    assert "Take over" not in body


def test_a_page_that_has_seen_everything_is_left_alone(signed_in: Any, agent: Staff, turn: Claimed) -> None:
    client = signed_in(agent)
    context = client.get(reverse("conversation", args=[turn.conversation_id])).context
    live, desk = url("live", turn.conversation_id), url("desk", turn.conversation_id)
    assert client.get(live, {"seen": context["live"]}).status_code == 204
    assert client.get(desk, {"seen": context["desk_seal"]}).status_code == 204
    takeover.take_over(conversation_id=turn.conversation_id, staff=agent)
    assert b"You are now talking to Ada" in client.get(live, {"seen": context["live"]}).content
    assert b"You have this conversation" in client.get(desk, {"seen": context["desk_seal"]}).content


def test_following_a_conversation_is_one_reading(signed_in: Any, agent: Staff, turn: Claimed) -> None:
    for _ in range(3):
        for each in pages(turn.conversation_id):
            signed_in(agent).get(each)
    assert Event.objects.filter(kind="access", conversation_id=turn.conversation_id).count() == 1


def test_a_note_is_for_staff_alone_and_for_ever(signed_in: Any, agent: Staff, lead: Staff, turn: Claimed) -> None:
    client = signed_in(agent)
    client.post(url("note", turn.conversation_id), {"text": "Sounds like a <i>reseller</i>"})
    note = Note.objects.get()
    assert (note.conversation_id, note.customer_id, note.author) == (turn.conversation_id, "maya", agent)
    body = client.get(reverse("conversation", args=[turn.conversation_id])).content.decode()
    assert "Sounds like a &lt;i&gt;reseller" in body
    assert not Message.objects.filter(text__contains="reseller").exists()
    assert b"in a conversation" in signed_in(lead).get(reverse("customer", args=["maya"])).content
    client.post(url("note", turn.conversation_id), {"text": " "})
    assert Note.objects.count() == 1


def test_what_the_assistant_claims_and_what_waits(signed_in: Any, propose: Propose, agent: Staff) -> None:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    propose("hand_off_to_human", summary="They are <em>furious</em>")
    request = Request.objects.get()
    client = signed_in(agent)
    desk = client.get(url("desk", request.conversation_id)).content.decode()
    assert "Its claim, in its own words:" in desk
    assert "They are &lt;em&gt;furious" in desk
    assert request.pk in desk
    handed = client.get(reverse("conversations"), {"state": "handed_over"})
    assert b"The assistant" in handed.content
    assert b"furious" in handed.content
    assert 'class="count">1<' in handed.content.decode()  # in the menu
    takeover.take_over(conversation_id=request.conversation_id, staff=agent)
    after = client.get(reverse("conversations"), {"state": "handed_over"}).content.decode()
    assert "furious" not in after
    assert 'class="count">' not in after


def test_the_list_by_who_has_it(signed_in: Any, agent: Staff, shop: None) -> None:
    ids = [begin_turn(text=f"about {name}").conversation_id for name in ("one", "two", "three")]
    for each in ids[:2]:
        takeover.take_over(conversation_id=each, staff=agent)
    takeover.close(conversation_id=ids[0], staff=agent)
    client = signed_in(agent)

    def listed(tab: str) -> list[str]:
        body = client.get(reverse("conversations"), {"state": tab}).content.decode()
        return [name for name in ("one", "two", "three") if f"about {name}" in body]

    assert [listed(tab) for tab in ("closed", "with_staff", "open", "handed_over", "all")] == [
        ["one"], ["two"], ["three"], [], ["one", "two", "three"],
    ]  # fmt: skip
    assert client.get(reverse("conversations"), {"state": "x"}).status_code == 404


@pytest.mark.parametrize(
    ("query", "found"),
    [("maya", "hello"), ("MAYA@example", "hello"), ("noor", "paypal"), ("nobody", ""), ("\x00", ""), ("%", "")],
)
def test_search_by_customer(signed_in: Any, agent: Staff, turn: Claimed, query: str, found: str) -> None:
    begin_turn("noor", text="paypal")
    body = signed_in(agent).get(reverse("conversations"), {"q": query}).content.decode()
    assert [text for text in ("hello", "paypal") if f">{text}</a>" in body][:1] == [found][: bool(found)]
    assert found or "Nothing found" in body


def test_search_by_reference_and_id(signed_in: Any, agent: Staff, propose: Propose) -> None:
    done = propose("issue_refund", order_id="4472", amount_minor=100, reason="damaged").reference
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    person = propose("hand_off_to_human", summary="x").reference
    request = Request.objects.get()
    begin_turn("noor", text="paypal")
    for query in (request.pk, request.pk.lower(), done, person, str(request.conversation_id), f" {request.pk} "):
        body = signed_in(agent).get(reverse("conversations"), {"q": query}).content.decode()
        assert "hello" in body, query
        assert "paypal" not in body, query


def test_pages_of_conversations(signed_in: Any, agent: Staff, shop: None, django_assert_max_num_queries: Any) -> None:
    for number in range(PAGE + 1):
        begin_turn(text=f"question {number:03}")
    client = signed_in(agent)
    with django_assert_max_num_queries(14):
        first = client.get(reverse("conversations"))
    assert b"question 050" in first.content
    assert b"question 000" not in first.content
    second = client.get(reverse("conversations") + "?" + first.context["before"])
    assert b"question 000" in second.content
    assert second.context["before"] == ""


def test_pages_of_what_was_handed_over_begin_with_the_longest_waiting(signed_in: Any, agent: Staff, shop: None) -> None:
    for number in range(PAGE + 1):
        found = conversations.begin(customer_id="maya", session_id="s1")
        at = dt.datetime(2026, 1, 1, tzinfo=dt.UTC) - dt.timedelta(hours=number)
        HandOff.objects.create(conversation=found, reference=f"T-A{number:05}", summary=f"claim {number:03}", at=at)
    client = signed_in(agent)
    first = client.get(reverse("conversations"), {"state": "handed_over"})
    assert b"claim 050" in first.content
    second = client.get(reverse("conversations") + "?" + first.context["before"])
    shown = [number for number in range(PAGE + 1) if f"claim {number:03}".encode() in first.content + second.content]
    assert shown == list(range(PAGE + 1))
    assert second.context["before"] == ""


@pytest.mark.parametrize("before", ["x", "2026-01-01 x", "yesterday 00000000-0000-4000-8000-000000000000"])
def test_a_bad_place_in_the_list_is_not_found(signed_in: Any, agent: Staff, before: str) -> None:
    assert signed_in(agent).get(reverse("conversations"), {"before": before}).status_code == 404
