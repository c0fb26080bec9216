"""The part of the environment that says how people are told: by e-mail, by a webhook, and under which address."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qs, unquote, urlsplit

NAMES = (
    "PLACET_PUBLIC_URL", "PLACET_EMAIL_URL", "PLACET_NOTIFY_WEBHOOK_URL", "PLACET_NOTIFY_SECRET",
    "PLACET_NOTIFY_FORMAT", "PLACET_SHOP_NAME",
)  # fmt: skip


class NotifyError(ValueError):
    """One of the variables cannot be used; the message is one sentence that never repeats a password."""


@dataclass(frozen=True, kw_only=True)
class Smtp:
    """A mail server. `security` is none, starttls or tls."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    sender: str
    security: Literal["none", "starttls", "tls"]


@dataclass(frozen=True, kw_only=True)
class Notify:
    """How people are told. Without `smtp` nobody gets e-mail, without `webhook_url` nothing is posted."""

    url: str = "http://localhost:8000"
    shop: str = "our shop"
    """How the shop calls itself to its customers."""
    smtp: Smtp | None = None
    webhook_url: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)
    format: Literal["json", "slack"] = "json"


def read_notify(given: Mapping[str, str], port: int) -> Notify:
    """Read the variables. Raises NotifyError."""
    webhook = _web("PLACET_NOTIFY_WEBHOOK_URL", given.get("PLACET_NOTIFY_WEBHOOK_URL", ""))
    secret = given.get("PLACET_NOTIFY_SECRET", "")
    if webhook and len(secret) < 16:
        raise NotifyError("PLACET_NOTIFY_WEBHOOK_URL needs PLACET_NOTIFY_SECRET, of at least 16 random characters.")
    match given.get("PLACET_NOTIFY_FORMAT", "json"):
        case "json" | "slack" as form:
            pass
        case text:
            raise NotifyError(f"PLACET_NOTIFY_FORMAT is {text[:20]!r}: give json or slack.")
    url = _web("PLACET_PUBLIC_URL", given.get("PLACET_PUBLIC_URL", "")) or f"http://localhost:{port}"
    smtp = _smtp(given["PLACET_EMAIL_URL"]) if "PLACET_EMAIL_URL" in given else None
    shop = given.get("PLACET_SHOP_NAME", "Harbour & Hearth" if given.get("PLACET_DEMO") == "1" else "our shop")
    return Notify(url=url.rstrip("/"), shop=shop, smtp=smtp, webhook_url=webhook, secret=secret, format=form)


def _web(name: str, text: str) -> str:
    if text and (urlsplit(text).scheme not in ("http", "https") or not urlsplit(text).hostname):
        raise NotifyError(f"{name} is no web address: give one like https://support.example.com.")
    return text


def _smtp(text: str) -> Smtp:
    problem = NotifyError(
        "PLACET_EMAIL_URL cannot be used: give one like smtp://user:password@mail.example.com:587/?from=a@example.com "
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
