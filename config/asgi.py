"""What uvicorn serves: the event streams, which must not pin a thread each, and Django for the rest."""

import os
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

django = get_asgi_application()

from agents.chat import staff_sse  # noqa: E402 - the models behind it need Django set up
from agents.chat.sse import PATH, EventStream  # noqa: E402
from console.live.queue import PATH as DESK_PATH  # noqa: E402
from console.live.queue import DeskStream  # noqa: E402

events = EventStream()
staff_events = staff_sse.StaffEventStream()
desk = DeskStream(lambda: events.hub())


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Route a request; uvicorn's lifespan has nothing to do here."""
    if scope["type"] == "http":
        await _route(scope["path"])(scope, receive, send)


def _route(path: str) -> Any:
    if PATH.match(path):
        return events
    if path == DESK_PATH:
        return desk
    return staff_events if staff_sse.PATH.match(path) else django
