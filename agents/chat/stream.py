"""Live events: a Redis stream per conversation for catching up, a channel for those who are listening now.

Events are a courtesy. The database holds the truth, so a lost Redis costs a reload and nothing else.
"""

import json
import logging
import uuid
from collections.abc import Iterable
from functools import cache
from typing import Any

import redis
from django.conf import settings
from django.db import connection, transaction
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


# One round trip for any number of events: each gets its id, and whoever listens gets it. What a silenced turn says is
# dropped. It answers whether somebody has the last one's stream open.
_SEND = """
local watched = 0
for n = 0, #KEYS / 3 - 1 do
    local stream, silenced, channel, event, data = KEYS[n * 3 + 1], KEYS[n * 3 + 2], unpack(ARGV, n * 3 + 3, n * 3 + 5)
    if redis.call('EXISTS', silenced) == 0 then
        local id = redis.call('XADD', stream, 'MAXLEN', '~', ARGV[1], '*', 'event', event, 'data', data)
        redis.call('EXPIRE', stream, ARGV[2])
        redis.call('PUBLISH', channel, cjson.encode({id = id, event = event, data = data}))
    end
    watched = redis.call('EXISTS', KEYS[n * 3 + 3])
end
return watched
"""
Event = tuple[str, dict[str, Any]]
"""An event's name and what it carries."""


@cache
def _send() -> Script:
    return client().register_script(_SEND)


class _Sending:
    """Events on their way; called, it sends them, and says whether somebody has the last one's stream open. A failing
    Redis is logged and forgotten."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.values: list[str] = []

    def add(self, conversation_id: uuid.UUID | str, events: Iterable[Event]) -> None:
        for name, data in events:
            speaker = data["turn_id"] if name in _OF_A_MODEL else "nobody"  # what is not a model's is never silenced
            self.keys += (f"{STREAM}{conversation_id}", f"{SILENCED}{speaker}", f"{WATCH}{conversation_id}")
            self.values += (f"{CHANNEL}{conversation_id}", name, json.dumps(data))

    def __call__(self) -> bool:
        try:
            return bool(_send()(self.keys, [KEPT_EVENTS, KEPT_SECONDS, *self.values]))
        except redis.RedisError as exc:
            log.warning("%s was not sent: %s", ", ".join(self.values[1::3]), exc)
            return False


def publish(conversation_id: uuid.UUID | str, *events: Event) -> bool:
    """Send events now; whether somebody has the stream open."""
    sending = _Sending()
    sending.add(conversation_id, events)
    return sending()


def publish_on_commit(conversation_id: uuid.UUID | str, *events: Event) -> None:
    """Send events once what they tell of is committed, together with those that a rollback would take along too."""
    here = set(connection.savepoint_ids)
    hooks: list[Any] = [entry[1] for entry in connection.run_on_commit if entry[0] == here]
    sending = next((hook for hook in hooks if isinstance(hook, _Sending)), None) or _Sending()
    is_new = not sending.keys
    sending.add(conversation_id, events)
    if is_new:
        transaction.on_commit(sending, robust=True)


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
