"""The product as it is served: web, worker and beat as real processes on a database of their own."""

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from agents.chat.tokens import mint_widget_token
from approvals.people.accounts import mint_staff_token
from run.servers import free_port
from tests.support import warm
from tests.support.servers import product_env

WORKER = ["worker", "-P", "threads", "-c", "4", "--prefetch-multiplier", "1", "--without-gossip", "--without-mingle"]


def within(seconds: float, happens: Callable[[], Any], what: str) -> Any:
    """Wait until something happens, and give it."""
    deadline = time.monotonic() + seconds
    while not (found := happens()):
        assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} s"
        time.sleep(0.05)
    return found


@dataclass
class Product:
    """The running processes, by name, and how to call them."""

    port: int
    environ: dict[str, str]
    folder: Path
    children: dict[str, warm.Warm] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def start(self, name: str, *module: str) -> None:
        log = self.folder / f"{name}.log"
        self.children[name] = warm.start_module(*module, environ=self.environ, log=log)

    def start_worker(self, name: str = "worker") -> None:
        self.start(name, "celery", "-A", "config", *WORKER, "-n", f"{name}@test", "-l", "INFO")

    def call(self, method: str, path: str, token: str, body: Any = None) -> tuple[int, Any]:
        connection = HTTPConnection("localhost", self.port, timeout=20)
        try:
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def answers(self) -> bool:
        with suppress(OSError, HTTPException, ValueError):
            return self.call("GET", "/readyz", "")[0] == 200
        return False


class Chat:
    """A customer in the chat, by HTTP."""

    def __init__(self, product: Product, customer_id: str) -> None:
        self.product, self.token = product, mint_widget_token(customer_id, f"s-{customer_id}", 600)
        status, begun = product.call("POST", "/api/chat/conversations/", self.token, {})
        assert status == 201
        self.path = f"/api/chat/conversations/{begun['id']}/"
        self.id = uuid.UUID(begun["id"])

    def say(self, text: str) -> str:
        """Write a message; gives its turn."""
        body = {"client_id": uuid.uuid4().hex, "text": text}
        status, posted = self.product.call("POST", f"{self.path}messages/", self.token, body)
        assert status == 202
        return str(posted["turn_id"])

    def read(self) -> dict[str, Any]:
        status, shown = self.product.call("GET", self.path, self.token)
        assert status == 200
        return dict(shown)

    def said(self, author: str) -> list[str]:
        return [message["text"] for message in self.read()["messages"] if message["author"] == author]

    def answered(self, turn: str, seconds: float = 60) -> str:
        """Wait for the end of a turn; gives its reason."""
        path = f"{self.path}turns/{turn}/"

        def ended() -> str | None:
            return str(self.product.call("GET", path, self.token)[1]["reason"] or "") or None

        return str(within(seconds, ended, "the end of the turn"))

    @contextmanager
    def listening(self) -> Iterator[list[tuple[str, Any]]]:
        """The events that come meanwhile, read from the stream in a thread."""
        heard: list[tuple[str, Any]] = []
        connection = HTTPConnection("localhost", self.product.port, timeout=60)
        connection.request("GET", f"{self.path}events/", headers={"Authorization": f"Bearer {self.token}"})
        response = connection.getresponse()
        assert response.status == 200
        socket = connection.sock or response.fp.raw._sock  # type: ignore[attr-defined]
        reader = threading.Thread(target=_hear, args=(response, heard), daemon=True)
        reader.start()
        try:
            yield heard
        finally:
            with suppress(OSError):
                socket.shutdown(2)
            reader.join(10)
            connection.close()


def _hear(response: Any, heard: list[tuple[str, Any]]) -> None:
    event = ""
    with suppress(OSError, HTTPException, ValueError, AttributeError):
        while line := response.readline().decode():
            name, _, value = line.strip().partition(": ")
            if name == "event":
                event = value
            if name == "data":
                heard.append((event, json.loads(value)))


class Desk:
    """A member of staff, by their API token."""

    def __init__(self, product: Product, username: str) -> None:
        self.product, self.token = product, mint_staff_token(username)

    def waiting(self, conversation: uuid.UUID) -> list[dict[str, Any]]:
        path = f"/api/approvals/?state=pending&conversation={conversation}"
        return list(self.product.call("GET", path, self.token)[1]["results"])

    def approve(self, request: dict[str, Any]) -> tuple[int, Any]:
        body = {"verdict": "approve", "digest": request["digest"]}
        return self.product.call("POST", f"/api/approvals/{request['reference']}/decide/", self.token, body)


@contextmanager
def running_product(database_url: str, folder: Path, **environ: str) -> Iterator[Product]:
    """Everything up until the block ends."""
    product = Product(free_port(), product_env(database_url, **environ), folder)
    try:
        web = ("uvicorn", "config.asgi:application", "--port", str(product.port), "--timeout-graceful-shutdown", "1")
        product.start("web", *web, "--no-proxy-headers", "--no-access-log")
        product.start("beat", "celery", "-A", "config", "beat", "-s", str(folder / "beat"), "--pidfile=")
        product.start_worker()
        within(60, product.answers, "the web server answers")
        yield product
    finally:
        for child in product.children.values():
            child.kill()
