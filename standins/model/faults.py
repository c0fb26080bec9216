"""Faults of a provider, played on purpose."""

import asyncio
from typing import Any

from standins.model.errors import DEFAULT_TYPES, ApiError
from standins.model.script import Reply
from standins.model.sse import events, frame
from standins.model.wire import Exchange, dump

STREAM = "text/event-stream"
JSON = "application/json"


async def play(exchange: Exchange, reply: Reply, message: dict[str, Any], stream: bool) -> None:
    """Answers with the reply's fault; `message` is what a sound answer would have been."""
    fault = reply["fault"]
    if fault == "disconnect":
        await exchange.drop()
    elif fault == "non_json":
        await exchange.send(200, b"upstream is warming up", "text/plain")
    elif fault == "bad_json":
        await _bad_json(exchange, message, stream)
    elif stream:
        await _broken_stream(exchange, reply, message)
    else:
        await _broken_body(exchange, reply, message)


def status_error(reply: Reply) -> ApiError:
    """The error of a `status` fault."""
    status = reply.get("status", 500)
    kind = reply.get("error_type", DEFAULT_TYPES.get(status, "api_error"))
    return ApiError(status, reply.get("message", f"Scripted {kind}."), kind, reply.get("retry_after"))


async def _bad_json(exchange: Exchange, message: dict[str, Any], stream: bool) -> None:
    half = dump(message)[:40]
    if stream:
        await exchange.send(200, b"event: message_start\ndata: " + half + b"\n\n", STREAM)
    else:
        await exchange.send(200, half)


async def _broken_stream(exchange: Exchange, reply: Reply, message: dict[str, Any]) -> None:
    frames = list(events(message))
    # By default all but message_delta and message_stop is sent: the end is what is missing.
    at = min(reply.get("after_events", len(frames) - 2), len(frames))
    await exchange.start(200, STREAM)
    await exchange.write(b"".join(frames[:at]))
    if reply["fault"] == "cut_stream":
        await exchange.drop()
    elif reply["fault"] == "stall":
        await asyncio.sleep(reply.get("seconds", 1))
        await exchange.write(b"".join(frames[at:]), more=False)
    elif reply["fault"] == "error_event":
        error = ApiError(200, "Scripted error in the stream.", reply.get("type", "overloaded_error"))
        await exchange.write(frame("error", error.body(exchange.request_id)), more=False)
    else:
        await exchange.write(b"", more=False)


async def _broken_body(exchange: Exchange, reply: Reply, message: dict[str, Any]) -> None:
    """The same faults without a stream: a cut body, half a body, a wait in the middle, an error status."""
    data = dump(message)
    if reply["fault"] == "error_event":
        await exchange.send_error(ApiError(529, "Scripted overload.", reply.get("type", "overloaded_error")))
        return
    await exchange.start(200, JSON)
    await exchange.write(data[: len(data) // 2])
    if reply["fault"] == "cut_stream":
        await exchange.drop()
        return
    if reply["fault"] == "stall":
        await asyncio.sleep(reply.get("seconds", 1))
        await exchange.write(data[len(data) // 2 :])
    await exchange.write(b"", more=False)
