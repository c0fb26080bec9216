"""A tool call that hangs is abandoned, fenced off and answered as a failure; its thread cannot be killed.

Each process watches its own dispatches. Past the time-out it ends the hung call's database connection, so
that nothing of it can commit, takes the turn over under a new fence, stores a failure as the call's one
result, and gives the turn back. When too many threads hang, the process asks to be ended.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from django.conf import settings
from django.db import connection, transaction

from agents.dispatch import guards, results
from agents.dispatch.results import Call
from agents.turns.claims import Claimed
from agents.turns.doorbell import ring_on_commit

log = logging.getLogger(__name__)

CHECK_SECONDS = 0.5
GRACE_SECONDS = 1.0
MOST_HUNG = 8


@dataclass(slots=True)
class Watched:
    """A dispatch in progress: when it is too late, and which database connection it uses."""

    call: Call
    too_late: float
    backend_pid: int


_watched: dict[int, Watched] = {}
_hung: set[int] = set()


@contextmanager
def watching(call: Call) -> Iterator[None]:
    """Around one dispatch, inside its transaction. Database statements have a time-out of their own."""
    me, raw = threading.get_ident(), connection.connection
    late = time.monotonic() + settings.PLACET.tool_seconds + GRACE_SECONDS
    _watched[me] = Watched(call, late, raw.info.backend_pid if raw else 0)
    try:
        yield
    finally:
        _watched.pop(me, None)
        _hung.discard(me)


def check() -> None:
    """Abandon what has hung since the last check."""
    now = time.monotonic()
    for thread, watched in list(_watched.items()):
        if now >= watched.too_late and thread not in _hung:
            _hung.add(thread)
            _abandon(watched)
    if len(_hung) >= MOST_HUNG:
        log.critical("%s threads hang: this worker ends, and another takes over", len(_hung))
        os.kill(os.getpid(), signal.SIGTERM)


def _abandon(watched: Watched) -> None:
    call = watched.call
    log.error("%s of turn %s hangs and is abandoned", call.name, call.turn.turn_id)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [watched.backend_pid])
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_TAKE_OVER, [call.turn.turn_id, call.turn.fence])
        if cursor.fetchone() is None:
            return
        taken = replace(call, turn=_with_fence(call.turn))
        if results.stored(taken) is None:
            results.keep(taken, results.failed(taken, guards.fault_code(), TimeoutError("hung")))
        ring_on_commit("agents.tasks.work")


def _with_fence(turn: Claimed) -> Claimed:
    return replace(turn, fence=turn.fence + 1)


# Given back at once: another thread claims it and goes on after the failure.
_TAKE_OVER = """
    UPDATE agents_turn SET fence = fence + 1, owner = '', lease_until = NULL, waits = waits + 1
    WHERE id = %s AND fence = %s AND state = 'running' RETURNING id
"""
