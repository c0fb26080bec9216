"""Lists for the model: at most 20 items and 16,000 characters, with a cursor and a hint for the rest."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from base.keyset import BadCursor
from ledger.errors import Refused

MOST_ITEMS, MOST_CHARACTERS = 20, 16_000
# What `next_cursor`, `hint` and the brackets around the items may need.
_ENVELOPE = 1_000


def page(rows: Sequence[dict[str, Any]], cursor_of: Callable[[dict[str, Any]], str], tool: str) -> dict[str, Any]:
    """As many rows as fit. `rows` holds one more than 20 where there are more; `cursor_of` a row leads on from it."""
    items = fitting(rows[:MOST_ITEMS])
    if len(items) == len(rows):
        return {"items": items, "next_cursor": None, "hint": "This is the whole list."}
    cursor = cursor_of(items[-1])
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


@contextmanager
def cursor_checked() -> Iterator[None]:
    """A cursor that no list gave out is refused with what to do instead."""
    try:
        yield
    except BadCursor as exc:
        raise Refused(
            "arguments",
            "cursor is not one from an earlier result. Call again with a next_cursor as given, or without.",
        ) from exc
