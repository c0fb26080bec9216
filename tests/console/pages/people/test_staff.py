"""Accounts of colleagues, and one's own sessions and password."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from approvals.models import Staff
from approvals.people import administration as deeds
from approvals.people.accounts import AccountError, StaffTokenRefused, mint_staff_token, verify_staff_token
from audit.models import Event
from config.staff_env import Oidc, StaffAccess
from tests.console.conftest import Browser, add_app, add_passkey, new_client
from tests.support.cast import PASSWORD, make_staff
from tests.support.env import replace

pytestmark = pytest.mark.django_db
NEW = "another horse, another battery"


@pytest.fixture
def boss(db: None) -> Staff:
    return make_staff("boss", "admin")


Act = Callable[..., Any]


@pytest.fixture
def act(boss: Staff, signed_in_by_password: Browser) -> Act:
    """The administrator does something to a colleague's account."""
    client = signed_in_by_password(boss)

    def do(name: str, what: str, **form: str) -> Any:
        return client.post(reverse("staff-member", args=[name]), {"do": what, **form})

    return do


def enters(client: Client) -> bool:
    return client.get(reverse("console")).status_code == 200


def test_a_role_is_changed_and_what_was_open_ends(act: Act, agent: Staff, signed_in_by_password: Browser) -> None:
    theirs, token = signed_in_by_password(agent), mint_staff_token("ada")
    assert enters(theirs)
    assert act("ada", "role", role="lead").status_code == 302
    assert Staff.objects.get(username="ada").role == "lead"
    assert not enters(theirs)
    with pytest.raises(StaffTokenRefused):
        verify_staff_token(token)
    event = Event.objects.get(kind="role", decision="changed")
    assert event.actor_id == "boss"
    assert '"before":"agent"' in event.detail.body
    assert enters(signed_in_by_password(agent))


def test_an_account_is_closed_and_opened(act: Act, agent: Staff, signed_in_by_password: Browser) -> None:
    theirs = signed_in_by_password(agent)
    act("ada", "deactivate")
    assert not enters(theirs)
    assert not enters(signed_in_by_password(agent))
    act("ada", "reactivate")
    assert not enters(theirs)
    assert enters(signed_in_by_password(agent))


def test_sessions_of_a_colleague_are_ended(act: Act, agent: Staff, signed_in_by_password: Browser) -> None:
    theirs = signed_in_by_password(agent)
    act("ada", "sessions")
    assert not enters(theirs)
    assert Event.objects.get(kind="role", decision="ended_access").actor_id == "boss"


def test_a_lost_password_and_a_lost_phone(act: Act, agent: Staff, signed_in_by_password: Browser) -> None:
    theirs = signed_in_by_password(agent, confirm=True)
    add_app(theirs)
    add_passkey(theirs)
    act("ada", "factors")
    assert not Authenticator.objects.exists()
    assert act("ada", "password", password="short").status_code == 422
    act("ada", "password", password=NEW)
    assert not enters(theirs)
    assert new_client().post(reverse("sign-in"), {"username": "ada", "password": NEW}).status_code == 302


def test_nobody_changes_themself(act: Act) -> None:
    for what, form in (
        ("role", {"role": "lead"}),
        ("deactivate", {}),
        ("password", {"password": NEW}),
        ("factors", {}),
    ):
        assert b"own account" in act("boss", what, **form).content
    assert Staff.objects.get(username="boss").role == "admin"


def test_an_account_is_made(boss: Staff, signed_in_by_password: Browser) -> None:
    client, form = signed_in_by_password(boss), {"name": "new", "role": "agent", "password": NEW}
    assert client.post(reverse("staff"), form | {"password": "new"}).status_code == 422
    assert client.post(reverse("staff"), form | {"role": "king"}).status_code == 422
    assert client.post(reverse("staff"), form).status_code == 302
    assert client.post(reverse("staff"), form).status_code == 422
    assert Event.objects.get(kind="role", decision="granted").actor_id == "boss"


def test_what_is_unknown_changes_nothing(act: Act, agent: Staff) -> None:
    assert act("nobody", "deactivate").status_code == 404
    assert act("ada", "promote").status_code == 422
    assert act("ada", "role", role="agent").status_code == 422
    assert act("ada", "subject", subject="abc").status_code == 422


def test_changing_accounts_asks_that_it_is_you(boss: Staff, agent: Staff, signed_in_by_password: Browser) -> None:
    client = signed_in_by_password(boss)
    with time_machine.travel(timezone.now() + dt.timedelta(minutes=16)):
        answer = client.post(reverse("staff-member", args=["ada"]), {"do": "deactivate"})
        assert answer["Location"].startswith(reverse("account_reauthenticate"))
    assert Staff.objects.get(username="ada").is_active


def test_an_identity_is_linked_once(settings: Any, act: Act, agent: Staff, lead: Staff) -> None:
    oidc = Oidc(issuer="https://login.example.com", client_id="placet", client_secret="hidden", name="Acme")
    settings.PLACET = replace(settings.PLACET, staff=StaffAccess(oidc=oidc))
    assert act("ada", "subject", subject="abc").status_code == 302
    assert act("lena", "subject", subject="abc").status_code == 422
    assert SocialAccount.objects.get().user == agent
    act("ada", "subject", subject="")
    assert not SocialAccount.objects.exists()


def test_the_last_administrator_stays_one(boss: Staff) -> None:
    other = make_staff("other", "admin")
    deeds.change_role(staff=other, role="lead", by=boss)
    for change in ({"role": "lead"}, {"is_active": False}):
        with pytest.raises(IntegrityError, match="last active administrator"), transaction.atomic():
            Staff.objects.filter(pk=boss.pk).update(**change)
    with pytest.raises(AccountError, match="Only an active administrator"):
        deeds.change_role(staff=boss, role="lead", by=other)


# One's own.


def test_sessions_are_listed_and_ended(agent: Staff, signed_in_by_password: Browser) -> None:
    here, there = signed_in_by_password(agent), signed_in_by_password(agent)
    body = here.get(reverse("sessions")).content.decode()
    assert body.count("127.0.0.1") == 2
    number = UserSession.objects.get(session_key=there.session.session_key).pk
    here.post(reverse("sessions"), {"end": str(number)})
    assert (enters(here), enters(there)) == (True, False)
    assert Event.objects.filter(kind="sign_in", decision="session_ended").count() == 1


def test_somebody_elses_session_is_not_found(agent: Staff, lead: Staff, signed_in_by_password: Browser) -> None:
    theirs, mine = signed_in_by_password(lead), signed_in_by_password(agent)
    number = UserSession.objects.get(user=lead).pk
    for wrong in (str(number), "x", "9" * 30):
        assert mine.post(reverse("sessions"), {"end": wrong}).status_code == 404
    assert enters(theirs)


def test_signing_out_everywhere_else(agent: Staff, signed_in_by_password: Browser) -> None:
    here, there, token = signed_in_by_password(agent), signed_in_by_password(agent), mint_staff_token("ada")
    here.post(reverse("sessions"))
    assert (enters(here), enters(there)) == (True, False)
    with pytest.raises(StaffTokenRefused):
        verify_staff_token(token)
    assert here.get(reverse("sessions")).content.decode().count("127.0.0.1") == 1


def test_changing_ones_password(agent: Staff, signed_in_by_password: Browser) -> None:
    here, there, url = signed_in_by_password(agent), signed_in_by_password(agent), reverse("account-password")
    form = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    assert here.post(url, form | {"old_password": "wrong"}).status_code == 422
    assert here.post(url, form | {"new_password1": "short", "new_password2": "short"}).status_code == 422
    assert here.post(url, form).status_code == 302
    assert (enters(here), enters(there)) == (True, False)
    assert Event.objects.filter(kind="sign_in", decision="password_set").count() == 1
