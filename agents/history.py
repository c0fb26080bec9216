"""The conversation as the Messages API takes it, made from the stored rows: append-only and always valid."""

import json
import uuid
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from django.db.models import F

from agents.models import Message, ToolCall

Json = dict[str, Any]
_PARTS = (Message.Author.OPENING, Message.Author.CUSTOMER, Message.Author.ASSISTANT, Message.Author.OPERATOR)


def messages_for(conversation_id: uuid.UUID, number: int) -> list[Json]:
    """The history up to and including turn `number`: what the customer wrote, replies as they came, all the
    results of a reply in the one next message, and the operator's notes where the API allows them."""
    rows = (
        Message.objects.filter(
            conversation_id=conversation_id,
            turn__number__lte=number,
            turn__number__gte=F("conversation__history_from"),
            in_history=True,
            author__in=_PARTS,
        )
        .order_by("turn__number", "id")
        .values_list("turn__number", "id", "author", "text", "content")
    )
    results = _results(conversation_id)
    history: list[Json] = []
    notes: list[str] = []
    for _, turn in groupby(rows, key=lambda row: row[0]):
        for message in _of_turn(list(turn), results):
            if message["role"] == "system":
                notes.append(message["content"])
                continue
            if message["role"] == "assistant":
                history += _note(notes)
                notes = []
            history.append(message)
    return history + _note(notes)


def _note(notes: list[str]) -> list[Json]:
    """One `system` message for all notes: it must directly follow the customer's and precede a reply, or be last."""
    return [{"role": "system", "content": "\n".join(notes)}] if notes else []


def _of_turn(rows: list[tuple[Any, ...]], results: dict[int, list[Json]]) -> Iterator[Json]:
    """One turn: the customer's texts together, the operator's notes, then replies each with its results."""
    texts = [row[3] for row in rows if row[2] == Message.Author.OPENING]
    texts += [row[3] for row in rows if row[2] == Message.Author.CUSTOMER]
    if texts:
        yield {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}
    for row in rows:
        if row[2] == Message.Author.OPERATOR:
            yield {"role": "system", "content": row[3]}
    for row in rows:
        if row[2] == Message.Author.ASSISTANT:
            yield {"role": "assistant", "content": json.loads(row[4])}
            if row[1] in results:
                yield {"role": "user", "content": results[row[1]]}


def _results(conversation_id: uuid.UUID) -> dict[int, list[Json]]:
    """The tool results of each reply, in the order of its calls."""
    calls = (
        ToolCall.objects.filter(turn__conversation_id=conversation_id)
        .order_by("message_id", "block")
        .values_list("message_id", "tool_use_id", "result", "is_error")
    )
    grouped: dict[int, list[Json]] = {}
    for message_id, tool_use_id, result, is_error in calls:
        grouped.setdefault(message_id, []).append(_result(tool_use_id, result, is_error))
    return grouped


def _result(tool_use_id: str, result: str, is_error: bool) -> Json:
    block: Json = {"type": "tool_result", "tool_use_id": tool_use_id, "content": result}
    return block | ({"is_error": True} if is_error else {})


def tool_uses(content: Iterable[Any]) -> list[tuple[int, Json]]:
    """The `tool_use` blocks of a reply with their positions, recognised by `type` alone."""
    return [
        (position, block)
        for position, block in enumerate(content)
        if isinstance(block, dict) and block.get("type") == "tool_use"
    ]


def text_of(content: Iterable[Any]) -> str:
    """What people read of a reply: its text blocks."""
    texts = [b.get("text") for b in content if isinstance(b, dict) and b.get("type") == "text"]
    return "\n\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())
