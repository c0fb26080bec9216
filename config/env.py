"""The environment: every variable that Placet reads, checked once and given types.

An empty variable counts as not set. Nothing is written here, so that any command can load it.
"""

import base64
import binascii
import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from base.home import REPOSITORY, HomeError, read_private, read_running
from config.env_base import EnvError, address, listed
from config.notify_env import NAMES as NOTIFY_NAMES
from config.notify_env import Notify, NotifyError, read_notify
from config.staff_env import NAMES as STAFF_NAMES
from config.staff_env import StaffAccess, read_staff_access

Payments = Literal["off", "test", "stripe"]
ChatKey = tuple[str, Literal["HS256", "EdDSA"], bytes]

__all__ = ["Env", "EnvError", "load"]


@dataclass(frozen=True)
class Number:
    """A whole number with its default and the bounds, both included."""

    default: int
    least: int
    most: int


NUMBERS = {
    "PORT": Number(8000, 1, 65535),
    "PLACET_DEMO": Number(0, 0, 1),
    "PLACET_MAX_TOKENS": Number(16000, 1, 1_000_000),
    "PLACET_UNDO_SECONDS": Number(10, 0, 3600),
    "PLACET_PAYOUT_DELAY_SECONDS": Number(30, 0, 86_400),
    "PLACET_LEASE_SECONDS": Number(30, 1, 3600),
    "PLACET_TOOL_SECONDS": Number(10, 1, 600),
    "PLACET_TURN_MODEL_CALLS": Number(15, 1, 1000),
    "PLACET_TURN_INPUT_TOKENS": Number(200_000, 1, 100_000_000),
    "PLACET_TURN_OUTPUT_TOKENS": Number(50_000, 1, 100_000_000),
    "PLACET_TURN_SECONDS": Number(180, 1, 86_400),
    "PLACET_TURN_WRITES": Number(5, 1, 1000),
    "PLACET_TURN_ERRORS": Number(5, 1, 1000),
    "PLACET_TURN_MINOR": Number(100, 1, 1_000_000),
    "PLACET_WORKER_THREADS": Number(256, 1, 1000),
    "PLACET_DECOYS_PER_DAY": Number(0, 0, 100),
    "PLACET_SAMPLE_PER_DAY": Number(10, 0, 200),
}
TEXTS = (
    *NOTIFY_NAMES,
    *STAFF_NAMES,
    "PLACET_HOME",
    "PLACET_MODEL",
    "PLACET_TOKEN_APPROVALS",
    "PLACET_SHARED",
    "PLACET_SECRET_KEY",
    "PLACET_CHAT_KEYS",
    "PLACET_HOSTS",
    "PLACET_FAILPOINTS",
    "PLACET_PAYMENTS",
    "PLACET_PAYMENTS_URL",
    "PLACET_PAYMENTS_SECRET",
    "PLACET_LEDGER_URL",
    "PLACET_LEDGER_KEY",
)


@dataclass(frozen=True)
class Env:
    """Everything that the environment decides. Fields are the variables' names without PLACET_."""

    port: int
    home: Path
    shared: Path
    database_url: str | None = field(repr=False)
    database_owner_url: str | None = field(repr=False)
    redis_url: str | None = field(repr=False)
    anthropic_api_key: str | None = field(repr=False)
    anthropic_base_url: str | None
    payments: Payments
    payments_url: str | None
    """Where the test provider listens; with `stripe` another address that speaks its API."""
    stripe_api_key: str | None = field(repr=False)
    payments_secret: str = field(repr=False)
    """Signs the provider's webhooks; empty refuses them all."""
    model: str
    max_tokens: int
    undo_seconds: int
    payout_delay_seconds: int
    lease_seconds: int
    tool_seconds: int
    token_approvals: Literal["below", "all"]
    turn_model_calls: int
    turn_input_tokens: int
    turn_output_tokens: int
    turn_seconds: int
    turn_writes: int
    turn_errors: int
    turn_minor: int
    worker_threads: int
    decoys_per_day: int
    sample_per_day: int
    demo: bool
    hosts: tuple[str, ...]
    failpoints: Path | None
    """For tests alone: see base.failpoints."""
    secret_key: str = field(repr=False)
    """Empty before the first set-up, so that whatever signs fails instead of signing with a guessable key."""
    chat_keys: tuple[ChatKey, ...] = field(repr=False)
    notify: Notify
    staff: StaffAccess
    ledger_url: str | None
    """Where the shop lives, if not in this database; ends with a slash."""
    ledger_key: str = field(repr=False)
    """Signs the ledger's credentials; empty where one derived from the secret key does."""


def load(environ: Mapping[str, str]) -> Env:
    """Read the environment, and for what it lacks a running `make run`. Raises EnvError."""
    given = {name: value.strip() for name, value in environ.items() if value.strip()}
    _refuse_unknown(given)
    home = Path(given.get("PLACET_HOME", REPOSITORY / ".placet")).expanduser().absolute()
    try:
        running = read_running(home)
        secrets = read_private(home / "secrets.json") or {}
    except HomeError as error:
        raise EnvError(str(error)) from error
    values: dict[str, Any] = {name.removeprefix("PLACET_").lower(): _number(given, name) for name in NUMBERS}
    values |= _addresses(given, running)
    return Env(
        home=home,
        shared=Path(given.get("PLACET_SHARED", REPOSITORY.parent / "shared")).expanduser().absolute(),
        anthropic_api_key=given.get("ANTHROPIC_API_KEY"),
        payments=_payments(given, values["payments_url"]),
        stripe_api_key=given.get("STRIPE_API_KEY"),
        payments_secret=given.get("PLACET_PAYMENTS_SECRET", running.get("placet_payments_secret", "")),
        model=_model(given),
        token_approvals=_token_approvals(given),
        hosts=_hosts(given),
        failpoints=Path(given["PLACET_FAILPOINTS"]) if "PLACET_FAILPOINTS" in given else None,
        secret_key=_long_enough("PLACET_SECRET_KEY", given.get("PLACET_SECRET_KEY", secrets.get("secret_key", ""))),
        chat_keys=_chat_keys(given),
        notify=_notify(given, values["port"]),
        staff=read_staff_access(given),
        ledger_url=_ledger_url(given),
        ledger_key=_long_enough("PLACET_LEDGER_KEY", given.get("PLACET_LEDGER_KEY", "")),
        demo=bool(values.pop("demo")),
        **values,
    )


def _notify(given: Mapping[str, str], port: int) -> Notify:
    try:
        return read_notify(given, port)
    except NotifyError as error:
        raise EnvError(str(error)) from error


def _refuse_unknown(given: Mapping[str, str]) -> None:
    known = [*(name for name in NUMBERS if name.startswith("PLACET_")), *TEXTS]
    for name in given:
        if name.startswith("PLACET_") and name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else "docs/operator.md lists the known names."
            raise EnvError(f"{name} is not a variable of Placet: {hint}")


def _number(given: Mapping[str, str], name: str) -> int:
    text = given.get(name, str((rule := NUMBERS[name]).default))
    if not (text.isascii() and text.isdigit() and len(text) < 12 and rule.least <= int(text) <= rule.most):
        raise EnvError(f"{name} is {text!r}: give a whole number from {rule.least} to {rule.most}.")
    return int(text)


def _addresses(given: Mapping[str, str], running: Mapping[str, str]) -> dict[str, str | None]:
    # A database of one's own never gets an owner's address of the embedded one, and the other way round.
    own_database = "DATABASE_URL" in given or "DATABASE_OWNER_URL" in given
    database = given if own_database else _upper(running)
    model = given if {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"} & given.keys() else _upper(running)
    broker = given if "REDIS_URL" in given else _upper(running)
    payments = given if {"PLACET_PAYMENTS", "PLACET_PAYMENTS_URL", "STRIPE_API_KEY"} & given.keys() else _upper(running)
    return {
        "payments_url": address(payments, "PLACET_PAYMENTS_URL", ("http", "https"), "https://api.stripe.com"),
        "database_url": _postgres(database, "DATABASE_URL"),
        "database_owner_url": _postgres(database, "DATABASE_OWNER_URL"),
        "redis_url": address(broker, "REDIS_URL", ("redis", "rediss"), "redis://host:6379/0"),
        "anthropic_base_url": address(model, "ANTHROPIC_BASE_URL", ("http", "https"), "https://api.anthropic.com"),
    }


def _upper(values: Mapping[str, str]) -> dict[str, str]:
    return {name.upper(): value for name, value in values.items()}


def _postgres(given: Mapping[str, str], name: str) -> str | None:
    example = "postgresql://user:password@host:5432/placet"
    text = address(given, name, ("postgres", "postgresql"), example)
    if text and not (urlsplit(text).username and urlsplit(text).path.strip("/")):
        raise EnvError(f"{name} lacks a user or a database name: give one like {example}.")
    return text


def _model(given: Mapping[str, str]) -> str:
    model = given.get("PLACET_MODEL", "claude-opus-5-5")
    if any(character.isspace() for character in model) or len(model) > 100:
        raise EnvError(f"PLACET_MODEL is {model[:100]!r}: give the id of one model, such as claude-opus-5-5.")
    return model


def _payments(given: Mapping[str, str], url: str | None) -> Payments:
    match given.get("PLACET_PAYMENTS", "stripe" if "STRIPE_API_KEY" in given else "test" if url else "off"):
        case "off":
            return "off"
        case "test":
            if url is None:
                raise EnvError("PLACET_PAYMENTS is 'test' without PLACET_PAYMENTS_URL: say where it listens.")
            return "test"
        case "stripe":
            if "STRIPE_API_KEY" not in given:
                raise EnvError("PLACET_PAYMENTS is 'stripe' without STRIPE_API_KEY: give your account's secret key.")
            return "stripe"
        case text:
            raise EnvError(f"PLACET_PAYMENTS is {text!r}: give stripe, test or off.")


def _token_approvals(given: Mapping[str, str]) -> Literal["below", "all"]:
    match given.get("PLACET_TOKEN_APPROVALS", "below"):
        case "below":
            return "below"
        case "all":
            return "all"
        case text:
            raise EnvError(f"PLACET_TOKEN_APPROVALS is {text!r}: give below, or all for tests.")


def _hosts(given: Mapping[str, str]) -> tuple[str, ...]:
    hosts = listed(given.get("PLACET_HOSTS", "localhost,127.0.0.1,[::1]"))
    for host in hosts:
        if host == "*" or "/" in host or any(character.isspace() for character in host):
            raise EnvError(f"PLACET_HOSTS holds {host!r}: give host names with commas, such as chat.example.com.")
    return tuple(hosts)


def _long_enough(name: str, key: str) -> str:
    if key and len(key) < 32:
        raise EnvError(f"{name} is too short to protect anything: give at least 32 random characters.")
    return key


def _ledger_url(given: Mapping[str, str]) -> str | None:
    url = address(given, "PLACET_LEDGER_URL", ("http", "https"), "https://shop.example.com/ledger/v1/")
    return f"{url.rstrip('/')}/" if url else None


def _chat_keys(given: Mapping[str, str]) -> tuple[ChatKey, ...]:
    keys = tuple(_chat_key(text) for text in listed(given.get("PLACET_CHAT_KEYS", "")))
    if len({kid for kid, _, _ in keys}) < len(keys):
        raise EnvError("PLACET_CHAT_KEYS names a kid twice: each key needs a kid of its own.")
    return keys


def _chat_key(text: str) -> ChatKey:
    kid, _, rest = text.partition(":")
    algorithm, _, encoded = rest.partition(":")
    shape = EnvError(
        f"PLACET_CHAT_KEYS, key {kid[:40]!r}: give kid:HS256:key or kid:EdDSA:key, "
        "the key in base64 (HS256: 32 bytes or more, EdDSA: the public key's 32 bytes)."
    )
    try:
        key = base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise shape from error
    if kid and algorithm == "HS256" and len(key) >= 32:
        return kid, "HS256", key
    if kid and algorithm == "EdDSA" and len(key) == 32:
        return kid, "EdDSA", key
    raise shape
