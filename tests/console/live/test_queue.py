"""The queue's stream, called as an ASGI server calls it, with a real Valkey behind it."""

import asyncio
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from agents.chat import sse, stream
from approvals.models import Staff
from approvals.requests import assignment
from config.asgi import application
from console.live import queue
from tests.agents.chat.test_sse import Reader
from tests.support.cast import make_staff

pytestmark = pytest.mark.committing


@pytest.fixture(autouse=True)
def fresh_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.asgi.events", sse.EventStream())


@pytest.fixture
def session(committing_db: str) -> str:
    client = Client()
    client.force_login(make_staff("ada", "agent"))
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def scope(key: str, **changed: Any) -> dict[str, Any]:
    cookie = f"{settings.SESSION_COOKIE_NAME}={key}".encode()
    headers = [(b"host", changed.pop("host", b"localhost")), (b"cookie", cookie)]
    return {"type": "http", "method": "GET", "path": queue.PATH, "headers": headers, **changed}


def status_of(called: dict[str, Any]) -> int:
    async def call() -> int:
        reader = Reader()
        await asyncio.wait_for(application(called, reader.receive, reader.send), 10)
        return reader.status

    return asyncio.run(call())


def test_only_a_staff_session_reads(session: str) -> None:
    assert status_of(scope("")) == 401
    assert status_of(scope("x" * 32)) == 401
    assert status_of(scope(session, method="POST")) == 405
    assert status_of(scope(session, host=b"evil.example")) == 400
    Staff.objects.update(is_active=False)
    assert status_of(scope(session)) == 401


def test_news_of_a_claim_comes_and_the_end_of_the_session_ends_it(
    session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "BEAT_SECONDS", 0.05)

    async def test() -> None:
        reader = Reader()
        task = asyncio.create_task(application(scope(session), reader.receive, reader.send))
        await reader.until(lambda: "event: beat" in reader.text)
        assert reader.headers["content-type"].startswith("text/event-stream")
        await asyncio.to_thread(stream.publish, stream.DESK, ("request", {"reference": "R-7F3K9Q"}))
        await reader.until(lambda: 'event: request\ndata: {"reference": "R-7F3K9Q"}' in reader.text)
        await asyncio.to_thread(_sign_out)
        await reader.until(lambda: reader.ended)
        await asyncio.wait_for(task, 10)

    asyncio.run(asyncio.wait_for(test(), 60))


def _sign_out() -> None:
    Staff.objects.update(is_active=False)


def test_a_claim_is_news(session: str, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Any] = []
    monkeypatch.setattr("console.live.telling.publish_on_commit", lambda *event: heard.append(event))
    from bench.waiting import fill

    fill(1)
    assignment.assign(reference="R-00000001", staff=Staff.objects.get())
    assert heard == [(stream.DESK, ("request", {"reference": "R-00000001"}))]
