"""What a worker process does around its turns: claims them, keeps their leases, looks for work that nobody
rang for, and stops in order. The doorbell's tasks and the sweep here claim in the same way."""

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from functools import cache

from celery.signals import worker_init, worker_shutting_down
from django.conf import settings
from django.db import Error

from agents.dispatch import watchdog
from agents.execution import elsewhere, execute, holds_elsewhere
from agents.turns import claims, loop
from agents.turns.claims import Claimed
from agents.turns.doorbell import ring
from agents.turns.pool import give_back_connection
from approvals.decisions import decoys
from approvals.outbox import delivery
from approvals.requests.expiry import expire_due
from base import work as work_lists
from base.failpoints import reach
from ledger.payouts import due

log = logging.getLogger(__name__)

SWEEP_SECONDS = 5.0
STOP_SECONDS = 15.0
"""How long turns may go on after SIGTERM, and half a lease at most. The supervisor sends SIGQUIT after 20 s."""

_mine: set[Claimed] = set()
_stopping = threading.Event()


@cache
def _slots() -> threading.Semaphore:
    """As many turns as this process runs at a time, whether they were rung for or found."""
    return threading.Semaphore(settings.PLACET.worker_threads)


@cache
def owner() -> str:
    """This process, by a name that no other ever has. Made when first needed, so that a fork has its own."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def work() -> None:
    """Claim one turn and run it, unless this process is stopping."""
    reach("task_received")
    with _slots():
        _work()


def _work() -> None:
    if _stopping.is_set() or (turn := claims.claim(owner())) is None:
        return give_back_connection()
    _mine.add(turn)
    try:
        reach("turn_claimed", turn.conversation_id)
        loop.run(turn)
    except claims.LostTurn:
        log.warning("turn %s went on elsewhere", turn.turn_id)
    except Error as exc:
        log.warning("turn %s lost its database connection and is tried again: %s", turn.turn_id, exc)
    except Exception:  # its attempt: the claim counted it, and its lease is the pause
        log.exception("turn %s failed and is tried again when its lease ends", turn.turn_id)
    finally:
        _mine.discard(turn)
        give_back_connection()
    return None


@worker_init.connect
def _start(**_: object) -> None:
    """Before the broker is asked: a worker that starts while it is down works all the same."""
    lease = settings.PLACET.lease_seconds
    sweep = min(lease / 3, SWEEP_SECONDS)
    jobs = (
        ("leases", lease / 3, _renew),
        ("sweep", sweep, _sweep),
        ("executions", sweep, lambda: _unless_stopping(execute.execute_due)),
        ("in doubt", sweep, lambda: _unless_stopping(elsewhere.ask_due)),
        ("holds", sweep, lambda: _unless_stopping(holds_elsewhere.settle)),
        ("upkeep", sweep, lambda: _unless_stopping(expire_due, decoys.run_due)),
        ("outbox", SWEEP_SECONDS, lambda: _unless_stopping(delivery.remind, _send)),
        ("watchdog", watchdog.CHECK_SECONDS, watchdog.check),
        ("payouts", sweep, carry_out_payouts),
    )
    for name, seconds, job in jobs:
        threading.Thread(target=_every, args=(seconds, job), name=name, daemon=True).start()


def _every(seconds: float, job: Callable[[], None]) -> None:
    while True:
        time.sleep(seconds)
        try:
            job()
        except Error as exc:
            log.warning("%s: the database does not answer: %s", threading.current_thread().name, exc)
        except Exception:
            log.exception("%s failed", threading.current_thread().name)
        finally:
            give_back_connection()


def _unless_stopping(*jobs: Callable[[], object]) -> None:
    """Each work list has a thread of its own: a shop, a mail server or a provider that is silent holds up no other."""
    for job in jobs:
        if not _stopping.is_set():
            job()


def _send() -> None:
    delivery.deliver_due(lambda: not _stopping.is_set())


def _renew() -> None:
    """Three renewals per lease, until the process ends; a turn past its own deadline is not renewed, so a hung
    one is claimed elsewhere."""
    if mine := [turn.turn_id for turn in list(_mine)]:
        claims.renew(owner(), mine)


def _sweep() -> None:
    """Do what waits although no ring was heard: the broker may be down, or have forgotten everything."""
    if _stopping.is_set():
        return
    free = settings.PLACET.worker_threads - len(_mine)
    for _ in range(min(claims.claimable(), free)):
        threading.Thread(target=work, name="turn", daemon=True).start()
    work_lists.forget(claims.PARKED)


def carry_out_payouts() -> None:
    """Move the money that is due. A thread of its own: a payment provider may take long to answer."""
    due.carry_out_due(lambda: not _stopping.is_set())


@worker_shutting_down.connect
def _stop(**_: object) -> None:
    """Claim nothing more; turns in flight get STOP_SECONDS. Not a daemon: the process waits for this thread."""
    if not _stopping.is_set():
        _stopping.set()
        threading.Thread(target=_finish_or_hand_back, name="stopping").start()


def _finish_or_hand_back() -> None:
    until = time.monotonic() + min(STOP_SECONDS, settings.PLACET.lease_seconds / 2)
    while _mine and time.monotonic() < until:
        time.sleep(0.05)
    for turn in list(_mine):
        try:
            claims.hand_back(turn, seconds=0)
        except (Error, claims.LostTurn) as exc:
            log.warning("turn %s was not handed back: %s", turn.turn_id, exc)
        ring("agents.tasks.work")
    give_back_connection()
