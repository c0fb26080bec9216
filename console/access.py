"""Who may do what on every address for staff, read from where each is enforced: the views that the URLconf names, and
the event streams beside it."""

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from agents.chat.staff_sse import StaffEventStream
from base.access import ROLES, Rights
from console.live.queue import DeskStream

STREAMS: dict[str, type[DeskStream] | type[StaffEventStream]] = {
    "queue-events": DeskStream,
    "conversation-events": StaffEventStream,
}
"""The raw ASGI routes, which the URLconf does not know."""


def registered() -> dict[str, Rights]:
    """By the name of its address, the rights of every page; one page may have several addresses."""
    found = {str(pattern.name): getattr(pattern.callback, "rights", None) for _, pattern in addresses()}
    return {name: rights for name, rights in found.items() if rights is not None}


def addresses() -> Iterator[tuple[str, URLPattern]]:
    """Path and pattern of every address in the URLconf."""
    yield from _below(get_resolver(), "")


def _below(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, URLPattern]]:
    for each in resolver.url_patterns:
        path = prefix + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _below(each, path)
        else:
            yield path, each


def expected(name: str, role: str, method: str) -> int | None:
    """What a page answers to a role: 302 (sign in first; role is empty), 403, 405, or None when it does as asked."""
    return registered()[name].refusal(role, method)


def table() -> Iterator[tuple[Any, list[tuple[bool, bool]]]]:
    """Rows of the page of roles: what, and for each role whether it sees and whether it acts."""
    for rights in dict.fromkeys(registered().values()):
        if rights.what:
            yield rights.what, [(role in rights.reads, role in rights.acts) for role in ROLES]
