"""Staff accounts and the tokens of their programs."""

import datetime as dt
import io

import jwt
import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from approvals.models import Staff
from approvals.people.accounts import (
    AccountError,
    StaffTokenRefused,
    create_staff,
    mint_staff_token,
    verify_staff_token,
)
from audit.models import Event
from ledger.access.staff import as_staff
from ledger.models import Customer

PASSWORD = "three quiet harbours"
KEY = f"{django_settings.SECRET_KEY}:staff-token".encode()
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def ada() -> Staff:
    return create_staff("ada", "agent", PASSWORD)


def test_an_account_signs_in_and_is_recorded() -> None:
    as_staff(lambda: Customer.objects.create(customer_id="ann", name="", email="", address={}, imported={}))
    staff = create_staff("ada", "lead", PASSWORD, "ann")
    staff.refresh_from_db()
    assert (staff.role, staff.customer_id, staff.check_password(PASSWORD)) == ("lead", "ann", True)
    event = Event.objects.get(kind="role")
    assert (event.decision, event.actor_kind) == ("granted", "system")
    assert PASSWORD not in event.detail.body


@pytest.mark.parametrize(
    ("name", "role", "password", "customer", "says"),
    [
        ("ada", "agent", PASSWORD, "", "There is a member of staff named 'ada' already; nothing was changed."),
        ("ADA", "agent", PASSWORD, "", "There is a member of staff named 'ADA' already; nothing was changed."),
        ("bob", "boss", PASSWORD, "", "There is no role 'boss': give one of agent, lead, auditor, admin."),
        ("bob", "agent", "short", "", "This password is too short. It must contain at least 12 characters."),
        ("bob", "agent", "", "", "This password is too short. It must contain at least 12 characters."),
        ("bob", "agent", PASSWORD, "nobody", "There is no customer 'nobody'."),
        ("b b", "agent", PASSWORD, "", "The name must be 1 to 150 letters, digits or any of @ . + - _."),
        ("b" * 151, "agent", PASSWORD, "", "The name must be 1 to 150 letters, digits or any of @ . + - _."),
        ("", "agent", PASSWORD, "", "The name must be 1 to 150 letters, digits or any of @ . + - _."),
    ],
)
def test_what_cannot_be_made_changes_nothing(
    ada: Staff, name: str, role: str, password: str, customer: str, says: str
) -> None:
    with pytest.raises(AccountError) as caught:
        create_staff(name, role, password, customer)
    assert str(caught.value) == says
    assert Staff.objects.values_list("username", "role").get() == ("ada", "agent")


def test_a_token_opens_the_api_for_twelve_hours(ada: Staff) -> None:
    token = mint_staff_token("ada")
    assert verify_staff_token(token) == ada
    claims = jwt.decode(token, KEY, algorithms=["HS256"], audience="placet-staff")
    assert (claims["sub"], round(claims["exp"] - claims["iat"])) == (str(ada.pk), 12 * 3600)
    event = Event.objects.get(kind="access")
    assert (event.decision, event.credential_id) == ("issued", claims["jti"])


def _forged(staff: Staff, key: bytes = KEY, algorithm: str = "HS256", **changed: object) -> str:
    now = timezone.now().timestamp()
    usual = {"aud": "placet-staff", "sub": str(staff.pk), "iat": now, "exp": now + 3600, "jti": "1"}
    claims = {**usual, **changed}
    for name in ("iat", "exp"):
        if isinstance(delay := changed.get(name), dt.timedelta):
            claims[name] = now + delay.total_seconds()
    return jwt.encode({n: value for n, value in claims.items() if value is not None}, key, algorithm=algorithm)


@pytest.mark.parametrize(
    "changed",
    [
        {"key": b"another key that is long enough for HS256"},
        {"algorithm": "HS384"},
        {"aud": "placet-chat"},
        {"aud": None},
        {"sub": "0"},
        {"sub": "ada"},
        {"sub": "9" * 400},
        {"sub": None},
        {"jti": None},
        {"iat": None},
        {"iat": dt.timedelta(days=-1)},
        {"exp": None},
        {"exp": dt.timedelta(minutes=-1)},
    ],
    ids=lambda changed: str(changed)[:40],
)
def test_a_forged_token_opens_nothing(ada: Staff, changed: dict) -> None:
    verify_staff_token(_forged(ada))
    with pytest.raises(StaffTokenRefused):
        verify_staff_token(_forged(ada, **changed))


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é" * 10])
def test_no_token_opens_nothing(token: str) -> None:
    with pytest.raises(StaffTokenRefused):
        verify_staff_token(token)


def test_a_token_ends_with_the_account_and_with_its_validity(ada: Staff) -> None:
    token = mint_staff_token("ada")
    Staff.objects.update(tokens_valid_from=timezone.now() + dt.timedelta(seconds=5))
    with pytest.raises(StaffTokenRefused):
        verify_staff_token(token)
    assert verify_staff_token(mint_staff_token("ada")) == ada
    Staff.objects.update(is_active=False)
    with pytest.raises(StaffTokenRefused):
        verify_staff_token(token)
    with pytest.raises(AccountError, match="There is no active member of staff named 'ada'"):
        mint_staff_token("ada")


def test_the_commands(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def create() -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
        call_command("create_staff", "ada", "--role", "agent", "--password-stdin")

    create()
    with pytest.raises(CommandError, match="named 'ada' already"):
        create()
    call_command("staff_token", "ada")
    assert verify_staff_token(capsys.readouterr().out.split()[-1]).check_password(PASSWORD)
    with pytest.raises(CommandError, match="no active member of staff named 'bob'"):
        call_command("staff_token", "bob")


def test_how_staff_are_reached(ada: Staff, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("staff_contact", "ada", "--email", "ada@example.com", "--phone", "+44 20 7946 0958")
    assert "ada: ada@example.com, +44 20 7946 0958." in capsys.readouterr().out
    call_command("staff_contact", "ada", "--phone", "")
    assert "ada: ada@example.com." in capsys.readouterr().out
    for wrong in (
        ["bob"],
        ["ada", "--email", "nowhere"],
        ["ada", "--email", "a@exa\u202emple.com"],
        ["ada", "--phone", "call me"],
    ):
        with pytest.raises(CommandError, match=r"no member|one like|such as"):
            call_command("staff_contact", *wrong)
    with pytest.raises(AccountError, match="telephone number"):
        create_staff("bea", "agent", PASSWORD, phone="x")
    assert create_staff("bea", "agent", PASSWORD, email="bea@example.com").email == "bea@example.com"
