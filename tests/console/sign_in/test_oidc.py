"""Signing in through an identity provider, against one that listens here."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from django.urls import reverse

from approvals.models import Staff
from audit.models import Event
from config.staff_env import Oidc, StaffAccess
from tests.console.conftest import Browser, new_client
from tests.support.env import replace

pytestmark = pytest.mark.django_db


@dataclass
class Provider:
    """What it says about whoever comes, and whether it exchanges codes."""

    url: str = ""
    subject: str = "abc"
    works: bool = True

    def answer(self, path: str) -> Any:
        if path.startswith("/.well-known/"):
            names = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
            found = {f"{name}_endpoint": f"{self.url}/{path}" for name, path in names.items()}
            return {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **found}
        if path == "/token":
            return {"access_token": "t", "token_type": "Bearer"} if self.works else None
        return {"sub": self.subject, "email": "ada@example.com", "email_verified": True, "preferred_username": "ada"}


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    state = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = state.answer(self.path)
            body = json.dumps(answer or {"error": "invalid_grant"}).encode()
            self.send_response(200 if answer else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, daemon=True).start()
    access = StaffAccess(oidc=Oidc(issuer=state.url, client_id="placet", client_secret="hidden", name="Acme"))
    settings.PLACET = replace(settings.PLACET, staff=access)
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": access.oidc_apps, "OAUTH_PKCE_ENABLED": True}}
    yield state
    server.shutdown()
    server.server_close()


def go_there(client: Client, next_url: str = "/console/brake/") -> dict[str, str]:
    """Follow the button; what the provider is asked."""
    page = client.get(reverse("sign-in"), {"next": next_url}).content.decode()
    href = page.split('<a href="')[-1].split('"')[0].replace("&amp;", "&")
    assert href.startswith(reverse("openid_connect_login", args=["oidc"]))
    there = client.get(href)["Location"]
    return {name: values[0] for name, values in parse_qs(urlsplit(there).query).items()}


def come_back(client: Client, **query: str) -> Any:
    return client.get(reverse("openid_connect_callback", args=["oidc"]), query, follow=True)


def enters(client: Client) -> bool:
    return client.get(reverse("console")).status_code == 200


def test_who_is_linked_comes_in_and_goes_on(provider: Provider, agent: Staff) -> None:
    SocialAccount.objects.create(user=agent, provider="oidc", uid="abc")
    client = new_client()
    asked = go_there(client)
    assert asked["redirect_uri"].startswith("https://")
    assert asked["redirect_uri"].endswith("/console/sign-in/oidc/callback/")
    assert asked["code_challenge_method"] == "S256"
    answer = come_back(client, code="c", state=asked["state"])
    assert answer.redirect_chain[-1][0] == "/console/brake/"
    assert enters(client)
    event = Event.objects.filter(kind="sign_in").latest("id")
    assert (event.decision, event.actor_id) == ("accepted", "ada")
    assert "socialaccount" in event.detail.body


def test_a_name_and_an_address_that_fit_are_not_enough(provider: Provider, agent: Staff) -> None:
    Staff.objects.update(email="ada@example.com")
    client = new_client()
    answer = come_back(client, code="c", state=go_there(client)["state"])
    assert "Nobody here is linked" in answer.content.decode()
    assert not enters(client)
    assert Staff.objects.count() == 1


def test_nobody_links_an_identity_to_the_account_that_is_signed_in(
    provider: Provider, agent: Staff, lead: Staff, signed_in_by_password: Browser
) -> None:
    SocialAccount.objects.create(user=lead, provider="oidc", uid="taken")
    for provider.subject in ("new", "taken"):
        client = signed_in_by_password(agent)
        there = client.get(reverse("openid_connect_login", args=["oidc"]), {"process": "connect"})["Location"]
        answer = come_back(client, code="c", state=parse_qs(urlsplit(there).query)["state"][0])
        assert answer.status_code == 200
    assert SocialAccount.objects.get().user == lead


def test_a_closed_account_stays_closed(provider: Provider, agent: Staff) -> None:
    SocialAccount.objects.create(user=agent, provider="oidc", uid="abc")
    Staff.objects.update(is_active=False)
    client = new_client()
    come_back(client, code="c", state=go_there(client)["state"])
    assert not enters(client)


@pytest.mark.parametrize("query", [{"error": "access_denied"}, {"code": "c"}, {"code": "c", "state": "forged"}])
def test_what_the_provider_did_not_grant_opens_nothing(provider: Provider, agent: Staff, query: dict[str, str]) -> None:
    SocialAccount.objects.create(user=agent, provider="oidc", uid="abc")
    client = new_client()
    asked = go_there(client)
    state = {"state": asked["state"]} if "error" in query else {}
    answer = come_back(client, **state, **query)
    assert answer.status_code == 200
    assert "did not let you in" in answer.content.decode()
    assert not enters(client)


def test_a_code_that_is_refused_opens_nothing(provider: Provider, agent: Staff) -> None:
    SocialAccount.objects.create(user=agent, provider="oidc", uid="abc")
    provider.works, client = False, new_client()
    answer = come_back(client, code="c", state=go_there(client)["state"])
    assert "did not let you in" in answer.content.decode()
    assert not enters(client)
