"""The event stream of a conversation, as a raw ASGI route: no thread and no database connection per reader.

One subscription per web process feeds every reader through a bounded queue; a slow reader is disconnected
and catches up from the Redis stream by its Last-Event-ID. The route ends when the token does.
"""

import asyncio
import json
import logging
import re
import time
from typing import Any

import redis.asyncio as aioredis
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections
from django.http import Http404
from redis.exceptions import RedisError

from agents.chat.api import find_conversation
from agents.chat.asgi_routes import HEADERS, Receive, Scope, Send, headers_of, is_served, refuse, until_gone, write
from agents.chat.stream import CHANNEL, STREAM, WATCH, WATCH_SECONDS
from agents.chat.tokens import TokenRefused, WidgetClaims, verify_widget_token

log = logging.getLogger(__name__)

PATH = re.compile(r"^/api/chat/conversations/([^/]{1,64})/events/$")
_EVENT_ID = re.compile(r"^\d{1,20}-\d{1,20}$")
COMMENT_SECONDS = 15
MOST_WAITING = 256
MOST_CONNECTIONS = 50


class Hub:
    """The process's one subscription, and the queues of those who read."""

    def __init__(self) -> None:
        self.redis = aioredis.Redis.from_pool(
            aioredis.BlockingConnectionPool.from_url(
                settings.REDIS_URL, decode_responses=True, max_connections=MOST_CONNECTIONS, timeout=5
            )
        )
        self._readers: dict[str, set[asyncio.Queue[dict[str, str] | None]]] = {}
        self._listening: asyncio.Task[None] | None = None
        self._subscribed = asyncio.Event()

    def join(self, conversation: str) -> "asyncio.Queue[dict[str, str] | None]":
        """A queue for the conversation's events; None in it sends its reader away."""
        queue: asyncio.Queue[dict[str, str] | None] = asyncio.Queue(MOST_WAITING)
        self._readers.setdefault(conversation, set()).add(queue)
        return queue

    async def listen(self) -> None:
        """From here on no event is missed: the subscription stands."""
        if self._listening is None or self._listening.done():
            self._subscribed.clear()
            self._listening = asyncio.create_task(self._listen())
        await self._subscribed.wait()

    def leave(self, conversation: str, queue: "asyncio.Queue[dict[str, str] | None]") -> None:
        readers = self._readers.get(conversation, set())
        readers.discard(queue)
        if not readers:
            self._readers.pop(conversation, None)

    async def _listen(self) -> None:
        """Hand every published event to its readers; when Redis goes, they are told to come back."""
        try:
            async with self.redis.pubsub() as subscription:
                await subscription.psubscribe(f"{CHANNEL}*")
                async for message in subscription.listen():
                    if message["type"] == "psubscribe":
                        self._subscribed.set()
                    if message["type"] == "pmessage":
                        self._hand_out(message["channel"].removeprefix(CHANNEL), json.loads(message["data"]))
        except (RedisError, OSError) as exc:
            log.warning("live events are interrupted: %s", exc)
        finally:
            self._subscribed.set()
            for conversation in list(self._readers):
                self._hand_out(conversation, None)

    def _hand_out(self, conversation: str, event: dict[str, str] | None) -> None:
        for queue in list(self._readers.get(conversation, ())):
            if not queue.full():
                queue.put_nowait(event)
                continue
            while not queue.empty():  # too slow: sent away, and nothing after a gap is sent before
                queue.get_nowait()
            queue.put_nowait(None)


class EventStream:
    """The ASGI application of the route."""

    is_customers = True
    """Whether its readers are who the model streams for."""

    def __init__(self) -> None:
        self._hub: Hub | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = headers_of(scope)
        if not await is_served(scope, headers, send):
            return
        try:
            until, conversation = await self._admit(headers, scope["path"])
        except TokenRefused:
            await refuse(send, 401, "unauthenticated", "Sign in, or send a valid bearer token.")
            return
        except Http404:
            await refuse(send, 404, "not_found", "Nothing here under this address for you.")
            return
        last_id = headers.get("last-event-id", "")
        reading = _read(self.hub(), conversation, until, last_id, send, is_customer=self.is_customers)
        await until_gone(reading, receive)

    def hub(self) -> Hub:
        """The process's one, made in the loop that it lives in."""
        self._hub = self._hub or Hub()
        return self._hub

    async def _admit(self, headers: dict[str, str], path: str) -> tuple[float, str]:
        """Until when (seconds since 1970) this reader may read which conversation. Raises TokenRefused, Http404."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise TokenRefused("no bearer token")
        found = PATH.match(path)
        claims, conversation = await sync_to_async(_look_up)(token, found.group(1) if found else "")
        return claims.expires_at.timestamp(), conversation


def _look_up(token: str, conversation_id: str) -> tuple[WidgetClaims, str]:
    """In a thread of its own, whose connection goes back before the stream begins."""
    try:
        claims = verify_widget_token(token)
        return claims, str(find_conversation(claims.customer_id, conversation_id).pk)
    finally:
        connections.close_all()


async def _read(hub: Hub, conversation: str, until: float, last_id: str, send: Send, *, is_customer: bool) -> None:
    """What was kept since `last_id`, then what comes, until the reader's time is over."""
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    queue = hub.join(conversation)
    try:
        await hub.listen()  # before catching up, so that nothing falls in between
        last_id = await _catch_up(hub, conversation, last_id, send)
        await _follow(hub, conversation, until, last_id, queue, send, is_customer=is_customer)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    except (RedisError, OSError) as exc:
        log.warning("an event stream ended early: %s", exc)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        hub.leave(conversation, queue)


async def _catch_up(hub: Hub, conversation: str, last_id: str, send: Send) -> str:
    key = f"{STREAM}{conversation}"
    kept: list[Any] = await hub.redis.xrange(key) or []
    if last_id and (not _EVENT_ID.match(last_id) or _is_lost(last_id, kept)):
        await write(send, "event: resync\ndata: {}\n\n")
    for event_id, fields in kept:
        if _order(event_id) > _order(last_id):
            await write(send, _frame(event_id, fields))
    return kept[-1][0] if kept else last_id


def _is_lost(last_id: str, kept: list[Any]) -> bool:
    """Whether events after `last_id` may be gone: it lies before the oldest kept, or nothing is kept."""
    return last_id != "0-0" and (not kept or _order(last_id) < _order(kept[0][0]))


async def _follow(
    hub: Hub, conversation: str, until: float, last_id: str, queue: Any, send: Send, *, is_customer: bool
) -> None:
    while (left := until - time.time()) > 0:
        if is_customer:
            await hub.redis.set(f"{WATCH}{conversation}", "1", ex=WATCH_SECONDS)
        try:
            event = await asyncio.wait_for(queue.get(), min(COMMENT_SECONDS, left))
        except TimeoutError:
            await write(send, ": still here\n\n")
            continue
        if event is None:
            return
        if _order(event["id"]) > _order(last_id):
            last_id = event["id"]
            await write(send, _frame(last_id, event))


def _order(event_id: str) -> tuple[int, int]:
    if not _EVENT_ID.match(event_id):
        return (0, 0)
    milliseconds, _, sequence = event_id.partition("-")
    return int(milliseconds), int(sequence)


def _frame(event_id: str, fields: dict[str, str]) -> str:
    return f"id: {event_id}\nevent: {fields['event']}\ndata: {fields['data']}\n\n"
