"""The part of the environment that says how staff sign in and how fresh that has to be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from config.env_base import EnvError, address

_NEEDED = ("PLACET_OIDC_ISSUER", "PLACET_OIDC_CLIENT_ID", "PLACET_OIDC_CLIENT_SECRET")
NAMES = ("PLACET_STAFF_MFA", "PLACET_FRESH_MINUTES", "PLACET_OIDC_NAME", *_NEEDED)
MOST_MINUTES = 24 * 60


@dataclass(frozen=True, kw_only=True)
class Oidc:
    """An identity provider that staff may sign in with; `name` is what its button says."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    provider: str = "oidc"
    """How it is called in addresses, and where subjects are kept."""


@dataclass(frozen=True, kw_only=True)
class StaffAccess:
    """How staff sign in. Above the higher line a decision needs an authentication of the last `fresh_minutes`."""

    mfa: Literal["optional", "required"] = "optional"
    fresh_minutes: int = 15
    oidc: Oidc | None = None

    @property
    def oidc_apps(self) -> list[dict[str, Any]]:
        """The provider as allauth wants to be told."""
        if self.oidc is None:
            return []
        known = {"client_id": self.oidc.client_id, "secret": self.oidc.client_secret, "name": self.oidc.name}
        return [{"provider_id": self.oidc.provider, **known, "settings": {"server_url": self.oidc.issuer}}]


def read_staff_access(given: Mapping[str, str]) -> StaffAccess:
    """Read the variables. Raises EnvError."""
    return StaffAccess(mfa=_mfa(given), fresh_minutes=_minutes(given), oidc=_oidc(given))


def _mfa(given: Mapping[str, str]) -> Literal["optional", "required"]:
    match given.get("PLACET_STAFF_MFA", "optional"):
        case "optional":
            return "optional"
        case "required":
            return "required"
        case text:
            raise EnvError(f"PLACET_STAFF_MFA is {text[:20]!r}: give optional or required.")


def _minutes(given: Mapping[str, str]) -> int:
    text = given.get("PLACET_FRESH_MINUTES", "15")
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= MOST_MINUTES):
        raise EnvError(f"PLACET_FRESH_MINUTES is {text[:20]!r}: give a whole number from 1 to {MOST_MINUTES}.")
    return int(text)


def _oidc(given: Mapping[str, str]) -> Oidc | None:
    issuer = address(given, "PLACET_OIDC_ISSUER", ("https", "http"), "https://login.example.com/realms/shop")
    if not any(name in given for name in (*_NEEDED, "PLACET_OIDC_NAME")):
        return None
    if missing := [name for name in _NEEDED if name not in given]:
        raise EnvError(f"{missing[0]} is missing: an identity provider needs {', '.join(_NEEDED)}.")
    assert issuer is not None
    if urlsplit(issuer).scheme == "http" and urlsplit(issuer).hostname not in ("localhost", "127.0.0.1"):
        raise EnvError("PLACET_OIDC_ISSUER is plain http: give an https address, or one on localhost for tests.")
    name = given.get("PLACET_OIDC_NAME", "single sign-on")
    if len(name) > 60:
        raise EnvError("PLACET_OIDC_NAME is too long for a button: give at most 60 characters.")
    return Oidc(
        issuer=issuer.rstrip("/"),
        client_id=given["PLACET_OIDC_CLIENT_ID"],
        client_secret=given["PLACET_OIDC_CLIENT_SECRET"],
        name=name,
    )
