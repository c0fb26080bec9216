"""The event stream for staff: by session, without counting as the customer's looking, and never for long."""

import asyncio
import time
import uuid
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from agents.chat import staff_sse, stream
from agents.models import Conversation
from approvals.models import Staff
from config.asgi import application
from tests.agents.chat.test_sse import Reader, conversation, run, tell
from tests.support.cast import make_staff

__all__ = ["conversation"]


@pytest.fixture(autouse=True)
def fresh_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub lives in one event loop, and every test has its own."""
    monkeypatch.setattr("config.asgi.staff_events", staff_sse.StaffEventStream())


@pytest.fixture
def cookie(conversation: Conversation) -> str:
    """Of Ada's session; committed like all of this."""
    client = Client()
    client.force_login(make_staff("ada", "agent"))
    return f"{settings.SESSION_COOKIE_NAME}={client.session.session_key}"


def scope(conversation_id: object, cookie: str, method: str = "GET") -> dict[str, Any]:
    return {
        "type": "http",
        "method": method,
        "path": f"/console/conversations/{conversation_id}/events/",
        "headers": [(b"host", b"localhost:8000"), (b"cookie", cookie.encode())],
    }


async def opened(scope: dict[str, Any]) -> tuple[Reader, "asyncio.Task[None]"]:
    reader = Reader()
    task = asyncio.create_task(application(scope, reader.receive, reader.send))
    await reader.until(lambda: reader.status > 0)
    return reader, task


def answer(conversation_id: object, cookie: str, method: str = "GET") -> int:
    status = 0

    async def test() -> None:
        nonlocal status
        reader, task = await opened(scope(conversation_id, cookie, method))
        status = reader.status
        reader.gone.set()
        await asyncio.wait_for(task, 10)

    run(test())
    return status


def test_staff_hear_what_the_customer_hears_and_are_not_taken_for_them(conversation: Conversation, cookie: str) -> None:
    tell(conversation, 1)

    async def test() -> None:
        reader, task = await opened(scope(conversation.pk, cookie))
        assert reader.status == 200
        await reader.have(1)
        assert not await asyncio.to_thread(stream.is_watched, conversation.pk)
        reader.gone.set()
        await asyncio.wait_for(task, 10)

    run(test())


def test_a_reading_ends_by_itself(conversation: Conversation, cookie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staff_sse, "READS_SECONDS", 0.3)

    async def test() -> None:
        began = time.monotonic()
        reader, task = await opened(scope(conversation.pk, cookie))
        await asyncio.wait_for(task, 10)
        assert reader.ended
        assert time.monotonic() - began < 5

    run(test())


def test_who_may_not(conversation: Conversation, cookie: str) -> None:
    name = settings.SESSION_COOKIE_NAME
    for bad in ("", f"{name}=x", f"{name}=", "x=y", f'{name}="', f"other={cookie.partition('=')[2]}"):
        assert answer(conversation.pk, bad) == 401
    assert answer(uuid.uuid4(), cookie) == 404
    assert answer(conversation.pk, cookie, "POST") == 405
    Staff.objects.filter(username="ada").update(is_active=False)
    assert answer(conversation.pk, cookie) == 401
