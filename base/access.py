"""Who may open what: the roles of staff, the rights of a page, and the decorator that enforces and registers them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, cast
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import Promise

AGENT, LEAD, AUDITOR, ADMIN = "agent", "lead", "auditor", "admin"
ROLES = (AGENT, LEAD, AUDITOR, ADMIN)
DECIDES = (AGENT, LEAD)
READS_CONSOLE = (AGENT, LEAD, AUDITOR, ADMIN)
READS_RECORD = (LEAD, AUDITOR, ADMIN)

View = Callable[..., HttpResponseBase]


def role_of(user: Any) -> str:
    """The role of a signed-in, active member of staff; empty for everybody else."""
    return getattr(user, "role", "") if getattr(user, "is_active", False) else ""


@dataclass(frozen=True, slots=True)
class Rights:
    """Which roles may read an address (GET, HEAD) and act on it (POST); `what` is the translatable sentence of what can
    be done there, empty for a part of another page."""

    reads: tuple[str, ...] = ()
    acts: tuple[str, ...] = ()
    what: str | Promise = ""

    @property
    def methods(self) -> list[str]:
        """What somebody may do there, as an Allow header names it."""
        return [*(("GET", "HEAD") if self.reads else ()), *(("POST",) if self.acts else ())]

    def roles(self, method: str) -> tuple[str, ...]:
        """Who may use a method; nobody one that is neither for reading nor for acting."""
        return {"GET": self.reads, "HEAD": self.reads, "POST": self.acts}.get(method, ())

    def refusal(self, role: str, method: str) -> int | None:
        """The status that refuses: 302 to sign in first, 403 for the role, 405 for the method; None lets through."""
        if not role:
            return 302
        if role not in {*self.reads, *self.acts}:
            return 403
        if method not in self.methods:
            return 405
        return None if role in self.roles(method) else 403


def staff_page(
    reads: tuple[str, ...] = (), *, acts: tuple[str, ...] = (), what: str | Promise = ""
) -> Callable[[View], View]:
    """Register a page's rights as its `rights`, and refuse whoever has none before the page runs."""
    rights = Rights(reads, acts, what)

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            refused = _refused(rights, request)
            return view(request, *args, **kwargs) if refused is None else refused

        cast(Any, guarded).rights = rights
        return guarded

    return decorate


def _refused(rights: Rights, request: HttpRequest) -> HttpResponseBase | None:
    status = rights.refusal(role_of(request.user), request.method or "")
    if status == 302:
        return redirect(f"{reverse('sign-in')}?{urlencode({'next': request.get_full_path()})}")
    if status == 403:
        raise PermissionDenied
    return HttpResponseNotAllowed(rights.methods) if status else None
