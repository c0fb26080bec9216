"""What the worker's tasks are: each finds its own work in the database, so a ring may be lost or repeated."""

import logging
import os
import socket
import threading
import uuid

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings

from agents import claims, execute, loop
from agents.doorbell import ring
from agents.pool import give_back_connection
from approvals.requests import expire_due

log = logging.getLogger(__name__)

OWNER = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
MOST_RINGS = 64
_mine: set[uuid.UUID] = set()
_stopping = threading.Event()


@shared_task(name="agents.tasks.work")
def work() -> None:
    """Claim one turn and run it; the turn decides whether more is to be rung for."""
    if _stopping.is_set() or (turn := claims.claim(OWNER)) is None:
        return
    _mine.add(turn.turn_id)
    try:
        loop.run(turn)
    except claims.LostTurn:
        log.warning("turn %s went on elsewhere", turn.turn_id)
    finally:
        _mine.discard(turn.turn_id)
        give_back_connection()


@shared_task(name="agents.tasks.execute")
def execute_approved() -> None:
    """Execute what is approved and past its undo delay."""
    for reference in execute.ready():
        execute.execute(reference)
    give_back_connection()


@shared_task(name="agents.tasks.sweep")
def sweep() -> None:
    """Ring for whatever waits: rings get lost, leases run out, delays end, requests expire."""
    for _ in range(min(claims.claimable(), MOST_RINGS)):
        ring("agents.tasks.work")
    if execute.ready():
        ring("agents.tasks.execute")
    expire_due()
    give_back_connection()


@worker_ready.connect
def _start_renewing(**_: object) -> None:
    threading.Thread(target=_renew_leases, name="leases", daemon=True).start()


@worker_shutting_down.connect
def _stop_claiming(**_: object) -> None:
    """Turns in flight go on until the pool ends; nothing new is claimed."""
    _stopping.set()


def _renew_leases() -> None:
    """Three renewals per lease; a turn past its own deadline is not renewed, so a hung one is claimed elsewhere."""
    while not _stopping.wait(settings.PLACET.lease_seconds / 3):
        try:
            if mine := list(_mine):
                claims.renew(OWNER, mine)
        except Exception:
            log.exception("leases were not renewed")
        finally:
            give_back_connection()
