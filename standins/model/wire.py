"""One HTTP exchange over raw ASGI, and the one thing ASGI lacks: dropping the connection."""

import json
import secrets
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from standins.model.errors import ApiError

Scope = dict[str, Any]
Event = dict[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]

MAX_BODY_BYTES = 32_000_000


class DroppingProtocol(HttpToolsProtocol):
    """Gives the app a way to close the connection in the middle of a response."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {"standin.drop": {"close": self.transport.close}}


class Exchange:
    """A request that was read and the response to it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query = {k: v[-1] for k, v in parse_qs(scope["query_string"].decode("latin-1")).items()}
        self.headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        self.request_id = "req_" + secrets.token_hex(12)
        self._scope, self._receive, self._send = scope, receive, send

    async def body(self) -> bytes:
        """The whole request body; 413 above 32 MB."""
        parts, size, more = [], 0, True
        while more:
            event = await self._receive()
            parts.append(event.get("body", b""))
            size += len(parts[-1])
            if size > MAX_BODY_BYTES:
                raise ApiError(413, "Request exceeds the maximum size of 32 MB.")
            more = event.get("more_body", False)
        return b"".join(parts)

    async def start(self, status: int, content_type: str, extra: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        """Sends status and headers."""
        headers = [
            (b"content-type", content_type.encode()),
            (b"request-id", self.request_id.encode()),
            *extra,
        ]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def write(self, data: bytes, more: bool = True) -> None:
        """Sends a part of the body; `more=False` ends it cleanly."""
        await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def send(self, status: int, data: bytes, content_type: str = "application/json") -> None:
        """Sends a whole response."""
        await self.start(status, content_type, ((b"content-length", str(len(data)).encode()),))
        await self.write(data, more=False)

    async def send_json(self, status: int, value: Any) -> None:
        """Sends a JSON response."""
        await self.send(status, dump(value))

    async def send_error(self, error: ApiError) -> None:
        """Sends an error, with retry-after (seconds) where it has one."""
        data = dump(error.body(self.request_id))
        extra: tuple[tuple[bytes, bytes], ...] = ((b"content-length", str(len(data)).encode()),)
        if error.retry_after is not None:
            extra += ((b"retry-after", f"{error.retry_after:g}".encode()),)
        await self.start(error.status, "application/json", extra)
        await self.write(data, more=False)

    async def drop(self) -> None:
        """Closes the connection once what was written has left."""
        self._scope["extensions"]["standin.drop"]["close"]()
        await self._receive()


def dump(value: Any) -> bytes:
    """Compact JSON; non-ASCII text stays as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
