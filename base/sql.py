"""SQL of our own on this thread's connection, in its transaction: for the paths that every turn takes.

The mapper's cursor makes itself anew for each statement, which costs half as much again as the statement.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.models.expressions import DatabaseDefault

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


def insert(made: models.Model) -> None:
    """Store a row just made, without asking the database for more than what it fills in itself."""
    values, filled = [], []
    for field in made._meta.concrete_fields:
        value = getattr(made, field.attname)
        if (value is None and field.primary_key) or isinstance(value, DatabaseDefault):
            filled.append(field)
        else:
            values.append((field.column, prepared(field, value)))
    columns, marks = ", ".join(f'"{name}"' for name, _ in values), ", ".join(["%s"] * len(values))
    given = ", ".join(f'"{field.column}"' for field in filled)
    statement = f'INSERT INTO "{made._meta.db_table}" ({columns}) VALUES ({marks}) RETURNING {given}'  # noqa: S608
    found = row(statement, [value for _, value in values])
    for field, value in zip(filled, found or (), strict=True):
        setattr(made, field.attname, value)
    made._state.adding, made._state.db = False, connection.alias


def prepared(field: Any, value: Any) -> Any:
    """A field's value as a statement takes it."""
    return field.get_db_prep_save(value.pk if isinstance(value, models.Model) else value, connection)


def _run(statement: str, values: Values) -> "psycopg.Cursor[Row]":
    """With one cursor for each connection, kept on it: every result is read before the next statement."""
    here = connections[DEFAULT_DB_ALIAS]
    if here.connection is None:
        here.ensure_connection()
    here.validate_no_broken_transaction()
    raw: Any = here.connection
    cursor: psycopg.Cursor[Row] | None = getattr(raw, "placet_cursor", None)
    if cursor is None:
        cursor = raw.placet_cursor = raw.cursor()
    with here.wrap_database_errors:
        return cursor.execute(statement, values)
