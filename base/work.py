"""Work lists: items that are claimed with a lease, done each by itself, tried again after a pause, and in the end
parked, where people see them and can have them tried again.

A list says in SQL where its items stand and which are due. What was tried stands in one table for all lists: an item
that is due and has no row was never tried or was done since. So a request can be in several lists at once, and what
parks it in one holds it up in no other.

A run claims as many as it does side by side, so a lease need only outlast one item. (Claiming costs 1 ms, the item
some 10 ms to 20 s: fifty under one lease saved nothing and ran out before their turn came.)

Turns keep a claim of their own, see `agents.turns.claims`: their lease is renewed while they run, their fence binds
each of their writes, and the claim is fair among customers. What they share is what comes after: once parked they
stand here too.
"""

import datetime as dt
import logging
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from base import sql
from base.faults import is_transient
from base.models import WorkItem

log = logging.getLogger(__name__)

MOST_IN_A_RUN = 1000
_TRIES = 5  # to claim what others claim at the same moment


class TryAgain(Exception):
    """An item could not be done now, and no more is wrong than the message says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkList:
    """One list. Its SQL calls the source `s`; `values` are what it names as %(name)s."""

    name: str
    source: str
    key: str
    """An item's name within the list, as text."""
    belongs: str = "true"
    """Whether a row of the source is an item at all, now or later: what is none any more is forgotten."""
    due: str = "true"
    order: str
    values: Callable[[], dict[str, Any]] = dict
    do: Callable[[str], object]
    """Does one item, by its key, in transactions of its own. It looks anew whether there is something to do."""
    lease_seconds: Callable[[], float]
    """Longer than doing one item can take."""
    most_attempts: int
    first_pause: float = 5.0
    longest_pause: float = 3600.0
    side_by_side: int = 1
    remember_seconds: float = 0.0
    """How long an item is kept that does not belong any more: for a source that shows items only while they are due."""
    told: Callable[[str, str, str, str], None] | None = None
    """Writes into the record that an item was `parked` or `retried`, by whom and why."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """An item that this process does, as long as its lease is the one in the table: the fence."""

    key: str
    attempts: int
    lease: dt.datetime


_FREE = """(w.key IS NULL OR w.parked_at IS NULL AND w.next_at <= statement_timestamp()
            AND w.attempts < %(work_most)s)"""
_CLAIMABLE = """
    SELECT {key} AS key FROM {source} s LEFT JOIN base_workitem w ON w.list = %(work_list)s AND w.key = {key}
    WHERE ({belongs}) AND ({due}) AND {free} AND {key} <> ALL(%(work_seen)s)
    ORDER BY {order} LIMIT %(work_limit)s
"""
# Two workers pick the same item: both insert its row, the second waits for the first and then finds a lease that runs.
# If the first has even done it meanwhile and deleted the row, the second claims what is done: `do` looks anew.
# By key, so that two claims never wait for each other.
_CLAIM = """
    WITH picked AS MATERIALIZED ({claimable}),
    claimed AS (
        INSERT INTO base_workitem AS w (list, key, attempts, next_at, parked_why)
        SELECT %(work_list)s, key, 1, statement_timestamp() + make_interval(secs => %(work_lease)s), ''
        FROM picked ORDER BY key
        ON CONFLICT (list, key) DO UPDATE SET attempts = w.attempts + 1, next_at = excluded.next_at WHERE {free}
        RETURNING w.key, w.attempts, w.next_at)
    SELECT picked.key, claimed.attempts, claimed.next_at FROM picked LEFT JOIN claimed ON claimed.key = picked.key
"""


def run(work: WorkList, go_on: Callable[[], bool] = lambda: True) -> int:
    """Do what is due, each item once, until there is no more or `go_on` says so; how many were done. An item counts
    where `do` gave anything but False."""
    forget(work)
    _park_deadly(work)
    done, seen = 0, list[str]()
    while go_on() and len(seen) < MOST_IN_A_RUN and (claimed := claim(work, seen)):
        seen += [item.key for item in claimed]
        done += sum(_each(work, claimed))
    return done


def claimable(work: WorkList, most: int = 100) -> list[str]:
    """Keys of what a run would do now, in its order."""
    return [key for (key,) in sql.rows(_text(work, _CLAIMABLE), _values(work, [], most))]


_BELONGS = "SELECT FROM {source} s WHERE ({belongs}) AND {key} = %(work_key)s"


def belongs(work: WorkList, key: str) -> bool:
    """Whether there is still something to do, for a `do` that asks nothing else under a lock."""
    return sql.row(_text(work, _BELONGS), {**work.values(), "work_key": key}) is not None


def claim(work: WorkList, seen: Sequence[str] = ()) -> list[Claimed]:
    """Take what is due next and not among `seen`, as many as are done side by side."""
    statement = _text(work, _CLAIM.replace("{claimable}", _CLAIMABLE))
    for _ in range(_TRIES):
        picked = sql.rows(statement, _values(work, seen, work.side_by_side))
        claimed = [Claimed(key, attempts, lease) for key, attempts, lease in picked if attempts is not None]
        if claimed or not picked:
            return claimed
    return []


def _each(work: WorkList, claimed: list[Claimed]) -> list[bool]:
    """Side by side on threads of their own; within a transaction one after the other, as only it sees its rows."""
    if len(claimed) == 1 or connection.in_atomic_block:
        return [_do(work, item) for item in claimed]
    with ThreadPoolExecutor(len(claimed), thread_name_prefix=work.name) as threads:
        return list(threads.map(partial(_apart, work), claimed))


def _apart(work: WorkList, item: Claimed) -> bool:
    try:
        return _do(work, item)
    finally:
        connection.close()


def _do(work: WorkList, item: Claimed) -> bool:
    """Whatever one item raises is its own attempt, and the others go on."""
    try:
        done = work.do(item.key) is not False
    except Exception as fault:  # noqa: BLE001 - that is what an attempt is
        try:
            _failed(work, item, fault)
        except Exception:
            log.exception("%s %s stays claimed until its lease ends", work.name, item.key)
        return False
    try:
        _mine(work, item).delete()
    except Exception:
        log.exception("%s %s was done and is looked at once more when its lease ends", work.name, item.key)
    return done


def _failed(work: WorkList, item: Claimed, fault: Exception) -> None:
    if is_transient(fault):
        log.warning("%s %s: the database was not to be had, it is tried again: %s", work.name, item.key, fault)
        if not connection.in_atomic_block:
            connection.close()
        _pause(work, item, item.attempts - 1, random.uniform(1, 3))  # noqa: S311 - only spreads the load
        return
    shown = None if isinstance(fault, TryAgain) else fault
    log.warning("%s %s failed %s times: %s", work.name, item.key, item.attempts, _why(fault), exc_info=shown)
    if item.attempts >= work.most_attempts:
        _park(work, item.key, _why(fault), _mine(work, item))
    else:
        _pause(work, item, item.attempts, pause_after(work, item.attempts))


def _why(fault: Exception) -> str:
    """Our own words, or the name alone: what a library says may quote whom it failed for."""
    return (str(fault) if isinstance(fault, TryAgain) else type(fault).__name__)[:300] or "TryAgain"


def pause_after(work: WorkList, attempts: int) -> float:
    """Seconds: twice as long each time up to the longest, give or take a quarter."""
    pause = min(work.first_pause * 2.0 ** min(attempts - 1, 30), work.longest_pause)
    return pause * random.uniform(0.75, 1.25)  # noqa: S311 - only spreads the load


def _pause(work: WorkList, item: Claimed, attempts: int, seconds: float) -> None:
    _mine(work, item).update(attempts=attempts, next_at=Now() + dt.timedelta(seconds=seconds))


def _mine(work: WorkList, item: Claimed) -> QuerySet[WorkItem]:
    return WorkItem.objects.filter(list=work.name, key=item.key, next_at=item.lease, parked_at=None)


def _park_deadly(work: WorkList) -> None:
    """What was claimed as often as it may be and never came back: its workers died of it."""
    deadly = WorkItem.objects.filter(
        list=work.name, attempts__gte=work.most_attempts, next_at__lte=Now(), parked_at=None
    )
    for key in deadly.values_list("key", flat=True):
        _park(work, key, "its worker ended each time", deadly.filter(key=key))


def _park(work: WorkList, key: str, why: str, rows: QuerySet[WorkItem]) -> None:
    with transaction.atomic():
        if not rows.update(parked_at=Now(), parked_why=why, next_at=Now()):
            return
        _tell(work, key, "parked", "", why)
    log.error("%s %s is parked after its last attempt, see `manage.py work list`: %s", work.name, key, why)


def _tell(work: WorkList, key: str, decision: str, by: str, why: str) -> None:
    """What poisons an item may poison what is told of it too: it is parked all the same."""
    try:
        with transaction.atomic():
            if work.told:
                work.told(key, decision, by, why)
    except Exception:
        log.exception("the record does not say that %s %s was %s", work.name, key, decision)


def retry(work: WorkList, key: str, by: str) -> bool:
    """Try a parked item again, with all its attempts; False where none of this key is parked."""
    parked = WorkItem.objects.filter(list=work.name, key=key, parked_at__isnull=False)
    with transaction.atomic():
        if not parked.update(parked_at=None, parked_why="", attempts=0, next_at=Now()):
            return False
        _tell(work, key, "retried", by, "")
    return True


_FORGET = """
    DELETE FROM base_workitem w
    WHERE w.list = %(work_list)s AND (w.parked_at IS NOT NULL OR w.next_at <= statement_timestamp())
      AND greatest(w.parked_at, w.next_at) <= statement_timestamp() - make_interval(secs => %(work_remember)s)
      AND NOT EXISTS (SELECT FROM {source} s WHERE ({belongs}) AND {key} = w.key)
"""


def forget(work: WorkList) -> None:
    """Drop what is no item of its list any more: decided, expired, sent or paid in some other way."""
    sql.run(_text(work, _FORGET), {**work.values(), "work_list": work.name, "work_remember": work.remember_seconds})


def _text(work: WorkList, statement: str) -> str:
    parts = {name: getattr(work, name) for name in ("key", "source", "belongs", "due", "order")}
    return statement.format(**parts, free=_FREE)


def _values(work: WorkList, seen: Sequence[str], limit: int) -> dict[str, Any]:
    return work.values() | {
        "work_list": work.name, "work_most": work.most_attempts, "work_lease": work.lease_seconds(),
        "work_seen": list(seen), "work_limit": limit,
    }  # fmt: skip
