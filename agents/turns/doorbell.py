"""Telling workers that there is work. A lost ring costs a sweep's delay and nothing else."""

import logging
import uuid
from functools import cache
from typing import Any

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError
from redis import RedisError

log = logging.getLogger(__name__)


def ring(task: str) -> None:
    """Ring once, without waiting for a broker that does not answer."""
    message, mine = _message(task), uuid.uuid4().hex
    try:
        with current_app.producer_pool.acquire(block=True) as producer:
            producer.publish(
                message.body,
                headers={**message.headers, "id": mine, "root_id": mine},
                correlation_id=mine,
                routing_key=current_app.conf.task_default_queue,
                serializer="json",
                retry=False,
            )
    except (OperationalError, RedisError, OSError) as exc:
        log.warning("the doorbell for %s was not heard: %s", task, exc)


@cache
def _message(task: str) -> Any:
    """A ring as Celery writes a task, but for its id: rings carry nothing, and to write each anew takes twice the time
    of ringing."""
    return current_app.amqp.as_task_v2("", task, ignore_result=True)


def ring_on_commit(task: str) -> None:
    """Ring when the work is committed; the claim chooses which work, so a ring carries no id."""
    transaction.on_commit(lambda: ring(task), robust=True)
