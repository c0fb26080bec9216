"""Taking over at the same moment as a worker dispatches and as a colleague takes over, each on its own connection."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, connections, transaction

from agents.chat.takeover import take_over
from agents.turns.claims import lock_turn
from ledger.access.staff import as_staff
from tests.support import cast

pytestmark = pytest.mark.committing


def test_nothing_is_dispatched_once_taking_over_has_returned(committing_db: str) -> None:
    """A dispatch under way ends first; one that waits for the turn meanwhile finds it silenced, not as it was."""
    as_staff(cast.fill_shop)
    staff = [cast.make_staff(name, "agent") for name in ("ada", "bea")]
    turn = cast.begin_turn()
    holds, may_end = threading.Event(), threading.Event()
    done: list[Any] = []

    def in_thread(work: Callable[[], str]) -> threading.Thread:
        def run() -> None:
            try:
                done.append(work())
            except Exception as problem:  # noqa: BLE001 - looked at below
                done.append(problem)
            finally:
                connections.close_all()

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def dispatching() -> str:
        with transaction.atomic():
            lock_turn(turn)
            holds.set()
            assert may_end.wait(20)
        return "dispatched"

    def waits(count: int) -> bool:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            return int(cursor.fetchone()[0]) >= count

    first = in_thread(dispatching)
    assert holds.wait(20)
    taking = in_thread(lambda: take_over(conversation_id=turn.conversation_id, staff=staff[0]).state)
    cast.until(lambda: waits(1))
    racing = in_thread(lambda: take_over(conversation_id=turn.conversation_id, staff=staff[1]).state)
    cast.until(lambda: waits(2))
    later = in_thread(lambda: _held(turn))
    cast.until(lambda: waits(3))
    may_end.set()
    for thread in (first, taking, racing, later):
        thread.join(20)
    told = sorted(type(each).__name__ if isinstance(each, Exception) else str(each) for each in done)
    assert told == ["NotYours", "StoppedTurn", "dispatched", "with_staff"]


def _held(turn: Any) -> str:
    with transaction.atomic():
        lock_turn(turn)
    return "dispatched too"
