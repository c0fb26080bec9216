"""The connection pool, shared by many threads that mostly wait."""

from django.db import connection


def give_back_connection() -> None:
    """Return this thread's connection to the pool; a caller that is inside a transaction keeps it."""
    if not connection.in_atomic_block:
        connection.close()
