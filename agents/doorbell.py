"""Telling workers that there is work. A lost ring costs a sweep's delay and nothing else."""

import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)


def ring(task: str) -> None:
    """Ring once, without waiting for a broker that does not answer."""
    try:
        current_app.send_task(task, retry=False, ignore_result=True)
    except (OperationalError, OSError) as exc:
        log.warning("the doorbell for %s was not heard: %s", task, exc)


def ring_on_commit(task: str) -> None:
    """Ring when the work is committed; the claim chooses which work, so a ring carries no id."""
    transaction.on_commit(lambda: ring(task), robust=True)
