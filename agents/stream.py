"""Live events: a Redis stream per conversation for catching up, a channel for those who are listening now.

Events are a courtesy. The database holds the truth, so a lost Redis costs a reload and nothing else.
"""

import json
import logging
import uuid
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import redis
from django.conf import settings
from django.db import transaction
from redis.commands.core import Script

log = logging.getLogger(__name__)

DESK = "desk"
"""In place of a conversation: the news of the console's queue."""
KEPT_EVENTS = 1_000
KEPT_SECONDS = 24 * 3600
CHANNEL = "placet:live:"
STREAM = "placet:events:"
WATCH = "placet:watch:"
WATCH_SECONDS = 40
SILENCED = "placet:silenced:"
_OF_A_MODEL = ("text.delta", "activity")


@cache
def client() -> redis.Redis:
    """One pool per process; short time-outs, so a dead Redis costs a second at most."""
    return redis.Redis.from_url(settings.REDIS_URL, decode_responses=True, socket_timeout=1, socket_connect_timeout=1)


# One round trip: events get their ids, and whoever listens gets them. What a silenced turn says is dropped. It answers
# whether somebody has the stream open.
_SEND = """
if redis.call('EXISTS', KEYS[2]) == 0 then
    for at = 4, #ARGV, 2 do
        local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'event', ARGV[at], 'data', ARGV[at + 1])
        redis.call('PUBLISH', ARGV[3], cjson.encode({id = id, event = ARGV[at], data = ARGV[at + 1]}))
    end
    redis.call('EXPIRE', KEYS[1], ARGV[2])
end
return redis.call('EXISTS', KEYS[3])
"""
Event = tuple[str, dict[str, Any]]
"""An event's name and what it carries."""


@cache
def _send() -> Script:
    return client().register_script(_SEND)


def publish(conversation_id: uuid.UUID | str, *events: Event) -> bool:
    """Send events now; whether somebody has the stream open. A failing Redis is logged and forgotten."""
    keys = [f"{STREAM}{conversation_id}", f"{SILENCED}{_speaker(events)}", f"{WATCH}{conversation_id}"]
    values = [part for name, data in events for part in (name, json.dumps(data))]
    try:
        return bool(_send()(keys, [KEPT_EVENTS, KEPT_SECONDS, f"{CHANNEL}{conversation_id}", *values]))
    except redis.RedisError as exc:
        log.warning("%s was not sent: %s", ", ".join(name for name, _ in events), exc)
        return False


def _speaker(events: Sequence[Event]) -> str:
    """The turn whose model speaks in these events; what is not a model's is never silenced."""
    return next((data["turn_id"] for name, data in events if name in _OF_A_MODEL), "nobody")


def publish_on_commit(conversation_id: uuid.UUID | str, *events: Event) -> None:
    """Send events once what they tell of is committed."""
    transaction.on_commit(partial(publish, conversation_id, *events), robust=True)


def ended(turn_id: uuid.UUID, reason: str) -> dict[str, str]:
    """What `turn.finished` carries."""
    return {"turn_id": str(turn_id), "state": "finished", "reason": reason}


def silence(turn_id: uuid.UUID) -> None:
    """From now on nothing is heard any more of what this turn's model says or does."""
    try:
        client().set(f"{SILENCED}{turn_id}", "1", ex=KEPT_SECONDS)
    except redis.RedisError as exc:
        log.warning("turn %s is not silenced in open chats: %s", turn_id, exc)


def is_watched(conversation_id: uuid.UUID) -> bool:
    """Whether somebody has the stream open: only then is streaming from the model worth its cost."""
    try:
        return bool(client().exists(f"{WATCH}{conversation_id}"))
    except redis.RedisError:
        return False


def last_event_id(conversation_id: uuid.UUID) -> str:
    """The newest event's id, for a reader that begins with the database's state."""
    try:
        newest: Any = client().xrevrange(f"{STREAM}{conversation_id}", count=1)
    except redis.RedisError:
        newest = []
    return str(newest[0][0]) if newest else "0-0"
