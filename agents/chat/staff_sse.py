"""The same events for staff who look at a conversation, by their session's cookie.

A reading lasts a minute at most and the browser comes back by itself, so who signed out, lost a role or had the session
ended hears nothing beyond it. Their looking does not count as the customer's.
"""

import re
import time
from http.cookies import CookieError, SimpleCookie
from importlib import import_module

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.db import connections
from django.http import Http404, HttpRequest

from agents.chat.sse import EventStream
from agents.chat.tokens import TokenRefused
from agents.models import Conversation
from base.access import READS_CONSOLE, Rights, role_of

PATH = re.compile(r"^/console/conversations/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/events/$")
READS_SECONDS = 60.0


class StaffEventStream(EventStream):
    """The route's application."""

    is_customers = False
    rights = Rights(READS_CONSOLE)

    async def _admit(self, headers: dict[str, str], path: str) -> tuple[float, str]:
        found = PATH.match(path)
        conversation = await sync_to_async(_look_up)(headers.get("cookie", ""), found.group(1) if found else "")
        return time.time() + READS_SECONDS, conversation


def _look_up(cookie: str, conversation_id: str) -> str:
    """In a thread of its own, whose connection goes back before the stream begins."""
    try:
        if not _may_read(_session_key(cookie)):
            raise TokenRefused("no session of staff")
        if not Conversation.objects.filter(pk=conversation_id).exists():
            raise Http404
        return conversation_id
    finally:
        connections.close_all()


def _session_key(cookie: str) -> str:
    try:
        found = SimpleCookie(cookie).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return ""
    return found.value if found else ""


def _may_read(session_key: str) -> bool:
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key or None)
    return role_of(get_user(request)) in StaffEventStream.rights.roles("GET")
