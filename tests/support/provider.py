"""The test payment provider as a process of its own, and reports of it as the webhook gets them."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

import pytest
from django.test import Client

from base.home import REPOSITORY
from run.servers import free_port
from standins.payments.reporter import signed
from tests.support.env import replace

OPENER = build_opener(ProxyHandler({}))
SECRET = "whsec_of_the_tests"
HOOK = "/ledger/payments/webhook/"


class Provider:
    """The server's address and its controls."""

    def __init__(self, url: str) -> None:
        self.url = url

    def call(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with OPENER.open(Request(self.url + path, data), timeout=10) as response:
            return json.load(response)

    def plan(self, fault: str, **more: Any) -> None:
        self.call("/provider/fault", {"fault": fault, **more})

    @property
    def effects(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = self.call("/provider/effects")
        return found

    @property
    def events(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.call("/provider/events")["events"]
        return found


def deliver(event: Any, *, secret: str = SECRET, at: float | None = None) -> Any:
    body = event if isinstance(event, bytes) else json.dumps(event).encode()
    header = signed(body, secret, time.time() if at is None else at)
    return Client(raise_request_exception=False).generic(
        "POST", HOOK, body, content_type="application/json", headers={"Stripe-Signature": header}
    )


@pytest.fixture(scope="session")
def running_provider() -> Iterator[Provider]:
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "standins.payments", "--port", str(port)], cwd=REPOSITORY)
    provider = Provider(f"http://127.0.0.1:{port}")
    try:
        deadline = time.monotonic() + 10
        while True:
            try:
                provider.call("/healthz")
                break
            except URLError:
                assert process.poll() is None
                assert time.monotonic() < deadline, "the test provider did not start"
                time.sleep(0.05)
        yield provider
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture
def provider(running_provider: Provider, settings: Any) -> Provider:
    """The test provider, empty, and the product pointed at it."""
    running_provider.call("/provider/reset", {})
    settings.PLACET = replace(
        settings.PLACET, payments="test", payments_url=running_provider.url, payments_secret=SECRET
    )
    return running_provider
