"""The product's web as a second process that a test points at its database, and whose answers it can lose."""

import asyncio
import json
from typing import Any, cast

from config.asgi import application as product

from django.db import connections  # isort: skip - after the settings
from django.db.backends.postgresql.base import DatabaseWrapper  # isort: skip

PLAN: dict[str, Any] = {}
"""`path`: whose answers; `cut`: how many are cut after the deed; `mute`: how many are never begun; `seconds`: how long
each waits first."""


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    if scope["path"] == "/control":
        await _control(receive, send)
    elif not scope["path"].endswith(PLAN.get("path", "nowhere")):
        await product(scope, receive, send)
    else:
        await _disturbed(scope, receive, send)


async def _control(receive: Any, send: Any) -> None:
    told = json.loads((await receive())["body"])
    if database := told.pop("database", None):
        connection = cast(DatabaseWrapper, connections["default"])
        connections.settings["default"]["NAME"] = database
        connection.close_pool()
    PLAN.clear()
    PLAN.update(told)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"{}"})


async def _disturbed(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.sleep(PLAN.get("seconds", 0))
    if _take("mute"):
        await asyncio.sleep(60)
    if not _take("cut"):
        await product(scope, receive, send)
        return

    async def swallow(message: Any) -> None:
        """The deed is done, and nobody hears of it."""

    await product(scope, receive, swallow)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
    raise ConnectionResetError


def _take(what: str) -> bool:
    left = PLAN.get(what, 0)
    PLAN[what] = left - 1
    return bool(left > 0)
