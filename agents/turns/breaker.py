"""A circuit breaker for the model: while it is down, turns wait in the database instead of in threads.

Per process and provider. After several failures in a row calls are refused at once for a while; then one
call tries, and the next ones follow if it succeeds.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from agents.turns.model import ModelDown

MOST_FAILURES = 5
OPEN_SECONDS = 10.0


@dataclass
class Breaker:
    """Failures in a row, and until when nobody calls. Times are of the monotonic clock."""

    failures: int = 0
    open_until: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def admit(self) -> None:
        """Let a call through, or raise ModelDown with how long to wait; one probe goes first when it was open."""
        with self.lock:
            left = self.open_until - time.monotonic()
            if left > 0:
                raise ModelDown("the circuit breaker is open", retry_after=left + 1)
            if self.failures >= MOST_FAILURES:
                self.open_until = time.monotonic() + OPEN_SECONDS

    def failed(self) -> None:
        with self.lock:
            self.failures += 1
            if self.failures >= MOST_FAILURES:
                self.open_until = time.monotonic() + OPEN_SECONDS

    def worked(self) -> None:
        with self.lock:
            self.failures, self.open_until = 0, 0.0


_breakers: dict[str, Breaker] = {}


def breaker_of(model: str) -> Breaker:
    """The process's breaker for a model."""
    return _breakers.setdefault(model, Breaker())


@contextmanager
def counting(breaker: Breaker) -> Iterator[None]:
    """Around one model call that was admitted: counts how it went."""
    try:
        yield
    except ModelDown:
        breaker.failed()
        raise
    breaker.worked()
