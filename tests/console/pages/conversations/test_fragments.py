"""Conversations as staff read them."""

import json
import uuid

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Message, ToolCall
from agents.turns.claims import Claimed
from approvals.models import Staff
from audit.models import Event

pytestmark = pytest.mark.django_db


def urls(conversation_id: uuid.UUID) -> list[str]:
    return [
        reverse("conversation", args=[conversation_id]),
        reverse("conversation-transcript", args=[conversation_id]),
    ]


def test_nobody_is_sent_to_sign_in(client: Client, turn: Claimed) -> None:
    for url in urls(turn.conversation_id):
        assert client.get(url)["Location"].startswith(reverse("sign-in"))


def test_wrong_methods(signed_in, agent: Staff, turn: Claimed) -> None:
    for url in urls(turn.conversation_id):
        assert signed_in(agent).post(url).status_code == 405


def test_agents_and_auditors_read(signed_in, agent: Staff, auditor: Staff, turn: Claimed) -> None:
    for staff in (agent, auditor):
        for url in urls(turn.conversation_id):
            response = signed_in(staff).get(url)
            assert response.status_code == 200
            assert b"hello" in response.content


def test_the_fragment_is_no_page(signed_in, agent: Staff, turn: Claimed) -> None:
    body = signed_in(agent).get(reverse("conversation-transcript", args=[turn.conversation_id])).content
    assert b"<html" not in body


def test_a_tool_call_stands_with_its_result_and_nothing_is_markup(signed_in, agent: Staff, turn: Claimed) -> None:
    block = {"type": "tool_use", "id": "toolu_1", "name": "get_order", "input": {"order_id": "<b>4471"}}
    message = Message.objects.create(
        conversation_id=turn.conversation_id, turn_id=turn.turn_id, author="assistant", step=1,
        text="<i>Refunded</i>", content=json.dumps([{"type": "text", "text": "x"}, block]),
    )  # fmt: skip
    ToolCall.objects.create(
        message=message, block=1, turn_id=turn.turn_id, tool_use_id="toolu_1", tool="get_order",
        decision="executed", result='{"status": "<u>delivered"}',
    )  # fmt: skip
    body = signed_in(agent).get(reverse("conversation", args=[turn.conversation_id])).content.decode()
    assert "Assistant claims" in body
    assert "get_order" in body
    assert "delivered" in body
    assert not any(markup in body for markup in ("<b>4471", "<u>delivered", "<i>Refunded"))


def test_reading_a_transcript_is_an_event(signed_in, agent: Staff, turn: Claimed) -> None:
    signed_in(agent).get(reverse("conversation", args=[turn.conversation_id]))
    event = Event.objects.get(kind="access", conversation_id=turn.conversation_id)
    assert (event.actor_id, event.customer_id) == (agent.username, "maya")


def test_an_unknown_conversation_is_not_found(signed_in, agent: Staff, turn: Claimed) -> None:
    assert signed_in(agent).get(reverse("conversation", args=[uuid.uuid4()])).status_code == 404
    url = reverse("conversation", args=[turn.conversation_id])
    assert signed_in(agent).get(url, {"before": "²"}).status_code == 404
