"""Machines are answered in English, whatever they ask for; pages speak the reader's language."""

import uuid
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import reverse

from approvals.models import Staff
from approvals.people.accounts import mint_staff_token
from ledger.access.credentials import WRITE, mint
from tests.support.api import Api, refused
from tests.support.env import replace

GERMAN = {"Accept-Language": "de"}
REQUIRED, NO_CHOICE = "This field is required.", '"sideways" is not a valid choice.'

pytestmark = pytest.mark.django_db


@pytest.fixture
def signed_in(client: Client, lead: Staff) -> Client:
    client.force_login(lead)
    return client


def test_the_staff_api_says_in_english_which_field_is_wrong(lead: Staff) -> None:
    api = Api(mint_staff_token(lead.username), **GERMAN)
    body = refused(api.post("/api/brake/", {"state": "sideways"}), 422, "invalid")
    assert body["fields"] == {"state": [NO_CHOICE], "reason": [REQUIRED]}


@pytest.mark.usefixtures("shop")
def test_the_ledger_says_in_english_which_field_is_wrong() -> None:
    api = Api(mint("maya", uuid.uuid4(), WRITE), **GERMAN)
    body = refused(api.post("/ledger/v1/plans/", {"tool": "issue_refund"}), 422, "invalid")
    assert body["fields"] == {"arguments": [REQUIRED]}


def test_what_pages_translate_stays_english_in_the_api(signed_in: Client, settings: Any) -> None:
    strict = replace(django_settings.PLACET.staff, mfa="required")
    settings.PLACET = replace(django_settings.PLACET, staff=strict)
    sentence = "A second factor is required here: add a passkey or an authenticator app first."
    response = signed_in.get("/api/brake/", headers=GERMAN)
    assert refused(response, 403, "second_factor_required")["message"] == sentence
    page = signed_in.get(reverse("console"), headers=GERMAN, follow=True).content.decode()
    assert 'lang="de"' in page
    assert sentence not in page


def test_no_address_that_programs_read_has_a_language_of_its_own(client: Client) -> None:
    missing = client.get("/api/nowhere/", headers=GERMAN)
    assert refused(missing, 404, "not_found")["message"].startswith("There is nothing here. ")
    unsigned = client.post("/ledger/payments/webhook/", "{}", content_type="application/json", headers=GERMAN)
    for response in (missing, unsigned, client.get("/healthz", headers=GERMAN)):
        assert not response.headers.get("Content-Language")
        assert "accept-language" not in response.headers.get("Vary", "").lower()


def test_a_page_that_is_not_there_says_so_in_the_readers_language(client: Client) -> None:
    page = client.get("/nowhere/", headers=GERMAN)
    assert page.status_code == 404
    assert "Hier ist nichts" in page.content.decode()
    assert 'lang="de"' in page.content.decode()
    assert "There is nothing here" in client.get("/nowhere/").content.decode()
    strict = Client(enforce_csrf_checks=True, headers=GERMAN)
    assert "laden Sie die Seite neu" in strict.post(reverse("sign-in")).content.decode()


def test_the_demo_shop_is_english_from_its_first_tag(client: Client) -> None:
    assert 'lang="en-gb"' in client.get("/", headers=GERMAN).content.decode()
