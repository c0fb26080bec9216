"""The stand-in model as a process of its own, and the real SDK against it."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import ProxyHandler, Request, build_opener

import anthropic
import httpx2
import pytest

from base.home import REPOSITORY

MODEL = "claude-opus-5-5"
OPENER = build_opener(ProxyHandler({}))


class Server:
    """The server's address and its control endpoints."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.client = anthropic.Anthropic(
            api_key="a-key",
            base_url=url,
            max_retries=0,
            timeout=httpx2.Timeout(10),
            http_client=anthropic.DefaultHttpxClient(trust_env=False),
        )

    def call(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with OPENER.open(Request(self.url + path, data), timeout=10) as response:
            return json.load(response)

    def script(self, match: str, *replies: dict[str, Any]) -> None:
        self.call("/standin/script", {"match": match, "replies": list(replies)})

    def received(self, match: str) -> list[dict[str, Any]]:
        return self.call("/standin/requests?match=" + quote(match))["requests"]

    def create(self, text: str | list[Any], **fields: Any) -> anthropic.types.Message:
        reply: anthropic.types.Message = self.client.messages.create(**_request(text, fields))
        return reply

    def stream(self, text: str | list[Any], **fields: Any) -> Any:
        return self.client.messages.stream(**_request(text, fields))


def _request(text: str | list[Any], fields: dict[str, Any]) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}] if isinstance(text, str) else text
    return {"model": MODEL, "max_tokens": 500, "messages": messages} | fields


@pytest.fixture(scope="session")
def running_standin() -> Iterator[Server]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "standins.model", "--port", str(port)], cwd=REPOSITORY)
    server = Server(f"http://127.0.0.1:{port}")
    try:
        _wait_until_ready(server, process)
        yield server
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture
def standin(running_standin: Server) -> Server:
    running_standin.call("/standin/reset", {})
    return running_standin


def _wait_until_ready(server: Server, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 20
    while process.poll() is None and time.monotonic() < deadline:
        try:
            server.call("/healthz")
            return
        except URLError:
            time.sleep(0.05)
    raise RuntimeError("the stand-in did not start")
