"""Putting on a database role for the length of one piece of work.

By itself the application's role sees no customer's row. Row-level security shows `placet_customer` the
rows of the customer named in the transaction, and `placet_staff` all. Agents use the customer's scope only.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import connection, transaction
from django.db.models import QuerySet

from base import sql

T = TypeVar("T")
# A customer's statements find rows by key: to plan them anew for each key takes longer than running them.
_ON = """
    SELECT set_config('role', %s, true), set_config('placet.customer_id', %s, true),
           set_config('plan_cache_mode', %s, true)
"""
_PLANS = {"placet_customer": "force_generic_plan"}


class ScopeError(RuntimeError):
    """A scope was used in a way that could leak rows: nested, or with a result not yet read."""


@contextmanager
def _worn(role: str, customer_id: str) -> Iterator[None]:
    """Role and customer for this transaction; a rollback takes them off by itself."""
    if getattr(connection, "placet_scope", None):
        raise ScopeError("A scope is on already.")
    sql.run(_ON, [role, customer_id, _PLANS.get(role, "auto")])
    connection.placet_scope = role  # type: ignore[attr-defined]
    try:
        yield
        sql.run(_ON, ["none", "", "auto"])
    finally:
        connection.placet_scope = None  # type: ignore[attr-defined]


def in_scope(role: str, customer_id: str, work: Callable[[], T], *, savepoint: bool = True) -> T:
    """Run `work` in a transaction (or savepoint) under the role; its result must be read, not lazy.

    Without a savepoint of its own, what it raises must undo the caller's: that takes the role off too."""
    with transaction.atomic(savepoint=savepoint), _worn(role, customer_id):
        result = work()
        if isinstance(result, QuerySet):
            raise ScopeError("A lazy queryset would run outside its scope.")
        return result


def as_customer(customer_id: str, work: Callable[[], T], *, savepoint: bool = True) -> T:
    """Run under row-level security that shows this customer's rows alone."""
    return in_scope("placet_customer", customer_id, work, savepoint=savepoint)
