"""The public tasks through the real loop: every step as stated, every end state reached, nothing else changed."""

import uuid

import pytest

from agents.chat import conversations
from agents.models import Conversation, ToolCall
from agents.turns import loop
from approvals.models import Staff
from tests.support.cast import next_turn
from tests.support.retail import (  # fmt: skip
    Json,
    approve_all,
    approvers,
    as_compared,
    id_of,
    needs_data,
    others,
    read,
    retail_shop,
    rows_of,
)
from tests.support.standin import Server

__all__ = ["approvers", "retail_shop"]
pytestmark = [needs_data, pytest.mark.usefixtures("retail_shop", "at_once")]
TASKS = read("replay.jsonl")


@pytest.mark.parametrize("task", TASKS, ids=[task["case"] for task in TASKS])
def test_a_task_ends_as_stated(task: Json, approvers: list[Staff], model: Server) -> None:
    customer_id = task["customer_id"]
    before, foreign = rows_of(customer_id), others(customer_id)
    conversation = conversations.begin(customer_id=customer_id, session_id="s1")
    for number, step in enumerate(task["steps"]):
        call = _ask(model, conversation, step)
        assert call.is_error is not step["accepted"], (number, step, call.result)
        approve_all(approvers)
    changed = {id_: row for id_, row in rows_of(customer_id).items() if row != before[id_]}
    assert changed == {id_of(row): as_compared(row) for row in task["end_state"]}
    assert others(customer_id) == foreign


def _ask(model: Server, conversation: Conversation, step: Json) -> ToolCall:
    """One customer message; the model answers with exactly this call."""
    mark = uuid.uuid4().hex
    model.call("/standin/script", {"match": mark, "replay": [{"tool": step["tool"], "input": step["input"]}]})
    loop.run(next_turn(conversation, text=mark))
    return ToolCall.objects.filter(turn__conversation=conversation).latest("id")
