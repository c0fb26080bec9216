"""The environment: what is read, what is refused, and what a running product adds."""

import base64
import os
from pathlib import Path

import pytest

from base.home import process_birth, write_private
from config.env import EnvError, load
from config.staff_env import Oidc

DATABASE = "postgresql://placet_app:secret@db.example:5432/placet"
KEY = base64.b64encode(bytes(range(32))).decode()


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment that knows an empty PLACET_HOME and nothing else."""
    return {"PLACET_HOME": str(tmp_path)}


def running(home: dict[str, str], birth: str | None) -> None:
    values = {"database_url": DATABASE, "database_owner_url": DATABASE, "redis_url": "redis://r:1/0"}
    values |= {"anthropic_base_url": "http://127.0.0.1:5/", "pid": str(os.getpid()), "birth": str(birth)}
    write_private(Path(home["PLACET_HOME"]) / "running.json", values)


def test_the_defaults_are_the_documented_ones(home: dict[str, str]) -> None:
    env = load(home)
    assert (env.port, env.model, env.max_tokens) == (8000, "claude-opus-5-5", 16000)
    assert (env.undo_seconds, env.payout_delay_seconds, env.lease_seconds, env.tool_seconds) == (10, 30, 30, 10)
    assert (env.turn_model_calls, env.turn_input_tokens, env.turn_output_tokens) == (15, 200_000, 50_000)
    assert (env.turn_seconds, env.turn_writes, env.turn_errors, env.turn_minor) == (180, 5, 5, 100)
    assert (env.token_approvals, env.demo, env.worker_threads, env.decoys_per_day) == ("below", False, 256, 0)
    assert env.hosts == ("localhost", "127.0.0.1", "[::1]")
    assert env.shared.name == "shared"
    assert (env.database_url, env.redis_url, env.anthropic_api_key, env.chat_keys) == (None, None, None, ())


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("PLACET_HOM", "/x", "did you mean PLACET_HOME?"),
        ("PLACET_ZZZZZZ", "1", "docs/operator.md"),
        ("PORT", "http", "from 1 to 65535"),
        ("PORT", "0", "from 1 to 65535"),
        ("PORT", "65536", "from 1 to 65535"),
        ("PORT", "８０", "whole number"),
        ("PORT", "1" * 5000, "whole number"),
        ("PLACET_TURN_WRITES", "-1", "whole number"),
        ("PLACET_TURN_MINOR", "1.5", "whole number"),
        ("PLACET_DEMO", "yes", "from 0 to 1"),
        ("PLACET_TOKEN_APPROVALS", "none", "give below, or all"),
        ("PLACET_MODEL", "claude opus", "the id of one model"),
        ("PLACET_HOSTS", "*", "host names"),
        ("PLACET_HOSTS", "https://shop.example", "host names"),
        ("PLACET_SECRET_KEY", "short", "at least 32"),
        ("PLACET_CHAT_KEYS", "k1:HS256", "kid:HS256:key"),
        ("PLACET_CHAT_KEYS", f"k1:none:{KEY}", "kid:HS256:key"),
        ("PLACET_CHAT_KEYS", f":HS256:{KEY}", "kid:HS256:key"),
        ("PLACET_CHAT_KEYS", "k1:HS256:c2hvcnQ=", "32 bytes or more"),
        ("PLACET_CHAT_KEYS", f"k1:EdDSA:{KEY[:-1]}", "32 bytes"),
        ("PLACET_CHAT_KEYS", f"k1:HS256:{KEY},k1:HS256:{KEY}", "twice"),
        ("DATABASE_URL", "mysql://u:p@h/placet", "postgresql://"),
        ("DATABASE_URL", "postgresql://u:p@h:port/placet", "postgresql://"),
        ("DATABASE_URL", "postgresql://h/placet", "lacks a user"),
        ("DATABASE_OWNER_URL", "postgresql://u:p@h/", "database name"),
        ("REDIS_URL", "localhost:6379", "redis://host"),
        ("ANTHROPIC_BASE_URL", "api.anthropic.com", "https://api.anthropic.com"),
        ("PLACET_LEDGER_URL", "shop.example.com", "https://shop.example.com/ledger/v1/"),
        ("PLACET_LEDGER_KEY", "short", "at least 32"),
        ("PLACET_STAFF_MFA", "yes", "give optional or required"),
        ("PLACET_FRESH_MINUTES", "0", "from 1 to 1440"),
        ("PLACET_OIDC_ISSUER", "login.example.com", "https://login.example.com"),
    ],
)
def test_a_bad_variable_is_refused_in_one_sentence(home: dict[str, str], name: str, value: str, says: str) -> None:
    with pytest.raises(EnvError) as refused:
        load(home | {name: value})
    sentence = str(refused.value)
    assert sentence.startswith(name)
    assert says in sentence
    assert "\n" not in sentence


def test_the_address_of_a_shop_elsewhere_ends_with_a_slash(home: dict[str, str]) -> None:
    assert load(home).ledger_url is None
    assert load(home | {"PLACET_LEDGER_URL": "https://shop/ledger/v1"}).ledger_url == "https://shop/ledger/v1/"


def test_a_refused_address_does_not_show_its_password(home: dict[str, str]) -> None:
    with pytest.raises(EnvError) as refused:
        load(home | {"DATABASE_URL": "mysql://u:hunter2@h/placet"})
    assert "hunter2" not in str(refused.value)


def test_secrets_do_not_stand_in_the_representation(home: dict[str, str]) -> None:
    env = load(home | {"DATABASE_URL": DATABASE, "ANTHROPIC_API_KEY": "sk-secret", "PLACET_SECRET_KEY": "s" * 40,
                       "PLACET_LEDGER_KEY": "l" * 40})  # fmt: skip
    assert not {secret for secret in (DATABASE, "sk-secret", "s" * 40, "l" * 40) if secret in repr(env)}


def test_an_empty_variable_counts_as_not_set(home: dict[str, str]) -> None:
    assert load(home | {"PORT": "", "DATABASE_URL": " "}).port == 8000


def test_chat_keys_keep_their_algorithm(home: dict[str, str]) -> None:
    keys = load(home | {"PLACET_CHAT_KEYS": f"a:HS256:{KEY}, b:EdDSA:{KEY}"}).chat_keys
    assert keys == (("a", "HS256", bytes(range(32))), ("b", "EdDSA", bytes(range(32))))


def test_a_running_product_gives_its_addresses(home: dict[str, str]) -> None:
    running(home, process_birth(str(os.getpid())))
    env = load(home)
    assert (env.database_url, env.database_owner_url) == (DATABASE, DATABASE)
    assert (env.redis_url, env.anthropic_base_url) == ("redis://r:1/0", "http://127.0.0.1:5/")


def test_a_database_of_ones_own_never_mixes_with_the_embedded_one(home: dict[str, str]) -> None:
    running(home, process_birth(str(os.getpid())))
    own = "postgresql://placet_app:p@elsewhere/placet"
    assert load(home | {"DATABASE_URL": own}).database_owner_url is None
    assert load(home | {"DATABASE_OWNER_URL": own}).database_url is None


def test_an_api_key_never_goes_to_the_stand_in(home: dict[str, str]) -> None:
    running(home, process_birth(str(os.getpid())))
    assert load(home | {"ANTHROPIC_API_KEY": "sk-1"}).anthropic_base_url is None


@pytest.mark.parametrize("birth", ["1", None])
def test_what_a_dead_run_left_behind_counts_as_absent(home: dict[str, str], birth: str | None) -> None:
    running(home, birth)
    assert load(home).database_url is None


@pytest.mark.parametrize("name", ["running.json", "secrets.json"])
def test_a_damaged_file_is_named(home: dict[str, str], name: str) -> None:
    (Path(home["PLACET_HOME"]) / name).write_text("{")
    with pytest.raises(EnvError, match=f"{name} is damaged"):
        load(home)


OIDC = {
    "PLACET_OIDC_ISSUER": "https://login.example.com/realms/shop/",
    "PLACET_OIDC_CLIENT_ID": "placet",
    "PLACET_OIDC_CLIENT_SECRET": "hidden",
}


def test_an_identity_provider_is_whole_or_none(home: dict[str, str]) -> None:
    assert load(home).staff.oidc is None
    oidc = load(home | OIDC).staff.oidc
    assert oidc is not None
    assert (oidc.issuer, oidc.name) == ("https://login.example.com/realms/shop", "single sign-on")
    assert "hidden" not in repr(oidc)
    for name in OIDC:
        with pytest.raises(EnvError, match=f"{name} is missing"):
            load(home | {key: value for key, value in OIDC.items() if key != name})
    for wrong, says in (("http://login.example.com", "plain http"), ("https://" + "[", "not an address")):
        with pytest.raises(EnvError, match=says):
            load(home | OIDC | {"PLACET_OIDC_ISSUER": wrong})
    with pytest.raises(EnvError, match="at most 60"):
        load(home | OIDC | {"PLACET_OIDC_NAME": "x" * 61})


SECRETS = {
    "DATABASE_URL": DATABASE, "DATABASE_OWNER_URL": DATABASE, "REDIS_URL": "redis://:p@r:1/0",
    "ANTHROPIC_API_KEY": "sk-1", "STRIPE_API_KEY": "sk-2", "PLACET_PAYMENTS_SECRET": "hooks",
    "PLACET_SECRET_KEY": "s" * 40, "PLACET_LEDGER_KEY": "l" * 40,
    "PLACET_CHAT_KEYS": f"a:HS256:{KEY}", "PLACET_EMAIL_URL": "smtp://u:p@mail.example.com/?from=a@example.com",
    "PLACET_NOTIFY_WEBHOOK_URL": "https://hook.example/x", "PLACET_NOTIFY_SECRET": "a secret of 16!!",
    **OIDC,
}  # fmt: skip


def test_every_secret_can_stand_in_a_file(home: dict[str, str], tmp_path: Path) -> None:
    files = {}
    for name, value in SECRETS.items():
        if name not in ("PLACET_OIDC_ISSUER", "PLACET_OIDC_CLIENT_ID"):
            (tmp_path / name).write_text(f"{value}\n")
            files[f"{name}_FILE"] = str(tmp_path / name)
    assert load(home | OIDC | SECRETS) == load(home | {name: OIDC[name] for name in list(OIDC)[:2]} | files)


def test_a_file_of_a_secret_is_refused_in_one_sentence(home: dict[str, str], tmp_path: Path) -> None:
    empty, binary = tmp_path / "empty", tmp_path / "binary"
    empty.write_text(" \n")
    binary.write_bytes(b"\xff\xfe")
    for given, says in (
        ({"REDIS_URL": "redis://r", "REDIS_URL_FILE": str(empty)}, "REDIS_URL and REDIS_URL_FILE are both set"),
        ({"PLACET_SECRET_KEY_FILE": str(tmp_path / "none")}, "PLACET_SECRET_KEY_FILE cannot be read .No such file"),
        ({"PLACET_SECRET_KEY_FILE": str(tmp_path)}, "PLACET_SECRET_KEY_FILE cannot be read .Is a directory"),
        ({"STRIPE_API_KEY_FILE": str(binary)}, "STRIPE_API_KEY_FILE cannot be read .it is no text"),
        ({"STRIPE_API_KEY_FILE": str(empty)}, "STRIPE_API_KEY_FILE names an empty file"),
        ({"PLACET_MODEL_FILE": str(empty)}, "PLACET_MODEL_FILE is not a variable"),
    ):
        with pytest.raises(EnvError, match=says):
            load(home | given)


def test_only_the_exact_name_counts(home: dict[str, str]) -> None:
    assert load(home | {"port": "1", "home": "/x", "database_url": DATABASE}) == load(home)


def test_what_is_made_in_code_reads_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACET_OIDC_NAME", "from outside")
    assert Oidc(issuer="https://i.example", client_id="c", client_secret="s").name == "single sign-on"
