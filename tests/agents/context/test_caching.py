"""A long conversation re-reads what it has said from the provider's cache instead of paying for it again."""

import itertools
from typing import Any

import pytest

from agents.models import Conversation
from agents.turns import loop, replies
from agents.turns.model import ask
from agents.turns.prices import Usage, cost_microcents
from tests.support.cast import begin_turn, next_turn
from tests.support.standin import Server

pytestmark = pytest.mark.usefixtures("shop")


@pytest.fixture
def usages(monkeypatch: pytest.MonkeyPatch) -> list[Usage]:
    """What the stand-in counts for each model call."""
    seen: list[Usage] = []

    def asked(*args: Any, **options: Any) -> Any:
        reply = ask(*args, **options)
        seen.append(reply.usage)
        return reply

    monkeypatch.setattr(replies, "ask", asked)
    return seen


def test_each_call_reads_the_whole_of_the_one_before_from_the_cache(model: Server, usages: list[Usage]) -> None:
    turn = begin_turn(text="Where is my order 4471?")
    loop.run(turn)
    conversation = Conversation.objects.get(pk=turn.conversation_id)
    for words in ("And where is 4472?", "What have I ordered?", "Where is my order 4473?", "Thank you!"):
        loop.run(next_turn(conversation, text=words))
    assert len(usages) >= 8
    for before, now in itertools.pairwise(usages):
        assert now.read == before.input_total
        assert now.input == 0
        assert now.write_5m == now.input_total - before.input_total


def test_the_cache_makes_a_long_conversation_cheap(model: Server, usages: list[Usage]) -> None:
    turn = begin_turn(text="What have I ordered?")
    loop.run(turn)
    for _ in range(5):
        loop.run(next_turn(Conversation.objects.get(pk=turn.conversation_id), text="Where is my order 4471?"))
    paid = sum(cost_microcents("claude-opus-5-5", usage) for usage in usages)
    uncached = [Usage(input=usage.input_total, output=usage.output) for usage in usages]
    assert paid < 0.5 * sum(cost_microcents("claude-opus-5-5", usage) for usage in uncached)


def test_another_conversation_reads_system_and_tools_of_the_same_definition(model: Server, usages: list[Usage]) -> None:
    for words in ("Where is my order 4471?", "What have I ordered?"):
        loop.run(begin_turn(text=words))
    first, second = usages[0], usages[len(usages) // 2]
    assert first.read == 0
    assert 0.8 * second.input_total < second.read < second.input_total
