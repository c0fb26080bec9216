"""Widget tokens: what opens the chat, and everything that does not."""

import dataclasses
import datetime as dt
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.chat.tokens import TokenRefused, mint_widget_token, verify_widget_token
from agents.models import Session
from agents.turns.steering import sign_out
from ledger.access.staff import as_staff
from ledger.models import Customer
from tests.support.env import replace

SHARED = b"a shared key that is long enough for every HMAC that could be tried"
PRIVATE = Ed25519PrivateKey.generate()
PUBLIC = PRIVATE.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def ann(settings: Settings) -> None:
    keys = (("shop", "HS256", SHARED), ("edge", "EdDSA", PUBLIC))
    settings.PLACET = replace(settings.PLACET, chat_keys=keys)
    as_staff(lambda: Customer.objects.create(customer_id="ann", name="", email="", address={}, imported={}))


def token(key: Any = SHARED, algorithm: str = "HS256", kid: str | None = "shop", **changed: Any) -> str:
    now = int(time.time())
    claims = {"aud": "placet-chat", "sub": "ann", "sid": "s1", "iat": now, "exp": now + 600, **changed}
    kept = {n: value.claim() if isinstance(value, Ago) else value for n, value in claims.items() if value is not None}
    return jwt.encode(kept, key, algorithm=algorithm, headers={"kid": kid} if kid else None)


@dataclasses.dataclass
class Ago:
    """A moment, as seconds before the test runs (not before it is collected)."""

    seconds: int
    as_text: bool = False

    def claim(self) -> int | str:
        moment = int(time.time()) - self.seconds
        return str(moment) if self.as_text else moment


def test_a_minted_token_opens_the_chat() -> None:
    claims = verify_widget_token(mint_widget_token("ann", "s1", 60))
    assert (claims.customer_id, claims.session_id, claims.auth_time, claims.amr) == ("ann", "s1", None, ())
    assert 55 < (claims.expires_at - timezone.now()).total_seconds() <= 60


@pytest.mark.parametrize(("kid", "algorithm", "key"), [("shop", "HS256", SHARED), ("edge", "EdDSA", PRIVATE)])
def test_the_shops_keys_open_the_chat(kid: str, algorithm: str, key: Any) -> None:
    claims = verify_widget_token(token(key, algorithm, kid, auth_time=1_700_000_000, amr=["pwd", "otp"]))
    assert claims.amr == ("pwd", "otp")
    assert claims.auth_time == dt.datetime.fromtimestamp(1_700_000_000, dt.UTC)


@pytest.mark.parametrize(
    "changed",
    [
        {"exp": Ago(20)},
        {"iat": Ago(-20), "exp": Ago(-600)},
        {"iat": Ago(-1), "exp": Ago(-3601)},
        {"aud": ["other", "placet-chat"]},
    ],
    ids=str,
)
def test_clocks_may_differ_by_half_a_minute(changed: dict[str, Any]) -> None:
    assert verify_widget_token(token(**changed)).customer_id == "ann"


REFUSED: list[dict[str, Any]] = [
    {"key": b"another key that is long enough for HS256"},
    {"kid": None},
    {"kid": "unknown"},
    {"kid": "local"},
    {"kid": "edge"},
    {"kid": "edge", "key": PUBLIC},  # the classic: a public key used as a shared secret
    {"kid": "shop", "key": PRIVATE, "algorithm": "EdDSA"},
    {"key": None, "algorithm": "none"},
    {"algorithm": "HS384"},
    {"aud": "placet-staff"},
    {"aud": None},
    {"sub": None},
    {"sub": ""},
    {"sub": "bob"},
    {"sub": 7},
    {"sub": "an\0n"},
    {"sub": "\ud800"},
    {"sub": "a" * 201},
    {"sid": None},
    {"sid": ""},
    {"sid": 7},
    {"sid": "s" * 101},
    {"sid": "ended"},
    {"iat": None},
    {"iat": "now"},
    {"iat": True},
    {"iat": Ago(0, as_text=True)},
    {"iat": float("nan")},
    {"iat": float("inf")},
    {"iat": Ago(-90), "exp": Ago(-600)},
    {"exp": None},
    {"exp": Ago(40)},
    {"exp": Ago(-3700)},
    {"exp": float("inf")},
    {"exp": 10**400},
    {"exp": Ago(-600, as_text=True)},
    {"iat": Ago(7200), "exp": Ago(-60)},
    {"nbf": Ago(-600)},
    {"amr": "pwd"},
    {"amr": [1]},
    {"amr": ["pwd", "o\0tp"]},
    {"amr": ["\udfff"]},
    {"amr": ["m" * 101]},
    {"amr": ["pwd"] * 21},
    {"auth_time": Ago(-60)},
    {"auth_time": "noon"},
    {"auth_time": 10**30},
]


@pytest.mark.parametrize("changed", REFUSED, ids=[f"{n}-{list(case)}" for n, case in enumerate(REFUSED)])
def test_anything_else_is_refused(changed: dict[str, Any]) -> None:
    Session.objects.create(session_id="ended", customer_id="ann")
    with pytest.raises(TokenRefused):
        verify_widget_token(token(**changed))


@pytest.mark.parametrize("text", ["", "x", "a.b.c", "é.é.é", "ey" * 50_000])
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(TokenRefused):
        verify_widget_token(text)


def test_one_name_of_two_customers_is_two_sessions() -> None:
    sign_out(customer_id="bob", session_id="s1")
    assert verify_widget_token(token()).session_id == "s1"
    sign_out(customer_id="ann", session_id="s1")
    sign_out(customer_id="ann", session_id="s1")
    with pytest.raises(TokenRefused, match="ended"):
        verify_widget_token(token())


def test_a_disabled_customer_is_refused() -> None:
    minted = mint_widget_token("ann", "s1", 60)
    as_staff(lambda: Customer.objects.update(disabled_at=timezone.now()))
    with pytest.raises(TokenRefused):
        verify_widget_token(minted)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("widget_token", "ann", "--ttl", "30")
    assert verify_widget_token(capsys.readouterr().out.strip()).customer_id == "ann"
    with pytest.raises(CommandError, match=r"^There is no customer 'bob' who may chat.$"):
        call_command("widget_token", "bob")
    for ttl in ("0", "3601", "-1"):
        with pytest.raises(CommandError, match=r"^A widget token lives 1 to 3600 seconds.$"):
            call_command("widget_token", "ann", "--ttl", ttl)
