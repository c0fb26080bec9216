"""Who may open what: the roles of staff and one decorator for pages."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

AGENT, LEAD, AUDITOR, ADMIN = "agent", "lead", "auditor", "admin"
ROLES = (AGENT, LEAD, AUDITOR, ADMIN)
DECIDES = (AGENT, LEAD)
READS_CONSOLE = (AGENT, LEAD, AUDITOR, ADMIN)
READS_RECORD = (LEAD, AUDITOR, ADMIN)

View = Callable[..., HttpResponseBase]


def role_of(user: Any) -> str:
    """The role of a signed-in, active member of staff; empty for everybody else."""
    return getattr(user, "role", "") if getattr(user, "is_active", False) else ""


def staff_page(*roles: str) -> Callable[[View], View]:
    """Let only these roles open a page: others are sent to sign in, or refused with 403."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not role_of(request.user):
                return redirect(f"{reverse('sign-in')}?{urlencode({'next': request.get_full_path()})}")
            if role_of(request.user) not in roles:
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return guarded

    return decorate
