"""Work lists: each item by itself, leases that cover it, bounded attempts, and parked in the end."""

import datetime as dt
import logging
import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, OperationalError, transaction
from django.utils import timezone
from psycopg import errors as pg
from psycopg_pool import PoolTimeout

from base import work
from base.faults import is_transient
from base.models import WorkItem
from base.work import TryAgain, WorkList


@pytest.fixture(autouse=True)
def _rows(request: pytest.FixtureRequest) -> None:
    """Rolled back, except where threads must see them."""
    request.getfixturevalue("committing_db" if "committing_db" in request.fixturenames else "db")


def listed(do: Callable[[str], object], *keys: str, **more: Any) -> WorkList:
    """A list of these keys, whose items stay due: what is done must be seen in what `do` did."""
    given: dict[str, Any] = {
        "name": "tests", "source": "(SELECT unnest(%(keys)s::text[]) AS key)", "key": "s.key", "order": "s.key",
        "values": lambda: {"keys": list(keys)}, "lease_seconds": lambda: 60.0, "most_attempts": 3,
    }  # fmt: skip
    return WorkList(do=do, **given | more)


def pauses_end() -> None:
    WorkItem.objects.update(next_at=timezone.now())


def failing(fault: BaseException, key: str = "b") -> Callable[[str], None]:
    def do(which: str) -> None:
        if which == key:
            raise fault

    return do


def test_whatever_one_raises_the_others_are_done() -> None:
    done: list[str] = []

    def do(key: str) -> None:
        failing(KeyError("facts"))(key)
        done.append(key)

    assert work.run(listed(do, "a", "b", "c")) == 2
    assert done == ["a", "c"]
    item = WorkItem.objects.get()
    assert (item.key, item.attempts, item.parked_at, item.next_at > timezone.now()) == ("b", 1, None, True)


def test_after_the_last_attempt_it_is_parked_alarmed_and_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    told: list[tuple[str, ...]] = []
    tests = listed(failing(KeyError("secret")), "a", "b", told=lambda *given: told.append(given))
    for _ in range(5):
        pauses_end()
        work.run(tests)
    item = WorkItem.objects.get()
    assert (item.attempts, item.parked_why) == (3, "KeyError")
    assert told == [("b", "parked", "", "KeyError")]
    assert [each.message for each in caplog.records if each.levelno == logging.ERROR] == [
        "tests b is parked after its last attempt, see `manage.py work list`: KeyError"
    ]
    assert work.claimable(tests) == ["a"]


def test_what_cannot_be_told_is_parked_all_the_same() -> None:
    tests = listed(failing(KeyError()), "b", most_attempts=1, told=lambda *_: 1 / 0)
    work.run(tests)
    assert WorkItem.objects.get().parked_at is not None


def test_a_retry_gives_all_attempts_back() -> None:
    tests = listed(failing(TryAgain("the shop is silent")), "b", most_attempts=1)
    work.run(tests)
    assert WorkItem.objects.get().parked_why == "the shop is silent"
    assert work.retry(tests, "b", "lena")
    assert not work.retry(tests, "b", "lena")
    assert (WorkItem.objects.get().attempts, work.claimable(tests)) == (0, ["b"])


def test_what_kills_its_workers_is_parked_too() -> None:
    tests = listed(lambda _: None, "b")
    for _ in range(3):
        pauses_end()
        assert [item.key for item in work.claim(tests)] == ["b"]  # and nobody comes back
    pauses_end()
    assert work.claim(tests) == []
    work.run(tests)
    assert WorkItem.objects.get().parked_why == "its worker ended each time"


def _wrapped(fault: psycopg.Error) -> OperationalError:
    error = OperationalError("lost")
    error.__cause__ = fault
    return error


TRANSIENT = [
    pg.SerializationFailure(), pg.DeadlockDetected(), pg.LockNotAvailable(), pg.AdminShutdown(),
    pg.ReadOnlySqlTransaction(), psycopg.OperationalError("server closed the connection"),
    psycopg.InterfaceError("closed"), PoolTimeout(),
]  # fmt: skip


@pytest.mark.parametrize("fault", TRANSIENT, ids=lambda fault: type(fault).__name__)
def test_the_databases_own_faults_are_no_attempts(fault: psycopg.Error) -> None:
    tests = listed(failing(_wrapped(fault)), "b")
    for _ in range(5):
        pauses_end()
        work.run(tests)
    item = WorkItem.objects.get()
    assert (item.attempts, item.parked_at) == (0, None)
    assert dt.timedelta(0) < item.next_at - timezone.now() < dt.timedelta(seconds=4)


@pytest.mark.parametrize("fault", [pg.UniqueViolation(), pg.CheckViolation(), ValueError()])
def test_others_are(fault: Exception) -> None:
    assert not is_transient(fault)


@pytest.mark.parametrize("change", [{"attempts": 1001}, {"attempts": -1}, {"parked_why": "odd"}])
def test_the_database_holds_the_bounds(change: dict[str, Any]) -> None:
    WorkItem.objects.create(list="tests", key="a", attempts=1000, next_at=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        WorkItem.objects.update(**change)


def test_attempts_at_their_bound_are_not_claimed_and_do_not_overflow() -> None:
    WorkItem.objects.create(list="tests", key="b", attempts=1000, next_at=timezone.now())
    tests = listed(lambda _: None, "a", "b", most_attempts=1000)
    assert work.run(tests) == 1
    assert WorkItem.objects.get(key="b").parked_at is not None


def test_pauses_grow_up_to_the_longest() -> None:
    tests = listed(print, first_pause=2.0, longest_pause=100.0)
    for attempts, pause in ((1, 2), (3, 8), (30_000, 100)):
        assert 0.75 * pause <= work.pause_after(tests, attempts) <= 1.25 * pause


def test_whoever_comes_back_after_the_lease_changes_nothing() -> None:
    tests = listed(lambda _: None, "a")
    [old] = work.claim(tests)
    pauses_end()
    [new] = work.claim(tests)
    work._failed(tests, old, KeyError())
    assert WorkItem.objects.get().next_at == new.lease


def test_what_does_not_belong_any_more_is_forgotten() -> None:
    tests = listed(failing(KeyError()), "b", most_attempts=1)
    work.run(tests)
    work.forget(listed(print, "b"))
    assert WorkItem.objects.exists()
    work.forget(listed(print, "c"))
    assert not WorkItem.objects.exists()


def test_a_silent_one_does_not_make_the_others_wait(committing_db: str) -> None:
    """As many as are done side by side are under way at once."""
    met = threading.Barrier(8, timeout=10)
    keys = [f"{n:02}" for n in range(16)]
    assert work.run(listed(lambda _: met.wait(), *keys, side_by_side=8)) == 16
