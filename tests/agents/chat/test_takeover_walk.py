"""In whatever order people and workers act: the history is valid, with all the customer said and nothing of staff."""

import random
from collections.abc import Callable
from contextlib import suppress

import pytest

from agents.chat import conversations
from agents.chat.takeover import NotYours, close, hand_back, say, take_over
from agents.models import Conversation, Message, Turn
from agents.turns import loop
from agents.turns.claims import claim
from approvals.models import Staff
from standins.model.history import check_messages
from tests.support import cast
from tests.support.cast import messages_for
from tests.support.standin import Server

pytestmark = pytest.mark.usefixtures("shop")
STEPS = 40


class Walk:
    """One conversation, its customer, two agents and a lead, all of whom act when they like."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.found = conversations.begin(customer_id="maya", session_id="s1")
        names = (("ada", "agent"), ("bea", "agent"), ("lena", "lead"))
        self.staff = [cast.make_staff(name, role) for name, role in names]
        self.said: list[str] = []
        self.answered: list[str] = []

    def one(self) -> Staff:
        return self.chance.choice(self.staff)

    def customer_writes(self) -> None:
        text = f"customer {len(self.said)}"
        conversations.post_message(conversation_id=self.found.pk, session_id="s1", client_id=text, text=text)
        self.said.append(text)

    def worker_runs(self) -> None:
        if turn := claim("a worker"):
            assert Conversation.objects.get(pk=self.found.pk).state == "open"
            check_messages(messages_for(self.found.pk, turn.number))
            loop.run(turn)

    def worker_is_interrupted(self) -> None:
        """Claimed, taken over before it asks, and handed back or not; then the worker goes on."""
        if turn := claim("a worker"):
            self.person_takes_over()
            with suppress(NotYours):
                self.person_hands_back()
            loop.run(turn)
            assert Turn.objects.get(pk=turn.turn_id).reason == "taken_over"

    def person_takes_over(self) -> None:
        holder = Conversation.objects.get(pk=self.found.pk).holder
        take_over(conversation_id=self.found.pk, staff=self.one(), instead_of=holder.username if holder else "")

    def person_answers(self) -> None:
        text = f"staff {len(self.answered)}"
        say(conversation_id=self.found.pk, staff=self.one(), client_id=text, text=text)
        self.answered.append(text)

    def person_hands_back(self) -> None:
        hand_back(conversation_id=self.found.pk, staff=self.one())

    def act(self) -> None:
        writes, acts = [self.customer_writes] * 3, [self.worker_runs] * 2
        deeds: list[Callable[[], None]] = [
            *writes, *acts, self.worker_is_interrupted, self.person_takes_over, self.person_answers,
            self.person_hands_back,
        ]  # fmt: skip
        with suppress(NotYours):
            self.chance.choice(deeds)()


@pytest.mark.parametrize("seed", range(12))
def test_in_any_order_nothing_is_lost_and_nothing_leaks(model: Server, seed: int) -> None:
    walk = Walk(random.Random(seed))
    for _ in range(STEPS):
        walk.act()
    with suppress(NotYours):
        hand_back(conversation_id=walk.found.pk, staff=walk.staff[2])
    walk.customer_writes()
    walk.worker_runs()
    turns = Turn.objects.filter(conversation=walk.found).order_by("number")
    assert {turn.state for turn in turns} == {"finished"}
    history = messages_for(walk.found.pk, turns.count())
    blocks = [block for message in history if message["role"] == "user" for block in message["content"]]
    assert [block["text"] for block in blocks if block["type"] == "text"] == walk.said
    check_messages(history[:-1])
    whole = str(history)
    assert not any(text in whole for text in walk.answered)
    staff = Message.objects.filter(conversation=walk.found, author="staff").order_by("id")
    assert list(staff.values_list("text", flat=True)) == walk.answered
    with suppress(NotYours):
        take_over(conversation_id=walk.found.pk, staff=walk.staff[0])
        close(conversation_id=walk.found.pk, staff=walk.staff[0])
    assert Conversation.objects.get(pk=walk.found.pk).state == "closed"
