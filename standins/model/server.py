"""The Messages API as far as a client needs it, as a raw ASGI app.

Replies come from a script that a test posted, else from the stand-in's own reading of the conversation. The
control endpoints under /standin/ are open to whoever reaches the port: this is a server for demonstrations
and tests.
"""

import asyncio
import json
import secrets
from collections import deque
from typing import Any

from standins.model.brain import answer
from standins.model.errors import ApiError
from standins.model.faults import STREAM, play, status_error
from standins.model.reasoning import Reasoning
from standins.model.script import Reply, ScriptBook, content_of
from standins.model.sse import events
from standins.model.usage import Prefix, PromptCache, output_tokens
from standins.model.validate import check_request
from standins.model.wire import Exchange, Receive, Scope, Send

KEPT_REQUESTS = 500
CONTEXT_TOKENS = 1_000_000
SECRET_HEADERS = ("authorization", "x-api-key", "cookie")
ROUTES = {
    "/healthz": ("GET", "health"),
    "/v1/messages": ("POST", "messages"),
    "/v1/messages/count_tokens": ("POST", "count_tokens"),
    "/standin/script": ("POST", "script"),
    "/standin/left": ("GET", "left"),
    "/standin/requests": ("GET", "requests"),
    "/standin/reset": ("POST", "reset"),
}


class StandIn:
    """The app. `think_seconds` passes before each reply, `token_seconds` between the words of a stream."""

    def __init__(self, think_seconds: float = 0.0, token_seconds: float = 0.0) -> None:
        self._think_seconds = think_seconds
        self._token_seconds = token_seconds
        self._scripts = ScriptBook()
        self._received: deque[dict[str, Any]] = deque(maxlen=KEPT_REQUESTS)
        self._cache = PromptCache()
        self._reasoning = Reasoning()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        exchange = Exchange(scope, receive, send)
        try:
            method, name = ROUTES.get(exchange.path, ("", ""))
            if not name:
                raise ApiError(404, f"No endpoint {exchange.path}.")
            if exchange.method != method:
                raise ApiError(405, f"{exchange.path} takes {method}.", "invalid_request_error")
            await getattr(self, "_" + name)(exchange)
        except ApiError as error:
            await exchange.send_error(error)

    async def _health(self, exchange: Exchange) -> None:
        await exchange.send_json(200, {"status": "ok"})

    async def _messages(self, exchange: Exchange) -> None:
        request = await self._request(exchange)
        prefix = self._prefix(request)
        reply = self._scripts.take(request["messages"]) or {}
        await _pause(reply.get("delay", self._think_seconds))
        if reply.get("fault") == "status":
            raise status_error(reply)
        message = self._message(request, prefix, reply)
        stream = request.get("stream", False)
        if "fault" in reply:
            await play(exchange, reply, message, stream)
        elif stream:
            await self._stream(exchange, message)
        else:
            await exchange.send_json(200, message)

    async def _count_tokens(self, exchange: Exchange) -> None:
        request = await self._request(exchange, counting=True)
        await exchange.send_json(200, {"input_tokens": self._prefix(request).tokens})

    async def _script(self, exchange: Exchange) -> None:
        await exchange.send_json(201, {"replies": self._scripts.add(_parsed(await exchange.body()))})

    async def _left(self, exchange: Exchange) -> None:
        await exchange.send_json(200, {"left": self._scripts.left(exchange.query.get("match", ""))})

    async def _requests(self, exchange: Exchange) -> None:
        match = exchange.query.get("match", "")
        await exchange.send_json(200, {"requests": [entry for entry in self._received if match in entry["body"]]})

    async def _reset(self, exchange: Exchange) -> None:
        self._scripts.clear()
        self._received.clear()
        self._cache = PromptCache()
        self._reasoning = Reasoning()
        await exchange.send_json(200, {"status": "ok"})

    async def _request(self, exchange: Exchange, counting: bool = False) -> dict[str, Any]:
        """The request, recorded as it came and then checked."""
        body = await exchange.body()
        headers = {name: value for name, value in exchange.headers.items() if name not in SECRET_HEADERS}
        text = body.decode("utf-8", "replace")
        self._received.append({"id": exchange.request_id, "path": exchange.path, "headers": headers, "body": text})
        _check_headers(exchange.headers)
        request: dict[str, Any] = _parsed(body)
        check_request(request, counting)
        return request

    def _prefix(self, request: dict[str, Any]) -> Prefix:
        prefix = Prefix(request)
        if prefix.tokens > CONTEXT_TOKENS:
            raise ApiError(400, f"prompt is too long: {prefix.tokens} tokens > {CONTEXT_TOKENS} maximum")
        self._reasoning.check(request, prefix)
        return prefix

    def _message(self, request: dict[str, Any], prefix: Prefix, reply: Reply) -> dict[str, Any]:
        content = content_of(reply)
        if content is None:
            content = answer(request)
        calls = any(block.get("type") == "tool_use" for block in content)
        self._reasoning.remember(prefix, content)
        message = {
            "id": "msg_" + secrets.token_hex(12),
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": content,
            "stop_reason": reply.get("stop_reason", "tool_use" if calls else "end_turn"),
            "stop_sequence": reply.get("stop_sequence"),
            "usage": self._cache.account(prefix, output_tokens(content)) | reply.get("usage", {}),
        }
        return message | ({"stop_details": reply["stop_details"]} if "stop_details" in reply else {})

    async def _stream(self, exchange: Exchange, message: dict[str, Any]) -> None:
        await exchange.start(200, STREAM, ((b"cache-control", b"no-cache"),))
        if not self._token_seconds:
            await exchange.write(b"".join(events(message)), more=False)
            return
        for frame in events(message):
            await exchange.write(frame)
            if b"text_delta" in frame:
                await asyncio.sleep(self._token_seconds)
        await exchange.write(b"", more=False)


async def _pause(seconds: float) -> None:
    if seconds:
        await asyncio.sleep(seconds)


def _check_headers(headers: dict[str, str]) -> None:
    key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer").strip()
    if not key:
        raise ApiError(401, "A key is required: send `authorization: Bearer KEY` or `x-api-key`.")
    if "anthropic-version" not in headers:
        raise ApiError(400, "anthropic-version: header is required")


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, f"The request body is not valid JSON: {error}") from None
