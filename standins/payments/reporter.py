"""Sends the test provider's events to Placet, signed as Stripe signs them, until they are taken."""

import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

from standins.payments.books import Books

_OPENER = build_opener(ProxyHandler({}))
_TRIES = 20


def signed(body: bytes, secret: str, at: float) -> str:
    """The header `Stripe-Signature` of a body."""
    stamp = str(int(at))
    digest = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={stamp},v1={digest}"


def report_forever(books: Books, address: str, secret: str) -> None:
    """Settle what is due and deliver what happened, in order."""
    sent = 0
    for _ in _ticks():
        books.settle_due()
        while sent < len(books.events):
            _deliver(books.events[sent], address, secret)
            sent += 1


def _ticks() -> Iterator[None]:
    while True:
        time.sleep(0.3)
        yield


def _deliver(event: dict[str, Any], address: str, secret: str) -> None:
    body = json.dumps(event).encode()
    for attempt in range(_TRIES):
        headers = {"Content-Type": "application/json", "Stripe-Signature": signed(body, secret, time.time())}
        try:
            _OPENER.open(Request(address, body, headers), timeout=10).close()  # noqa: S310 - the operator's address
            return
        except URLError:
            time.sleep(min(2.0**attempt, 30))
