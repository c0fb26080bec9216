"""Signing in: what is asked, what is refused, what is slowed down, and what is recorded."""

import datetime as dt
import json
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from approvals.models import Staff
from audit.models import Event
from config.staff_env import Oidc, StaffAccess
from console.models import Attempt
from tests.console.conftest import Browser, add_app, add_passkey, code_of, new_client
from tests.support.cast import PASSWORD, make_staff
from tests.support.env import replace

pytestmark = pytest.mark.django_db
GOOD = {"username": "ada", "password": PASSWORD}
BAD = {"username": "ada", "password": "wrong"}


def decisions(kind: str = "sign_in") -> list[str]:
    return list(Event.objects.filter(kind=kind).order_by("id").values_list("decision", flat=True))


def enters(client: Client) -> bool:
    return client.get(reverse("console")).status_code == 200


def test_a_password_opens_and_next_is_followed_within_the_site(agent: Staff) -> None:
    for wish, leads in (("/console/brake/", "/console/brake/"), ("https://evil.example/", "/console/")):
        answer = new_client().post(reverse("sign-in"), {**GOOD, "next": wish})
        assert answer["Location"] == leads


def test_a_wrong_one_says_so_and_keeps_the_name(agent: Staff) -> None:
    answer = new_client().post(reverse("sign-in"), BAD)
    assert answer.status_code == 422
    assert b"do not fit" in answer.content
    assert b'value="ada"' in answer.content


def test_a_closed_account_and_an_unknown_name_answer_alike(agent: Staff) -> None:
    Staff.objects.update(is_active=False)
    closed = new_client().post(reverse("sign-in"), GOOD)
    unknown = new_client().post(reverse("sign-in"), {**GOOD, "username": "nobody"})
    assert (closed.status_code, unknown.status_code) == (422, 422)
    assert len(closed.content) == len(unknown.content.replace(b"nobody", b"ada"))


def test_attempts_are_counted_in_the_database_and_before_they_are_tried(agent: Staff) -> None:
    for _ in range(5):
        assert new_client().post(reverse("sign-in"), BAD).status_code == 422
    answer = new_client().post(reverse("sign-in"), GOOD)
    assert (answer.status_code, answer["Retry-After"]) == (429, "300")
    assert b"Wait five minutes" in answer.content
    assert Attempt.objects.get().count == 6
    Attempt.objects.update(since=timezone.now() - dt.timedelta(seconds=301))
    assert new_client().post(reverse("sign-in"), GOOD).status_code == 302
    assert Attempt.objects.get().count == 0


def test_there_is_no_sign_up_and_no_reset_by_mail(client: Client) -> None:
    for path in ("signup/", "account/signup/", "password/reset/", "account/email/"):
        assert client.get(f"/console/{path}").status_code == 404


def test_an_app_is_asked_for_after_the_password(agent: Staff, signed_in_by_password: Browser) -> None:
    secret = add_app(signed_in_by_password(agent, confirm=True))
    client = new_client()
    assert client.post(reverse("sign-in"), GOOD)["Location"] == reverse("mfa_authenticate")
    assert not enters(client)
    assert client.post(reverse("mfa_authenticate"), {"code": "000000"}).status_code == 422
    with time_machine.travel(timezone.now() + dt.timedelta(minutes=2)):
        assert client.post(reverse("mfa_authenticate"), {"code": code_of(secret)}).status_code == 302
        assert enters(client)
    assert decisions()[-2:] == ["failed", "accepted"]


def test_a_code_is_good_once(agent: Staff, signed_in_by_password: Browser) -> None:
    secret = add_app(signed_in_by_password(agent, confirm=True))
    with time_machine.travel(timezone.now() + dt.timedelta(minutes=2), tick=False):
        answers = []
        for _ in range(2):
            client = new_client()
            client.post(reverse("sign-in"), GOOD)
            answers.append(client.post(reverse("mfa_authenticate"), {"code": code_of(secret)}).status_code)
    assert answers == [302, 422]


def test_guessing_codes_is_stopped_for_that_person(agent: Staff, signed_in_by_password: Browser) -> None:
    secret = add_app(signed_in_by_password(agent, confirm=True))
    client = new_client()
    client.post(reverse("sign-in"), GOOD)
    answers = [client.post(reverse("mfa_authenticate"), {"code": "000000"}).status_code for _ in range(6)]
    assert answers == [422] * 5 + [429]
    assert client.post(reverse("mfa_authenticate"), {"code": code_of(secret, steps=1)}).status_code == 429


def test_the_key_of_an_app_is_not_kept_in_the_clear(agent: Staff, signed_in_by_password: Browser) -> None:
    secret = add_app(signed_in_by_password(agent, confirm=True))
    assert secret not in json.dumps(Authenticator.objects.get(type="totp").data)


def test_a_recovery_code_opens_once(agent: Staff, signed_in_by_password: Browser) -> None:
    add_app(signed_in_by_password(agent, confirm=True))
    code = Authenticator.objects.get(type="recovery_codes").wrap().get_unused_codes()[0]
    answers = []
    for _ in range(2):
        client = new_client()
        client.post(reverse("sign-in"), GOOD)
        answers.append(client.post(reverse("mfa_authenticate"), {"code": code}).status_code)
    assert answers == [302, 422]


def test_a_passkey_signs_in_alone(agent: Staff, signed_in_by_password: Browser) -> None:
    passkey = add_passkey(signed_in_by_password(agent, confirm=True))
    url, client = reverse("mfa_login_webauthn"), new_client()
    options = client.get(url, headers={"Accept": "application/json"}).json()["request_options"]
    answer = client.post(url, {"credential": json.dumps(passkey.sign(options)), "next": "/console/brake/"})
    assert answer["Location"] == "/console/brake/"
    assert enters(client)
    assert decisions()[-1] == "accepted"


def test_a_passkey_that_verified_nobody_does_not(agent: Staff, signed_in_by_password: Browser) -> None:
    passkey = add_passkey(signed_in_by_password(agent, confirm=True))
    url, client = reverse("mfa_login_webauthn"), new_client()
    options = client.get(url, headers={"Accept": "application/json"}).json()["request_options"]
    answer = client.post(url, {"credential": json.dumps(passkey.sign(options, verified=False))}, follow=True)
    assert b"does not fit" in answer.content
    assert not enters(client)
    assert decisions()[-1] == "failed"


def test_what_people_sign_in_with_is_recorded(agent: Staff, signed_in_by_password: Browser) -> None:
    client = signed_in_by_password(agent, confirm=True)
    add_passkey(client)
    add_app(client)
    client.post(reverse("mfa_deactivate_totp"))
    client.post(reverse("mfa_remove_webauthn", args=[Authenticator.objects.get(type="webauthn").pk]))
    client.post(reverse("sign-out"))
    told = decisions()
    for each in ("confirmed", "passkey_added", "totp_added", "totp_removed", "passkey_removed", "signed_out"):
        assert each in told, each
    assert not Authenticator.objects.exists()


def test_adding_asks_first_that_it_is_you(agent: Staff, signed_in_by_password: Browser) -> None:
    client = signed_in_by_password(agent)
    for name in ("mfa_add_webauthn", "mfa_activate_totp"):
        assert client.get(reverse(name))["Location"].startswith(reverse("account_reauthenticate"))


# An identity provider.


@pytest.fixture
def provider(settings: Any) -> None:
    oidc = Oidc(issuer="https://login.example.com", client_id="placet", client_secret="hidden", name="Acme")
    access = StaffAccess(oidc=oidc)
    settings.PLACET = replace(settings.PLACET, staff=access)
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": access.oidc_apps}}


def test_its_button_is_there_only_if_it_is_configured(provider: None, client: Client) -> None:
    assert b"Continue with Acme" in client.get(reverse("sign-in")).content


def test_without_one_there_is_no_button(client: Client) -> None:
    assert b"Continue with" not in client.get(reverse("sign-in")).content
    assert client.get(reverse("openid_connect_login", args=["oidc"])).status_code == 404


# Where a second factor is required.


@pytest.fixture
def required(settings: Any) -> None:
    settings.PLACET = replace(settings.PLACET, staff=StaffAccess(mfa="required"))


def test_without_a_second_factor_one_gets_no_further(
    required: None, agent: Staff, signed_in_by_password: Browser
) -> None:
    client = signed_in_by_password(agent, confirm=True)
    assert client.get(reverse("console"))["Location"] == reverse("mfa_index")
    assert client.get("/api/approvals/").json()["code"] == "second_factor_required"
    add_passkey(client)
    assert enters(client)


def test_methods_of_the_pages_before_signing_in(client: Client) -> None:
    wrong = {"sign-in": "put", "account_login": "put", "mfa_login_webauthn": "put", "mfa_authenticate": "put",
             "sign-out": "get", "account_logout": "get"}  # fmt: skip
    for name, method in wrong.items():
        assert getattr(client, method)(reverse(name)).status_code == 405, name


def test_a_role_never_comes_with_a_sign_in(agent: Staff, signed_in_by_password: Browser) -> None:
    assert signed_in_by_password(agent).get(reverse("staff")).status_code == 403
    assert make_staff("boss", "admin").role == "admin"
