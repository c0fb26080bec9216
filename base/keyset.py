"""Pages of a list by where the one before ended, so that each costs the same wherever it lies.

A cursor is opaque to whoever gets it: the values of the last row's key with a mark of the ordering that made it.
"""

import base64
import binascii
import datetime as dt
import hashlib
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThan, TupleLessThan

VERSION = 1
MOST_CHARACTERS = 2_000
MOST_NUMBER = 2**63 - 1


class BadCursor(ValueError):
    """A cursor that this list did not give."""


@dataclass(frozen=True, slots=True)
class Page:
    """Rows in their order; `cursor` leads to the next page and is empty on the last."""

    rows: list[Any]
    cursor: str


class Keyset:
    """An ordering by `columns`, the last of which is unique and none of which is null, all of them upwards or all
    downwards, as one comparison of rows needs it. A column is a name in a queryset, or an expression in SQL."""

    def __init__(self, columns: Mapping[str, type], *, downwards: bool = False) -> None:
        self._columns, self._downwards = tuple(columns), downwards
        self._readers = [_READERS[kind] for kind in columns.values()]
        self._mark = hashlib.sha256(repr((VERSION, self._columns, downwards)).encode()).hexdigest()[:6]

    def page(self, found: "QuerySet[Any, Any]", cursor: str | None, size: int) -> Page:
        """One page of a queryset. Raises BadCursor."""
        rows = list(self.after(found, cursor)[: size + 1])
        return Page(rows[:size], self.write(self._key(rows[size - 1])) if len(rows) > size else "")

    def after(self, found: "QuerySet[Any, Any]", cursor: str | None) -> "QuerySet[Any, Any]":
        """A queryset in this order, from behind the cursor on. Raises BadCursor."""
        sign = "-" if self._downwards else ""
        ordered = found.order_by(*(f"{sign}{column}" for column in self._columns))
        if not cursor:
            return ordered
        beyond = TupleLessThan if self._downwards else TupleGreaterThan
        return ordered.filter(beyond(Tuple(*map(F, self._columns)), self.read(cursor)))

    def condition(self, cursor: str | None) -> tuple[str, list[Any]]:
        """The same as a condition for SQL and its parameters. Raises BadCursor."""
        if not cursor:
            return "true", []
        places = ", ".join(["%s"] * len(self._columns))
        return f"({', '.join(self._columns)}) {'<' if self._downwards else '>'} ({places})", self.read(cursor)

    @property
    def order(self) -> str:
        """The columns for an ORDER BY."""
        return ", ".join(f"{column} {'DESC' if self._downwards else 'ASC'}" for column in self._columns)

    def write(self, values: Sequence[Any]) -> str:
        """The cursor behind the row that has this key."""
        texts = [value.isoformat() if isinstance(value, dt.datetime) else str(value) for value in values]
        return base64.urlsafe_b64encode(json.dumps([self._mark, *texts]).encode()).decode().rstrip("=")

    def read(self, cursor: str) -> list[Any]:
        """The key in a cursor of this ordering. Raises BadCursor."""
        try:
            mark, *texts = _unpacked(cursor)
            if mark != self._mark:
                raise BadCursor(cursor)
            return [read(text) for read, text in zip(self._readers, texts, strict=True)]
        except (ValueError, TypeError, OverflowError, AttributeError) as error:
            raise BadCursor(cursor) from error

    def _key(self, row: Any) -> list[Any]:
        return [row[name] if isinstance(row, Mapping) else getattr(row, name) for name in self._columns]


def _unpacked(cursor: str) -> list[Any]:
    if len(cursor) > MOST_CHARACTERS:
        raise BadCursor
    try:
        found = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, RecursionError) as error:
        raise BadCursor from error
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise BadCursor
    return found


def _moment(text: str) -> dt.datetime:
    at = dt.datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise BadCursor(text)
    return at.astimezone(dt.UTC)


def number(text: str) -> int:
    """A row's id where an address shows it as it is. Raises BadCursor."""
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= MOST_NUMBER):
        raise BadCursor(text)
    return int(text)


def _whole(text: str) -> int:
    value = int(text[:20])
    if abs(value) > MOST_NUMBER:
        raise BadCursor(text)
    return value


def _text(text: str) -> str:
    text.encode()  # half a surrogate pair is no text
    if "\x00" in text:
        raise BadCursor(text)
    return text


_READERS: dict[type, Callable[[str], Any]] = {dt.datetime: _moment, int: _whole, str: _text, uuid.UUID: uuid.UUID}
