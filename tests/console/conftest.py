"""A browser of somebody who has signed in as people do, and what they sign in with."""

import html
import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.test import Client
from django.urls import reverse

from approvals.models import Request, Staff
from tests.conftest import Propose
from tests.support.cast import PASSWORD
from tests.support.passkey import HOST, Passkey

Browser = Callable[..., Client]


def new_client() -> Client:
    return Client(SERVER_NAME=HOST)


@pytest.fixture
def signed_in_by_password(db: None) -> Browser:
    """Sign in with name and password, and confirm it once more, as the pages of an account ask."""

    def sign_in(staff: Staff, *, confirm: bool = False) -> Client:
        client = new_client()
        client.post(reverse("sign-in"), {"username": staff.username, "password": PASSWORD})
        if confirm:
            client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
        return client

    return sign_in


def options_on(client: Client, url: str) -> dict[str, Any]:
    """The options that a page gives to a passkey."""
    found = re.search(r'data-options="([^"]*)"', client.get(url).content.decode())
    assert found
    return json.loads(html.unescape(found[1]))


def add_passkey(client: Client, name: str = "phone") -> Passkey:
    """Register a passkey on the page of one's account."""
    url, passkey = reverse("mfa_add_webauthn"), Passkey()
    credential = passkey.register(options_on(client, url))
    answer = client.post(url, {"name": name, "credential": json.dumps(credential)})
    assert answer.status_code == 302, answer.content.decode()
    return passkey


def add_app(client: Client) -> str:
    """Set up an authenticator app; gives its key."""
    url = reverse("mfa_activate_totp")
    secret = re.findall(r"<code>([A-Z2-7]{32})</code>", client.get(url).content.decode())[0]
    assert client.post(url, {"code": code_of(secret)}).status_code == 302
    return secret


def code_of(secret: str, *, steps: int = 0) -> str:
    """What the app shows now, or so many half minutes later."""
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30 + steps))


@pytest.fixture
def waiting(propose: Propose) -> Request:
    """Maya wants £99 back: above the automatic line."""
    outcome = propose("issue_refund", order_id="4471", amount_minor=9_900, reason="damaged")
    return Request.objects.get(reference=outcome.reference)
