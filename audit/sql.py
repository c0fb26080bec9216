"""SQL of our own on this thread's connection, in its transaction: for the paths that every turn takes.

The mapper's cursor makes itself anew for each statement, which costs half as much again as the statement.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from django.db import connection

Row = tuple[Any, ...]
Values = Sequence[Any] | Mapping[str, Any]


def rows(statement: str, values: Values = ()) -> list[Row]:
    """What a statement gives. Errors are those of `django.db`."""
    return _run(statement, values).fetchall()


def row(statement: str, values: Values = ()) -> Row | None:
    """The first row that a statement gives, if it gives one."""
    return _run(statement, values).fetchone()


def run(statement: str, values: Values = ()) -> int:
    """Run a statement; how many rows it changed."""
    return _run(statement, values).rowcount


def _run(statement: str, values: Values) -> "psycopg.Cursor[Row]":
    """With one cursor for each connection, kept on it: every result is read before the next statement."""
    connection.ensure_connection()
    connection.validate_no_broken_transaction()
    raw: Any = connection.connection
    cursor: psycopg.Cursor[Row] | None = getattr(raw, "placet_cursor", None)
    if cursor is None:
        cursor = raw.placet_cursor = raw.cursor()
    with connection.wrap_database_errors:
        return cursor.execute(statement, values)
