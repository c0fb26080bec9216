"""The conversation as the Messages API takes it, made from the stored rows: append-only and always valid."""

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from agents.models import Message
from base.sql import Row

Json = dict[str, Any]
# Of a conversation, up to and including a turn's number.
ROWS = """
    SELECT t.number, m.author, m.text, m.content, (
        SELECT json_agg(json_build_array(r.tool_use_id, r.result, r.is_error) ORDER BY r.block)
        FROM agents_toolcall r WHERE r.message_id = m.id) AS results, m.id
    FROM agents_message m JOIN agents_turn t ON t.id = m.turn_id
        JOIN agents_conversation c ON c.id = m.conversation_id
    WHERE m.conversation_id = %s AND t.number BETWEEN c.history_from AND %s AND m.in_history
      AND m.author IN ('opening', 'customer', 'assistant', 'operator')
    ORDER BY t.number, m.id
"""


def composed(rows: Iterable[Row]) -> list[Json]:
    """The history from its rows, in the order of turns: what the customer wrote, replies as they came, all the results
    of a reply in the one next message, and the operator's notes where the API allows them."""
    history: list[Json] = []
    notes: list[str] = []
    for _, turn in groupby(rows, key=lambda row: row[0]):
        for message in _of_turn(list(turn)):
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


def _of_turn(rows: list[Row]) -> Iterator[Json]:
    """One turn: the customer's texts together, the operator's notes, then replies each with its results."""
    texts = [row[2] for row in rows if row[1] == Message.Author.OPENING]
    texts += [row[2] for row in rows if row[1] == Message.Author.CUSTOMER]
    if texts:
        yield {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}
    for row in rows:
        if row[1] == Message.Author.OPERATOR:
            yield {"role": "system", "content": row[2]}
    for _, author, _, content, results, _ in rows:
        if author == Message.Author.ASSISTANT:
            yield {"role": "assistant", "content": json.loads(content)}
            if results:
                yield {"role": "user", "content": [_result(*result) for result in results]}


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
