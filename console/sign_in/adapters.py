"""What allauth asks of a site, answered for staff: nobody signs up, and keys are not kept in the clear."""

import base64
import hashlib
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from cryptography.fernet import Fernet
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from approvals.decisions.reauthentication import rp_id_of
from audit.models import Kind
from audit.record import SYSTEM, NewEvent, record


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts are made by an administrator or by `manage.py create_staff`."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def respond_user_inactive(self, request: HttpRequest, user: Any) -> HttpResponse:
        messages.error(request, gettext("This account was closed. Ask an administrator."))
        return redirect("sign-in")


class MfaAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Keys of authenticator apps are encrypted under the secret key, so that a copy of the database holds none."""

    def encrypt(self, text: str) -> str:
        return _fernet().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _fernet().decrypt(encrypted_text.encode()).decode()

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {"id": rp_id_of(context.request), "name": "Placet"}

    def generate_authenticator_name(self, user: Any, type: Any) -> str:
        return gettext("Passkey")


def _fernet() -> Fernet:
    key = hashlib.sha256(f"{settings.SECRET_KEY}:second-factor".encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Who comes from the identity provider must be known by their subject; nothing else about them counts."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        if sociallogin.is_existing and sociallogin.state.get("process") == "login":
            return  # any other process would link an identity to whoever happens to be signed in
        event = NewEvent(kind=Kind.SIGN_IN, decision="failed")
        record(SYSTEM, event, subject=sociallogin.account.uid, address=request.META.get("REMOTE_ADDR", ""))
        messages.error(request, gettext("Nobody here is linked to that identity. An administrator can link you."))
        raise ImmediateHttpResponse(redirect("sign-in"))

    def on_authentication_error(self, request: HttpRequest, provider: Any, **kwargs: Any) -> None:
        record(SYSTEM, NewEvent(kind=Kind.SIGN_IN, decision="failed"), address=request.META.get("REMOTE_ADDR", ""))
        messages.error(request, gettext("The identity provider did not let you in. Try again."))
        raise ImmediateHttpResponse(redirect("sign-in"))
