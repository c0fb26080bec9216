"""Lists for the model: at most 20 items and 16,000 characters, with a cursor and a hint for the rest."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Any

from ledger.errors import Refused

MOST_ITEMS, MOST_CHARACTERS = 20, 16_000
# What `next_cursor`, `hint` and the brackets around the items may need.
_ENVELOPE = 1_000


def page(rows: Sequence[dict[str, Any]], key: Callable[[dict[str, Any]], list[Any]], tool: str) -> dict[str, Any]:
    """As many rows as fit. `rows` holds one more than 20 where there are more; `key` makes the cursor."""
    items = fitting(rows[:MOST_ITEMS])
    if len(items) == len(rows):
        return {"items": items, "next_cursor": None, "hint": "This is the whole list."}
    cursor = write_cursor(key(items[-1]))
    return {
        "items": items,
        "next_cursor": cursor,
        "hint": f"There is more: call {tool} again with the same arguments and cursor '{cursor}'.",
    }


def fitting(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows from the first one on that fit into one result; at least one."""
    fit: list[dict[str, Any]] = []
    room = MOST_CHARACTERS - _ENVELOPE
    for row in rows:
        room -= len(json.dumps(row)) + 2
        if room < 0 and fit:
            break
        fit.append(row)
    return fit


def write_cursor(values: list[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def read_cursor(cursor: str | None, length: int) -> list[Any] | None:
    """The values in a cursor; Refused when it is not one that a list gave out."""
    if cursor is None:
        return None
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError) as exc:
        raise bad_cursor() from exc
    if not isinstance(values, list) or len(values) != length or not all(isinstance(v, str) for v in values):
        raise bad_cursor()
    return values


def bad_cursor() -> Refused:
    return Refused(
        "arguments",
        "cursor is not one from an earlier result. Call again with a next_cursor as given, or without.",
    )
