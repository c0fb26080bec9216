"""Replies written by a test, given instead of the stand-in's own.

A script is bound by `match`, a string that occurs in the messages of the requests it answers. Its replies
are used in order. A reply is one of

- `{"content": [blocks], "stop_reason"?, "stop_sequence"?, "stop_details"?, "usage"?}`: sent as it is;
- `{"calls": [{"tool", "input"}]}`: tool_use blocks with fresh ids;
- `{"fault": NAME, ...}` with the fields in FAULTS, over the content it carries or the stand-in's own;

and may have `delay` (seconds before the answer) and `repeat` (how often it is given). `{"replay": [calls],
"final": TEXT}` in place of `replies` makes one reply of each call and a closing text.
"""

import json
import secrets
from collections import deque
from typing import Any

from standins.model.errors import ApiError

Reply = dict[str, Any]

CONTENT_FIELDS = {
    "content",
    "calls",
    "stop_reason",
    "stop_sequence",
    "stop_details",
    "usage",
    "delay",
    "repeat",
}
FAULTS = {
    "status": {"status", "error_type", "message", "retry_after"},
    "cut_stream": {"after_events"},
    "early_eof": {"after_events"},
    "stall": {"after_events", "seconds"},
    "error_event": {"after_events", "type"},
    "non_json": set(),
    "bad_json": set(),
    "disconnect": set(),
}


class Script:
    """The replies that are left for one marker."""

    def __init__(self, match: str, replies: list[Reply]) -> None:
        self.match = match
        self._replies = deque((reply, reply.get("repeat", 1)) for reply in replies)

    @property
    def left(self) -> int:
        """How many replies have not been given."""
        return sum(times for _, times in self._replies)

    def take(self) -> Reply:
        """The next reply."""
        reply, times = self._replies.popleft()
        if times > 1:
            self._replies.appendleft((reply, times - 1))
        return reply


class ScriptBook:
    """Every script with replies left, in the order in which they came."""

    def __init__(self) -> None:
        self._scripts: list[Script] = []

    def add(self, order: Any) -> int:
        """Takes a test's script; the number of its replies. Raises a 400 that names what is wrong."""
        if not isinstance(order, dict) or not isinstance(order.get("match"), str):
            raise ApiError(400, "A script is an object with `match`, a string, and `replies` or `replay`.")
        script = Script(order["match"], [_checked(reply) for reply in _replies(order)])
        self._scripts.append(script)
        return script.left

    def take(self, messages: list[Any]) -> Reply | None:
        """The next reply for these messages, if a script has one."""
        if not self._scripts:
            return None
        text = json.dumps(messages, ensure_ascii=False)
        script = next((script for script in self._scripts if script.match in text), None)
        if script is None:
            return None
        reply = script.take()
        if not script.left:
            self._scripts.remove(script)
        return reply

    def left(self, match: str) -> int:
        """How many replies wait under this marker."""
        return sum(script.left for script in self._scripts if script.match == match)

    def clear(self) -> None:
        """Forgets everything."""
        self._scripts.clear()


def tool_use(tool: str, arguments: Any) -> dict[str, Any]:
    """A call with a fresh id."""
    return {"type": "tool_use", "id": "toolu_" + secrets.token_hex(12), "name": tool, "input": arguments}


def content_of(reply: Reply) -> list[dict[str, Any]] | None:
    """The blocks that a scripted reply carries, if any."""
    if "calls" in reply:
        return [tool_use(call["tool"], call.get("input", {})) for call in reply["calls"]]
    return reply.get("content")


def _replies(order: dict[str, Any]) -> list[Any]:
    if "replay" in order:
        closing = {"content": [{"type": "text", "text": order.get("final", "That is everything.")}]}
        return [*({"calls": [call]} for call in order["replay"]), closing]
    replies = order.get("replies")
    if not isinstance(replies, list) or not replies:
        raise ApiError(400, "`replies` must be a list with at least one reply.")
    return replies


def _checked(reply: Any) -> Reply:
    if not isinstance(reply, dict) or not reply.keys() & {"content", "calls", "fault", "delay"}:
        raise ApiError(400, "A reply needs `content`, `calls`, `fault` or `delay`.")
    fault = reply.get("fault")
    if fault is not None and fault not in FAULTS:
        raise ApiError(400, f"No fault {fault!r}. Faults: {', '.join(FAULTS)}.")
    allowed = CONTENT_FIELDS | ({"fault"} | FAULTS[fault] if fault else set())
    if extra := reply.keys() - allowed:
        raise ApiError(400, f"Unknown in a reply: {', '.join(sorted(extra))}.")
    if type(reply.get("repeat", 1)) is not int or reply.get("repeat", 1) < 1:
        raise ApiError(400, "`repeat` must be a whole number from 1.")
    for call in reply.get("calls", []):
        if not isinstance(call, dict) or not isinstance(call.get("tool"), str):
            raise ApiError(400, "A call is an object with `tool` and `input`.")
    return reply
