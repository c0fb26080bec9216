"""Who runs which turn: the order of claims is fair between customers and strict within a conversation."""

import uuid

import pytest

from agents.chat import conversations
from agents.models import Conversation, Turn
from agents.turns.claims import claim, hand_back

pytestmark = pytest.mark.usefixtures("shop")


def _write(customer_id: str, conversation: Conversation | None = None) -> Conversation:
    conversation = conversation or conversations.begin(customer_id=customer_id, session_id="s1")
    conversations.post_message(
        conversation_id=conversation.pk, session_id="s1", client_id=uuid.uuid4().hex, text="hello"
    )
    return conversation


def _claimed(number: int) -> list[str]:
    claims = [claim("tests") for _ in range(number)]
    return [claimed.customer_id for claimed in claims if claimed]


def test_a_flood_does_not_delay_who_comes_after_it() -> None:
    for _ in range(20):
        _write("maya")
    for customer_id in ("noor", "lars", "noor"):
        _write(customer_id)
    assert _claimed(6) == ["maya", "noor", "lars", "maya", "noor", "maya"]


def test_equals_are_served_in_the_order_in_which_they_wrote() -> None:
    for customer_id in ("noor", "maya", "lars"):
        _write(customer_id)
    Turn.objects.filter(customer_id="lars").update(claimable_at="2026-01-01T00:00:00Z")
    assert _claimed(3)[0] == "lars"


def test_a_conversation_runs_one_turn_at_a_time_and_messages_wait_for_the_next() -> None:
    conversation = _write("maya")
    running = claim("tests")
    _write("maya", conversation)
    _write("maya", conversation)
    assert running is not None
    assert claim("tests") is None
    assert list(Turn.objects.order_by("number").values_list("state", flat=True)) == ["running", "queued"]


def test_a_turn_without_an_owner_goes_before_new_ones_and_keeps_its_number() -> None:
    _write("maya")
    first = claim("one")
    assert first is not None
    _write("noor")
    hand_back(first, seconds=0)
    again = claim("two")
    assert again is not None
    assert (again.turn_id, again.fence, again.attempts) == (first.turn_id, first.fence + 1, 2)


def test_a_lease_that_has_run_out_is_claimed_by_another_and_one_that_holds_is_not() -> None:
    _write("maya")
    assert claim("one") is not None
    assert claim("two") is None
    Turn.objects.update(lease_until="2026-01-01T00:00:00Z")
    taken = claim("two")
    assert taken is not None
    assert taken.fence == 2
