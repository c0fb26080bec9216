"""The queue's news as it happens: a raw ASGI route, so that no reader holds a thread or a database connection.

Whoever has a staff session may read it; the session is looked at when the stream begins and again while it lasts.
An event names a request and nothing of it: the page asks for what it may show.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.db import connections
from django.http import HttpRequest, parse_cookie
from redis.exceptions import RedisError

from agents.chat.asgi_routes import HEADERS, Receive, Scope, Send, headers_of, is_served, refuse, until_gone, write
from agents.chat.sse import Hub
from agents.chat.stream import DESK
from base.access import READS_CONSOLE, Rights, role_of

log = logging.getLogger(__name__)

PATH = "/console/live/"
BEAT_SECONDS = 15
CHECK_BEATS = 4
"""After so many beats, a minute, the session is looked at again."""


class DeskStream:
    """The ASGI application of the route."""

    rights = Rights(READS_CONSOLE)

    def __init__(self, hub: Callable[[], Hub]) -> None:
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = headers_of(scope)
        if not await is_served(scope, headers, send):
            return
        key = parse_cookie(headers.get("cookie", "")).get(settings.SESSION_COOKIE_NAME, "")
        if not await _may_read(key):
            await refuse(send, 401, "unauthenticated", "Sign in to the console.")
            return
        await until_gone(_read(self._hub(), key, send), receive)


async def _may_read(key: str) -> bool:
    return bool(key) and await sync_to_async(_look_up)(key) in DeskStream.rights.roles("GET")


def _look_up(key: str) -> str:
    """The role behind a session, in a thread whose connection goes back before the stream goes on."""
    try:
        request = HttpRequest()
        request.session = SessionStore(key)
        return role_of(get_user(request))
    finally:
        connections.close_all()


async def _read(hub: Hub, key: str, send: Send) -> None:
    """A beat at once, so that the page knows that it is live, then news and beats until the session ends."""
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    queue = hub.join(DESK)
    try:
        await hub.listen()
        await _follow(queue, key, send)
    except (RedisError, OSError) as exc:
        log.warning("the queue's stream ended early: %s", exc)
    finally:
        hub.leave(DESK, queue)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _follow(queue: Any, key: str, send: Send) -> None:
    loop = asyncio.get_running_loop()
    check_at = loop.time() + BEAT_SECONDS * CHECK_BEATS
    await write(send, "event: beat\ndata: {}\n\n")
    while True:
        if loop.time() >= check_at:
            if not await _may_read(key):
                return
            check_at = loop.time() + BEAT_SECONDS * CHECK_BEATS
        try:
            event = await asyncio.wait_for(queue.get(), BEAT_SECONDS)
        except TimeoutError:
            await write(send, "event: beat\ndata: {}\n\n")
            continue
        if event is None:
            return
        await write(send, f"event: {event['event']}\ndata: {event['data']}\n\n")
