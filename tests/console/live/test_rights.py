"""The raw ASGI routes for staff admit whom their registered rights say, as the pages do."""

import asyncio
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from agents.chat import sse, staff_sse
from agents.models import Conversation
from base.access import ROLES
from config import asgi
from console.access import STREAMS
from console.live import queue
from tests.agents.chat.test_sse import Reader, conversation
from tests.support.cast import make_staff

pytestmark = pytest.mark.committing
__all__ = ["conversation"]
ANSWERS = {None: 200, 302: 401, 403: 401, 405: 405}
"""What a stream answers, by what a page would."""


def addresses(conversation: Conversation) -> dict[str, str]:
    by_conversation = f"/console/conversations/{conversation.pk}/events/"
    return {"queue-events": queue.PATH, "conversation-events": by_conversation}


async def _no_news(hub: sse.Hub) -> None:
    """Who is let in is the question here, not what they hear."""


def status_of(monkeypatch: pytest.MonkeyPatch, path: str, method: str, cookie: str) -> int:
    """With a hub of its own, as each call here has its own event loop."""
    monkeypatch.setattr(sse.Hub, "listen", _no_news)
    monkeypatch.setattr(asgi, "events", sse.EventStream())
    monkeypatch.setattr(asgi, "staff_events", staff_sse.StaffEventStream())
    headers = [(b"host", b"localhost"), (b"cookie", cookie.encode())]
    called: dict[str, Any] = {"type": "http", "method": method, "path": path, "headers": headers}

    async def call() -> int:
        reader = Reader()
        task = asyncio.create_task(asgi.application(called, reader.receive, reader.send))
        await reader.until(lambda: reader.status > 0)
        reader.gone.set()
        await asyncio.wait_for(task, 10)
        return reader.status

    return asyncio.run(call())


def test_every_stream_admits_whom_its_rights_say(conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = addresses(conversation)
    cookies = {"": ""}
    for role in ROLES:
        client = Client()
        client.force_login(make_staff(f"an-{role}", role))
        cookies[role] = f"{settings.SESSION_COOKIE_NAME}={client.session.session_key}"
    for name, application in STREAMS.items():
        assert isinstance(asgi._route(paths[name]), application)
        for role, cookie in cookies.items():
            wanted = ANSWERS[application.rights.refusal(role, "GET")]
            assert status_of(monkeypatch, paths[name], "GET", cookie) == wanted, (name, role)
            assert status_of(monkeypatch, paths[name], "POST", cookie) == 405, (name, role)
