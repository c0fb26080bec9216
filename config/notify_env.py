"""The part of the environment that says how people are told: by e-mail, by a webhook, and under which address."""

import base64
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from config.env_base import EnvError, Variables

_STANDARD = "whsec_"


@dataclass(frozen=True, kw_only=True)
class Smtp:
    """A mail server. `security` is none, starttls or tls."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    sender: str
    security: Literal["none", "starttls", "tls"]


def _web(text: str) -> str:
    if urlsplit(text).scheme not in ("http", "https") or not urlsplit(text).hostname:
        raise ValueError("is no web address: give one like https://support.example.com.")
    return text


def _smtp(text: str) -> Smtp:
    problem = ValueError(
        "cannot be used: give one like smtp://user:password@mail.example.com:587/?from=a@example.com "
        "(smtp: STARTTLS, smtps: TLS, smtp+plain: neither)."
    )
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise problem from error
    security = {"smtp": "starttls", "smtps": "tls", "smtp+plain": "none"}.get(parts.scheme)
    sender = parse_qs(parts.query).get("from", [""])[0]
    if security is None or not parts.hostname or "@" not in sender:
        raise problem
    return Smtp(
        host=parts.hostname,
        port=port or {"starttls": 587, "tls": 465, "none": 25}[security],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        sender=sender,
        security=security,  # type: ignore[arg-type]  # one of the three above
    )


def key_of(secret: str) -> bytes:
    """The key that a secret stands for. Raises ValueError."""
    if not secret.startswith(_STANDARD):
        return secret.encode()
    return base64.b64decode(secret.removeprefix(_STANDARD), validate=True)


def _signs(secret: str) -> str:
    try:
        key_of(secret)
    except ValueError as error:
        raise ValueError("is not base64 after whsec_: give whsec_ and at least 16 random bytes in base64.") from error
    return secret


class Notify(Variables):
    """How people are told. Without `smtp` nobody gets e-mail, without `webhook_url` nothing is posted."""

    url: Annotated[str, AfterValidator(_web), AfterValidator(lambda url: url.rstrip("/"))] = Field(
        "http://localhost:8000", validation_alias="PLACET_PUBLIC_URL"
    )
    shop: str = Field("our shop", validation_alias="PLACET_SHOP_NAME")
    """How the shop calls itself to its customers."""
    smtp: Annotated[Smtp | None, BeforeValidator(lambda url: _smtp(url) if isinstance(url, str) else url)] = Field(
        None, validation_alias="PLACET_EMAIL_URL", repr=False
    )
    webhook_url: Annotated[str, AfterValidator(_web)] = Field(
        "", validation_alias="PLACET_NOTIFY_WEBHOOK_URL", repr=False
    )
    secret: Annotated[str, AfterValidator(_signs)] = Field("", validation_alias="PLACET_NOTIFY_SECRET", repr=False)
    format: Literal["json", "slack"] = Field(
        "json", validation_alias="PLACET_NOTIFY_FORMAT", description="json or slack"
    )

    @model_validator(mode="after")
    def _posts_are_signed(self) -> Self:
        if self.webhook_url and len(self.key) < 16:
            raise EnvError("PLACET_NOTIFY_WEBHOOK_URL needs PLACET_NOTIFY_SECRET, of at least 16 random characters.")
        return self

    @property
    def key(self) -> bytes:
        """What posts are signed with: the bytes behind `whsec_`, or the characters of a secret without it."""
        return key_of(self.secret)
