"""Signing in and out, told by Django and written to the record."""

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from audit.models import Kind
from audit.record import Actor, NewEvent, record


@receiver(user_logged_in)
def _signed_in(request: HttpRequest, user: Any, **_: Any) -> None:
    _record(user.get_username(), "accepted", request)


@receiver(user_logged_out)
def _signed_out(request: HttpRequest, user: Any, **_: Any) -> None:
    if user is not None:
        _record(user.get_username(), "signed_out", request)


@receiver(user_login_failed)
def _failed(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    _record(str(credentials.get("username", "")), "failed", request)


def _record(name: str, decision: str, request: HttpRequest | None) -> None:
    address = request.META.get("REMOTE_ADDR", "") if request else ""
    record(Actor(kind="staff", id=name), NewEvent(kind=Kind.SIGN_IN, decision=decision), address=address)
