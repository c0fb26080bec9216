"""Requests read and changed in one statement each: for what every decision and every execution does."""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from approvals.models import Request
from base import sql
from base.locks import lock_of_customer

_FIELDS = Request._meta.concrete_fields
_BY_NAME = {field.name: field for field in _FIELDS}
_NAMES = tuple(field.attname for field in _FIELDS)
_COLUMNS = ", ".join(f'"{field.column}"' for field in _FIELDS)
_LOCK_CUSTOMER = f"SELECT {lock_of_customer('customer_id')} FROM approvals_request WHERE reference = %s"  # noqa: S608
_LOCK = f"SELECT {_COLUMNS} FROM approvals_request WHERE reference = %s FOR UPDATE"  # noqa: S608 - our own names


def lock(reference: str) -> Request | None:
    """The request under its customer's lock and its own, if there is one. Two statements: the second sees what was
    committed while the first waited."""
    if sql.row(_LOCK_CUSTOMER, [reference]) is None:
        return None
    row = sql.row(_LOCK, [reference])
    return _read(row) if row else None


def change(request: Request, expected: Sequence[str], changes: dict[str, Any]) -> bool:
    """Change the revision at hand if its state is one of those expected, and read it anew; whether it was."""
    fields = [(_BY_NAME[name], value) for name, value in changes.items()]
    columns = ", ".join(f'"{field.column}" = %s' for field, _ in fields)
    values = [sql.prepared(field, value) for field, value in fields]
    row = sql.row(
        f"UPDATE approvals_request SET {columns} WHERE reference = %s AND revision = %s AND state = ANY(%s)"  # noqa: S608
        f" RETURNING {_COLUMNS}",
        [*values, request.reference, request.revision, [str(state) for state in expected]],
    )
    if row is None:
        request.refresh_from_db()
        return False
    request.__dict__.update({name: value for name, value in _read(row).__dict__.items() if name != "_state"})
    request._state.fields_cache.clear()
    return True


def _read(row: sql.Row) -> Request:
    values = [
        field.from_db_value(value, None, connection) if hasattr(field, "from_db_value") else value
        for field, value in zip(_FIELDS, row, strict=True)
    ]
    return Request.from_db(connection.alias, _NAMES, values)
