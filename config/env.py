"""The environment: every variable that Placet reads, checked once and given types.

An empty variable counts as not set. Nothing is written here, so that any command can load it.
"""

import base64
import binascii
import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from base.home import REPOSITORY, HomeError, read_private, read_running
from config.env_base import EnvError, Variables, address, from_files, listed, whole
from config.notify_env import Notify
from config.staff_env import Oidc, StaffAccess

ChatKey = tuple[str, Literal["HS256", "EdDSA"], bytes]

__all__ = ["Env", "EnvError", "load"]

_POSTGRES = "postgresql://user:password@host:5432/placet"


def _names_a_database(url: str) -> str:
    if not (urlsplit(url).username and urlsplit(url).path.strip("/")):
        raise ValueError(f"lacks a user or a database name: give one like {_POSTGRES}.")
    return url


def _one_model(name: str) -> str:
    if any(character.isspace() for character in name) or len(name) > 100:
        raise ValueError(f"is {name[:100]!r}: give the id of one model, such as claude-opus-5-5.")
    return name


def _hosts(text: str) -> tuple[str, ...]:
    for host in listed(text):
        if host == "*" or "/" in host or any(character.isspace() for character in host):
            raise ValueError(f"holds {host!r}: give host names with commas, such as chat.example.com.")
    return tuple(listed(text))


def _long_enough(key: str) -> str:
    if key and len(key) < 32:
        raise ValueError("is too short to protect anything: give at least 32 random characters.")
    return key


def _chat_keys(text: str) -> tuple[ChatKey, ...]:
    keys = tuple(_chat_key(key) for key in listed(text))
    if len({kid for kid, _, _ in keys}) < len(keys):
        raise ValueError("names a kid twice: each key needs a kid of its own.")
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


Database = Annotated[str, address("postgres", "postgresql", example=_POSTGRES), AfterValidator(_names_a_database)]
Broker = Annotated[str, address("redis", "rediss", example="redis://host:6379/0")]
ModelApi = Annotated[str, address("http", "https", example="https://api.anthropic.com")]
PaymentsApi = Annotated[str, address("http", "https", example="https://api.stripe.com")]
Ledger = Annotated[
    str,
    address("http", "https", example="https://shop.example.com/ledger/v1/"),
    AfterValidator(lambda url: f"{url.rstrip('/')}/"),
]
Folder = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]
Key = Annotated[str, AfterValidator(_long_enough)]


class Env(Variables):
    """Everything that the environment decides."""

    port: Annotated[int, whole(1, 65535)] = Field(8000, validation_alias="PORT")
    home: Folder = REPOSITORY / ".placet"
    shared: Folder = REPOSITORY.parent / "shared"
    database_url: Database | None = Field(None, validation_alias="DATABASE_URL", repr=False)
    database_owner_url: Database | None = Field(None, validation_alias="DATABASE_OWNER_URL", repr=False)
    redis_url: Broker | None = Field(None, validation_alias="REDIS_URL", repr=False)
    anthropic_api_key: str | None = Field(None, validation_alias="ANTHROPIC_API_KEY", repr=False)
    anthropic_base_url: ModelApi | None = Field(None, validation_alias="ANTHROPIC_BASE_URL")
    payments: Literal["off", "test", "stripe"] = Field("off", description="stripe, test or off")
    payments_url: PaymentsApi | None = None
    """Where the test provider listens; with `stripe` another address that speaks its API."""
    stripe_api_key: str | None = Field(None, validation_alias="STRIPE_API_KEY", repr=False)
    payments_secret: str = Field("", repr=False)
    """Signs the provider's webhooks; empty refuses them all."""
    model: Annotated[str, AfterValidator(_one_model)] = "claude-opus-5-5"
    max_tokens: Annotated[int, whole(1, 1_000_000)] = 16000
    undo_seconds: Annotated[int, whole(0, 3600)] = 10
    payout_delay_seconds: Annotated[int, whole(0, 86_400)] = 30
    lease_seconds: Annotated[int, whole(1, 3600)] = 30
    tool_seconds: Annotated[int, whole(1, 600)] = 10
    token_approvals: Literal["below", "all"] = Field("below", description="below, or all for tests")
    turn_model_calls: Annotated[int, whole(1, 1000)] = 15
    turn_input_tokens: Annotated[int, whole(1, 100_000_000)] = 200_000
    turn_output_tokens: Annotated[int, whole(1, 100_000_000)] = 50_000
    turn_seconds: Annotated[int, whole(1, 86_400)] = 180
    turn_writes: Annotated[int, whole(1, 1000)] = 5
    turn_errors: Annotated[int, whole(1, 1000)] = 5
    turn_minor: Annotated[int, whole(1, 1_000_000)] = 100
    worker_threads: Annotated[int, whole(1, 1000)] = 256
    decoys_per_day: Annotated[int, whole(0, 100)] = 0
    sample_per_day: Annotated[int, whole(0, 200)] = 10
    demo: Annotated[bool, whole(0, 1)] = False
    hosts: Annotated[tuple[str, ...], BeforeValidator(_hosts)] = ("localhost", "127.0.0.1", "[::1]")
    failpoints: Path | None = None
    """For tests alone: see base.failpoints."""
    secret_key: Key = Field("", repr=False)
    """Empty before the first set-up, so that whatever signs fails instead of signing with a guessable key."""
    chat_keys: Annotated[tuple[ChatKey, ...], BeforeValidator(_chat_keys)] = Field((), repr=False)
    notify: Notify = Field(validation_alias="notify")
    staff: StaffAccess = Field(validation_alias="staff")
    ledger_url: Ledger | None = None
    """Where the shop lives, if not in this database; ends with a slash."""
    ledger_key: Key = Field("", repr=False)
    """Signs the ledger's credentials; empty where one derived from the secret key does."""

    @model_validator(mode="after")
    def _payments_are_whole(self) -> Self:
        if self.payments == "test" and self.payments_url is None:
            raise EnvError("PLACET_PAYMENTS is 'test' without PLACET_PAYMENTS_URL: say where it listens.")
        if self.payments == "stripe" and self.stripe_api_key is None:
            raise EnvError("PLACET_PAYMENTS is 'stripe' without STRIPE_API_KEY: give your account's secret key.")
        return self


_GROUPS = (Env, Notify, StaffAccess, Oidc)
_TOGETHER = (
    {"DATABASE_URL", "DATABASE_OWNER_URL"},
    {"ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"},
    {"REDIS_URL"},
    {"PLACET_PAYMENTS", "PLACET_PAYMENTS_URL", "STRIPE_API_KEY"},
    {"PLACET_PAYMENTS_SECRET"},
)
"""Never mixed: an owner's address of the embedded database with a database of one's own, a key with the stand-in."""


def load(environ: Mapping[str, str]) -> Env:
    """Read the environment, and for what it lacks a running `make run`. Raises EnvError."""
    given = {name: value.strip() for name, value in environ.items() if value.strip()}
    secrets = set().union(*(group.variables(secret=True) for group in _GROUPS))
    _refuse_unknown(given, secrets)
    given = from_files({name: value for name, value in given.items() if name.isupper()}, secrets)
    given = _lacking(given) | given
    port = given.get("PORT", "8000").lstrip("0")
    notify = Notify.read({"PLACET_PUBLIC_URL": f"http://localhost:{port}"} | given)
    return Env.read(given, notify=notify, staff=StaffAccess.read(given, oidc=Oidc.where_set(given)))


def _refuse_unknown(given: Mapping[str, str], secrets: set[str]) -> None:
    known = set().union(*(group.variables() for group in _GROUPS))
    for name in given:
        if name.startswith("PLACET_") and name not in known and name.removesuffix("_FILE") not in secrets:
            close = difflib.get_close_matches(name, sorted(known), n=1)
            hint = f"did you mean {close[0]}?" if close else "docs/operator.md lists the known names."
            raise EnvError(f"{name} is not a variable of Placet: {hint}")


def _lacking(given: Mapping[str, str]) -> dict[str, str]:
    """What follows from other variables, from a running Placet and from the secrets of this installation."""
    home = Path(given.get("PLACET_HOME", REPOSITORY / ".placet")).expanduser().absolute()
    try:
        running = {name.upper(): value for name, value in read_running(home).items()}
        secrets = read_private(home / "secrets.json") or {}
    except HomeError as error:
        raise EnvError(str(error)) from error
    found = {name: running[name] for group in _TOGETHER if not group & given.keys() for name in group & running.keys()}
    if "secret_key" in secrets:
        found["PLACET_SECRET_KEY"] = secrets["secret_key"]
    if "STRIPE_API_KEY" in given:
        found["PLACET_PAYMENTS"] = "stripe"
    elif "PLACET_PAYMENTS_URL" in found or "PLACET_PAYMENTS_URL" in given:
        found["PLACET_PAYMENTS"] = "test"
    if given.get("PLACET_DEMO") == "1":
        found["PLACET_SHOP_NAME"] = "Harbour & Hearth"
    return found
