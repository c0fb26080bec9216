"""Credentials: signed, minutes long, for one customer, one conversation and named scopes.

Dispatch mints one from the conversation's session before it reads an argument; nothing that a model
writes can reach or widen it. One for an approved execution also names the digest that was approved.
"""

import datetime as dt
import secrets
import uuid
from dataclasses import dataclass

import jwt
from django.conf import settings
from django.utils import timezone

from ledger.errors import CredentialRefused

AUDIENCE = "placet-ledger"
LIFETIME = dt.timedelta(minutes=5)
READ, WRITE, EXECUTE = "read", "write", "execute"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A verified credential. `id` may be recorded; the token it came in may not."""

    id: str
    customer_id: str
    conversation_id: uuid.UUID
    scopes: frozenset[str]
    digest: str

    def require(self, scope: str) -> None:
        """Refuse what this credential does not name."""
        if scope not in self.scopes:
            raise CredentialRefused(f"This credential does not cover {scope!r}.")


def _key() -> bytes:
    return f"{settings.SECRET_KEY}:ledger".encode()


def mint(customer_id: str, conversation_id: uuid.UUID, *scopes: str, digest: str = "") -> str:
    """A token for the session's customer. Lives five minutes; its id has 128 random bits."""
    claims = {
        "aud": AUDIENCE,
        "jti": secrets.token_hex(16),
        "sub": customer_id,
        "conversation": str(conversation_id),
        "scopes": sorted(scopes),
        "digest": digest,
        "exp": timezone.now() + LIFETIME,
    }
    return jwt.encode(claims, _key(), algorithm="HS256")


def verify(token: str) -> Credential:
    """The credential in a token, or CredentialRefused."""
    try:
        claims = jwt.decode(
            token, _key(), algorithms=["HS256"], audience=AUDIENCE, options={"require": ["exp", "sub", "jti"]}
        )
        return Credential(
            id=claims["jti"],
            customer_id=claims["sub"],
            conversation_id=uuid.UUID(claims["conversation"]),
            scopes=frozenset(claims["scopes"]),
            digest=claims["digest"],
        )
    except (jwt.InvalidTokenError, KeyError, ValueError, TypeError, AttributeError) as exc:
        raise CredentialRefused("This credential is not valid.") from exc
