"""What event streams share as raw ASGI routes. They stand outside Django's middleware, so they check Host and method
and set their headers themselves."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from django.conf import settings
from django.http.request import split_domain_port, validate_host

log = logging.getLogger(__name__)

Scope = dict[str, Any]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]

HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]


def headers_of(scope: Scope) -> dict[str, str]:
    """A request's headers by lower-case name."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


async def is_served(scope: Scope, headers: dict[str, str], send: Send) -> bool:
    """Whether this host and method are served here; if not, it has been said."""
    if not validate_host(split_domain_port(headers.get("host", ""))[0], settings.ALLOWED_HOSTS):
        await refuse(send, 400, "malformed", "This host is not served here.")
        return False
    if scope["method"] != "GET":
        await refuse(send, 405, "method_not_allowed", "This address does not take this method.")
        return False
    return True


async def until_gone(reading: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Serve a reader until it ends or hangs up."""
    reader, gone = asyncio.create_task(reading), asyncio.create_task(_gone(receive))
    await asyncio.wait({reader, gone}, return_when=asyncio.FIRST_COMPLETED)
    for task in (reader, gone):
        await _end(task)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _end(task: asyncio.Task[None]) -> None:
    while not task.done():  # once is not enough: a cancellation that hits the Redis client can get lost in it
        task.cancel()
        await asyncio.wait({task}, timeout=0.1)
    if not task.cancelled() and (fault := task.exception()):
        log.error("an event stream failed", exc_info=fault)


async def write(send: Send, text: str) -> None:
    """Send a part of the stream."""
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})


async def refuse(send: Send, status: int, code: str, message: str) -> None:
    """Answer with an error in the API's shape."""
    body = json.dumps({"code": code, "message": message}).encode()
    headers = [(b"content-type", b"application/json"), *HEADERS[1:]]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="placet chat"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
