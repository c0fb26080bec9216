"""Who looks at what right now: short leases in Valkey, a courtesy that is silently missing when it is away."""

import logging
import time
from collections.abc import Sequence
from typing import Any

from redis.exceptions import RedisError

from agents.chat.stream import DESK, client, publish

log = logging.getLogger(__name__)

LEASE_SECONDS = 20
PAUSE_SECONDS = 10
_KEY = "placet:viewers:"
_paused_until = 0.0


def seen(reference: str, name: str) -> list[str]:
    """Say that one looks at a request, until the lease ends; gives who else does. News for the queue when one comes."""
    now = time.time()
    key = f"{_KEY}{reference}"
    pipe = _pipe()
    pipe.zadd(key, {name: now + LEASE_SECONDS})
    pipe.expire(key, LEASE_SECONDS * 2)
    pipe.zremrangebyscore(key, "-inf", now)
    pipe.zrange(key, 0, -1)
    answers = _ask(pipe)
    if answers and answers[0]:
        publish(DESK, ("request", {"reference": reference}))
    return sorted(set(answers[3]) - {name}) if answers else []


def viewers(references: Sequence[str]) -> dict[str, list[str]]:
    """By request, who looks at it."""
    pipe, now = _pipe(), time.time()
    for reference in references:
        pipe.zrangebyscore(f"{_KEY}{reference}", now, "+inf")
    answers = _ask(pipe) if references else []
    return {reference: sorted(names) for reference, names in zip(references, answers, strict=False) if names}


def _pipe() -> Any:
    return client().pipeline(transaction=False)


def _ask(pipe: Any) -> list[Any]:
    """The pipeline's answers; none while Valkey is away, and nobody waits for it twice in a row."""
    global _paused_until
    if time.monotonic() < _paused_until:
        return []
    try:
        return list(pipe.execute())
    except (RedisError, OSError) as exc:
        log.warning("nobody can be seen looking: %s", exc)
        _paused_until = time.monotonic() + PAUSE_SECONDS
        return []
