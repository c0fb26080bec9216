"""What a connector needs of a provider's API, and how a call can end."""

from collections.abc import Iterator
from typing import Any, Literal, Protocol

Json = dict[str, Any]
Resource = Literal["refunds", "payment_intents", "disputes"]
SECONDS = 10.0
"""The most one call may take."""


class CallFailed(Exception):
    """A call did not answer with an object; `code` says why, in at most 60 characters."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code[:60]


class NotSent(CallFailed):
    """Certainly nothing happened, for a reason that passes: refused connection, rate limit, wrong key of ours."""


class Unclear(CallFailed):
    """Whether it happened is not known: a time-out, a server error, an answer that cannot be read."""


class Declined(CallFailed):
    """Certainly nothing happened, and it never will."""


class Api(Protocol):
    """Objects as Stripe has them. Each method raises a CallFailed."""

    name: str

    def create(self, resource: Resource, params: Json, key: str) -> Json: ...

    def get(self, resource: Resource, reference: str) -> Json: ...

    def each(self, resource: Resource, params: Json) -> Iterator[Json]: ...


def failure(status: int, code: str) -> CallFailed:
    """What an HTTP error status means for a call that changes something."""
    if status in (401, 403, 429):
        return NotSent(code)
    # A conflict: the same key is in flight, or came with other parameters, so something happened under it.
    if status == 409 or status >= 500 or code == "idempotency_error":
        return Unclear(code)
    return Declined(code)
