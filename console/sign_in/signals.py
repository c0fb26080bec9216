"""Signing in and out, and what people sign in with, told by Django and allauth and written to the record."""

import time
from typing import Any

from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.signals import authentication_step_completed
from allauth.core import context
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authentication_failed
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.http import HttpRequest
from fido2 import cbor

from approvals.decisions.reauthentication import SESSION_KEY
from approvals.decisions.signatures import key_mark
from audit.models import Kind
from audit.record import Actor, NewEvent, record

_NAMES = {"webauthn": "passkey", "totp": "totp", "recovery_codes": "codes"}


@receiver(user_logged_in)
def _signed_in(request: HttpRequest, user: Any, **_: Any) -> None:
    request.session[SESSION_KEY] = time.time()
    used = [step.get("type") or step["method"] for step in get_authentication_records(request, user)]
    _record(user.get_username(), "accepted", request, methods=used or None)


@receiver(user_logged_out)
def _signed_out(request: HttpRequest, user: Any, **_: Any) -> None:
    if user is not None:
        _record(user.get_username(), "signed_out", request)


@receiver(user_login_failed)
def _failed(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    _record(str(credentials.get("username", "")), "failed", request)


@receiver(authentication_failed)
def _second_step_failed(request: HttpRequest, user: Any, authenticator: Authenticator, **_: Any) -> None:
    _record(user.get_username(), "failed", request, methods=[authenticator.type])


@receiver(authentication_step_completed)
def _confirmed(request: HttpRequest, user: Any, method: str, reauthenticated: bool = False, **more: Any) -> None:
    """Somebody who is signed in showed again that it is them."""
    if reauthenticated:
        request.session[SESSION_KEY] = time.time()
        _record(user.get_username(), "confirmed", request, methods=[more.get("type") or method])


@receiver(post_save, sender=Authenticator)
def _added(instance: Authenticator, created: bool, **_: Any) -> None:
    if created:
        _of_authenticator(instance, "added")


@receiver(post_delete, sender=Authenticator)
def _removed(instance: Authenticator, **_: Any) -> None:
    _of_authenticator(instance, "removed")


def _of_authenticator(authenticator: Authenticator, what: str) -> None:
    """In the same transaction as the deed; the actor is who did it, an administrator perhaps."""
    request, whose = context.request, authenticator.user.get_username()
    user = getattr(request, "user", None)
    mark = ""
    if authenticator.type == Authenticator.Type.WEBAUTHN:
        mark = key_mark(cbor.encode(authenticator.wrap().authenticator_data.credential_data.public_key))
    actor = user.get_username() if user is not None and user.is_authenticated else whose
    _record(actor, f"{_NAMES[authenticator.type]}_{what}", request, mark=mark, staff=whose)


def _record(name: str, decision: str, request: HttpRequest | None, *, mark: str = "", **detail: Any) -> None:
    address = request.META.get("REMOTE_ADDR", "") if request else ""
    event = NewEvent(kind=Kind.SIGN_IN, decision=decision, credential_id=mark)
    record(Actor(kind="staff", id=name), event, address=address, **detail)
