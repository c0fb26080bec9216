"""Widget tokens: how the shop's own backend says which customer is signed in.

A JWT whose `kid` names one of our keys, and that key fixes the algorithm: what the header says about it
counts for nothing. The built-in key `local` signs what Placet itself issues.
"""

import datetime as dt
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.conf import settings

from agents.models import Session
from ledger.access.scopes import as_customer
from ledger.models import Customer

AUDIENCE = "placet-chat"
LONGEST_SECONDS = 3600
LEEWAY_SECONDS = 30
MOST_METHODS = 20
_LOCAL = "local"
_REQUIRED = ["aud", "sub", "iat", "exp", "sid"]


class TokenRefused(Exception):
    """A widget token that opens nothing; the message says why, for the log and never for the caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WidgetClaims:
    """A verified token. `auth_time` is when the customer last proved who they are, `amr` how."""

    customer_id: str
    session_id: str
    expires_at: dt.datetime
    auth_time: dt.datetime | None
    amr: tuple[str, ...]


def mint_widget_token(customer_id: str, session_id: str, ttl_seconds: int) -> str:
    """A token signed with the built-in key, for 1 to 3,600 seconds."""
    if not 1 <= ttl_seconds <= LONGEST_SECONDS:
        raise ValueError(f"A widget token lives 1 to {LONGEST_SECONDS} seconds.")
    now = int(time.time())
    claims = {"aud": AUDIENCE, "sub": customer_id, "sid": session_id, "iat": now, "exp": now + ttl_seconds}
    return jwt.encode(claims, _local_key(), algorithm="HS256", headers={"kid": _LOCAL})


def verify_widget_token(token: str) -> WidgetClaims:
    """What a token says, once all of it holds. Raises TokenRefused."""
    try:
        claims = _decode(token)
        read = _read(claims)
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise TokenRefused(str(error)) from error
    if Session.objects.filter(customer_id=read.customer_id, session_id=read.session_id).exists():
        raise TokenRefused("the session was ended")
    if not is_customer(read.customer_id):
        raise TokenRefused("no such customer")
    return read


def is_customer(customer_id: str) -> bool:
    """Whether there is such a customer who may chat."""
    return _storable(customer_id) and as_customer(
        customer_id,
        lambda: Customer.objects.filter(customer_id=customer_id, disabled_at__isnull=True).exists(),
    )


def _local_key() -> bytes:
    return f"{settings.SECRET_KEY}:widget-token".encode()


def _decode(token: str) -> dict[str, Any]:
    kid = jwt.get_unverified_header(token).get("kid")
    for name, algorithm, key in ((_LOCAL, "HS256", _local_key()), *settings.PLACET.chat_keys):
        if kid == name:
            return jwt.decode(
                token,
                Ed25519PublicKey.from_public_bytes(key) if algorithm == "EdDSA" else key,
                algorithms=[algorithm],
                audience=AUDIENCE,
                leeway=LEEWAY_SECONDS,
                options={"require": _REQUIRED},
            )
    raise TokenRefused("no key of that kid")


def _read(claims: Mapping[str, Any]) -> WidgetClaims:
    issued, expires = _seconds(claims["iat"]), _seconds(claims["exp"])
    if expires - issued > LONGEST_SECONDS + LEEWAY_SECONDS:
        raise TokenRefused("lives longer than 60 minutes")
    return WidgetClaims(
        customer_id=_text(claims["sub"], 200),
        session_id=_text(claims["sid"], 100),
        expires_at=_moment(expires),
        auth_time=_auth_time(claims.get("auth_time")),
        amr=_amr(claims.get("amr", [])),
    )


def _auth_time(claimed: Any) -> dt.datetime | None:
    if claimed is None:
        return None
    if _seconds(claimed) > time.time() + LEEWAY_SECONDS:
        raise TokenRefused("auth_time is in the future")
    return _moment(_seconds(claimed))


def _amr(claimed: Any) -> tuple[str, ...]:
    if not isinstance(claimed, list) or len(claimed) > MOST_METHODS:
        raise TokenRefused("amr is not a short list of names")
    return tuple(_text(method, 100) for method in claimed)


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TokenRefused("a time is not a number")
    return float(value)


def _moment(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, dt.UTC)


def _text(value: Any, longest: int) -> str:
    if not (isinstance(value, str) and 0 < len(value) <= longest and _storable(value)):
        raise TokenRefused("sub, sid or amr holds no name that can be kept")
    return value


def _storable(text: str) -> bool:
    # Postgres takes neither NUL nor half a surrogate pair, and both can stand in JSON.
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
