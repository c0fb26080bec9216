"""Locks that transactions take before rows, in one order everywhere: turn, brake, customer, request, orders."""

from base import sql

_CUSTOMERS = 0x50_4C
_BRAKE = 0x50_42  # taken shared by every write, in the database's function approvals_keep_brake_open


def lock_brake() -> None:
    """Move the brake alone: waits for the writes under way, and those that come wait for this."""
    sql.run("SELECT pg_advisory_xact_lock(%s)", [_BRAKE])


def lock_of_customer(column: str) -> str:
    """The lock of `lock_customer` as an SQL expression, for a statement that finds the customer itself."""
    return f"pg_advisory_xact_lock({_CUSTOMERS}, hashtext({column}))"


def lock_customer(customer_id: str) -> None:
    """Serialise what counts one customer's money: without it two conversations each stay below a line."""
    sql.run(f"SELECT {lock_of_customer('%s')}", [customer_id])
