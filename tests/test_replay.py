"""The public tasks through the real loop: every step as stated, every end state reached, nothing else changed."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from agents import loop
from agents.execute import execute
from agents.models import Conversation, ToolCall
from approvals.decisions import decide
from approvals.models import Request, Staff
from tests import cast, retail
from tests.retail import Json, needs_data, others, read, retail_shop, rows_of, undone
from tests.standin import Server

__all__ = ["retail_shop"]
pytestmark = [needs_data, pytest.mark.usefixtures("retail_shop", "at_once")]
TASKS = read("replay.jsonl")


@pytest.fixture
def approvers(retail_shop: None) -> Iterator[list[Staff]]:
    """An agent and a lead, in a transaction that is rolled back."""
    with undone():
        yield [cast.make_staff("lena", "lead"), cast.make_staff("ada", "agent")]


@pytest.mark.parametrize("task", TASKS, ids=[task["case"] for task in TASKS])
def test_a_task_ends_as_stated(task: Json, approvers: list[Staff], model: Server) -> None:
    customer_id = task["customer_id"]
    before, foreign = rows_of(customer_id), others(customer_id)
    claimed = cast.begin_turn(customer_id, text="hello")
    conversation = Conversation.objects.get(pk=claimed.conversation_id)
    loop.run(claimed)
    for number, step in enumerate(task["steps"]):
        call = _ask(model, conversation, step)
        assert call.is_error is not step["accepted"], (number, step, call.result)
        _approve_all(approvers)
    after = rows_of(customer_id)
    changed = {id_: row for id_, row in after.items() if row != before[id_]}
    assert changed == {_id(row): retail.as_compared(row) for row in task["end_state"]}
    assert others(customer_id) == foreign


def _ask(model: Server, conversation: Conversation, step: Json) -> ToolCall:
    """One customer message; the model answers with exactly this call."""
    mark = uuid.uuid4().hex
    model.call("/standin/script", {"match": mark, "replay": [{"tool": step["tool"], "input": step["input"]}]})
    loop.run(cast.next_turn(conversation, text=mark))
    return ToolCall.objects.filter(turn__conversation=conversation).latest("id")


def _approve_all(approvers: list[Staff]) -> None:
    """Whatever waits is approved by as many people as it needs, and executed."""
    for request in Request.objects.filter(state="pending"):
        for staff in approvers[: request.approvals_needed]:
            shown: dict[str, Any] = {}
            decide(reference=request.reference, staff=staff, verdict="approve", digest=request.digest, shown=shown)
        assert execute(request.reference)
        request.refresh_from_db()
        assert request.state == "executed", request.ended_reason


def _id(row: Json) -> str:
    return str(row.get("order_id", row["customer_id"]))
