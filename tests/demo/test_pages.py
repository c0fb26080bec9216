"""The demo shop, and what is said when a page cannot be given."""

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import reverse

from agents.chat.tokens import verify_widget_token
from demo import pages
from tests.support.env import replace

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo_on(settings, monkeypatch: pytest.MonkeyPatch, shop: None) -> None:
    settings.PLACET = replace(django_settings.PLACET, demo=True)
    monkeypatch.setattr(pages, "DEMO_CUSTOMERS", ("maya", "noor"))


def test_the_shop_shows_the_first_customer_and_their_orders(client: Client, demo_on: None) -> None:
    body = client.get("/").content.decode()
    assert "You are signed in as <b>Maya</b>" in body
    assert "Order 4471" in body
    assert "Order 5001" not in body
    assert "<placet-chat" in body


def test_choosing_a_customer_begins_another_session(client: Client, demo_on: None) -> None:
    first = verify_widget_token(client.post(reverse("demo-token")).json()["token"])
    assert client.post(reverse("demo-customer"), {"customer": "noor"})["Location"] == "/"
    second = verify_widget_token(client.post(reverse("demo-token")).json()["token"])
    assert (first.customer_id, second.customer_id) == ("maya", "noor")
    assert first.session_id != second.session_id
    assert b"Order 5001" in client.get("/").content


def test_the_token_is_for_the_sessions_customer_whatever_is_sent(client: Client, demo_on: None) -> None:
    answer = client.post(reverse("demo-token"), {"customer": "noor", "sub": "noor"}).json()
    assert verify_widget_token(answer["token"]).customer_id == "maya"
    assert set(answer) == {"token", "expires_at"}


def test_only_demo_customers_can_be_chosen(client: Client, demo_on: None) -> None:
    for name in ("", "somebody-else", "nul\x00"):
        assert client.post(reverse("demo-customer"), {"customer": name}).status_code == 404


def test_wrong_methods(client: Client, demo_on: None) -> None:
    assert client.get(reverse("demo-token")).status_code == 405
    assert client.get(reverse("demo-customer")).status_code == 405
    assert client.post("/").status_code == 405
    assert client.post(reverse("demo-chat")).status_code == 405


def test_a_token_needs_the_pages_own_form(demo_on: None) -> None:
    strict = Client(enforce_csrf_checks=True)
    response = strict.post(reverse("demo-token"))
    assert response.status_code == 403
    assert b"reload the page" in response.content


def test_without_the_demo_none_of_it_exists(client: Client, settings) -> None:
    settings.PLACET = replace(django_settings.PLACET, demo=False)
    assert b"The support desk runs here" in client.get("/").content
    for name in ("demo-token", "demo-customer"):
        assert client.post(reverse(name)).status_code == 404
    assert client.get(reverse("demo-chat")).status_code == 404


def test_a_page_that_is_not_there(client: Client) -> None:
    response = client.get("/nowhere/")
    assert response.status_code == 404
    assert b"There is nothing here" in response.content


def test_an_api_address_that_is_not_there_answers_json(client: Client) -> None:
    response = client.get("/api/nowhere/")
    assert response.status_code == 404
    assert response.json()["code"] == "not_found"


def test_a_fault_says_so_and_shows_nothing(client: Client, demo_on: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("demo.pages._shop", fails)
    client.raise_request_exception = False
    response = client.get("/")
    assert response.status_code == 500
    assert b"Something failed on our side" in response.content
    assert b"secret" not in response.content


def test_pages_allow_no_inline_script(client: Client, demo_on: None) -> None:
    response = client.get("/")
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert "unsafe-inline" not in response["Content-Security-Policy"]
    assert b"<script>" not in response.content
    assert b" style=" not in response.content
