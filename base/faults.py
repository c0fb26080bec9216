"""Whose doing a fault is."""

import psycopg

_TRANSIENT = {"40001", "40P01", "55P03", "57P01", "57P02", "57P03", "25006", "53300"}
"""The database's doing, not the item's: serialisation, deadlock, lock timeout, shut down, starting, read-only, full."""


def is_transient(fault: BaseException | None) -> bool:
    """Whether the database is to blame, by what it said or because it said nothing."""
    while fault is not None:
        if isinstance(fault, psycopg.InterfaceError):
            return True
        if isinstance(fault, psycopg.Error) and (state := fault.sqlstate):
            return state in _TRANSIENT or state.startswith("08")
        if isinstance(fault, psycopg.OperationalError):  # the connection is lost, or the pool gave none
            return True
        fault = fault.__cause__
    return False
