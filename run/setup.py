"""The set-up of a run: servers, roles, the demo model, tables and demo data, each only where it is needed."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from urllib.parse import unquote, urlsplit

from base.home import REPOSITORY, installation_secrets
from config.env import Env, EnvError
from run import roles
from run.processes import Child, Steps, run
from run.servers import Postgres, Valkey, kept_port, place_for
from run.supervisor import Supervisor

Say = Callable[[str], None]
_STOP: Steps = ((signal.SIGTERM, 10.0),)


def start_servers(env: Env, supervisor: Supervisor, say: Say) -> Env:
    """Start the servers that the environment does not name, make the roles, and give every address."""
    if env.database_url is None and env.database_owner_url is not None:
        raise EnvError("DATABASE_OWNER_URL is set without DATABASE_URL: set both, or neither.")
    if env.database_url is None:
        say("Starting Postgres ...")
        env = _start_postgres(env, supervisor)
    elif env.database_owner_url is not None:
        roles.make_roles(env.database_owner_url, unquote(urlsplit(env.database_url).password or ""))
    if env.redis_url is None:
        say("Starting Valkey ...")
        env = _start_valkey(env, supervisor)
    return env


def _start_postgres(env: Env, supervisor: Supervisor) -> Env:
    secrets = installation_secrets(env.home)
    place = place_for(env.home, secrets["installation"])
    port = kept_port(env.home, "postgres")
    postgres = Postgres(place, port, secrets["superuser_password"], env.home / "logs" / "postgres.log")
    supervisor.add(postgres.child)
    postgres.start()
    roles.make_owner(postgres.url("postgres"), secrets["owner_password"])
    roles.make_roles(postgres.url(roles.DATABASE), secrets["app_password"])
    database_url = postgres.url(roles.DATABASE, roles.APP, secrets["app_password"])
    owner_url = postgres.url(roles.DATABASE, roles.OWNER, secrets["owner_password"])
    return env.model_copy(update={"database_url": database_url, "database_owner_url": owner_url})


def _start_valkey(env: Env, supervisor: Supervisor) -> Env:
    password = installation_secrets(env.home)["valkey_password"]
    port = kept_port(env.home, "valkey")
    valkey = Valkey(env.home / "valkey", port, password, env.home / "logs" / "valkey.log")
    supervisor.add(valkey.child)
    valkey.start()
    return env.model_copy(update={"redis_url": valkey.url})


def start_model(env: Env, supervisor: Supervisor, say: Say) -> tuple[Env, bool]:
    """Start the stand-in unless a model is configured; gives whether its scripted answers serve."""
    if env.anthropic_api_key is not None or env.anthropic_base_url is not None:
        return env, False
    say("Starting the demo model ...")
    port = kept_port(env.home, "model")
    supervisor.start(python_child(env, "model", ["standins.model", "--port", str(port)]))
    return env.model_copy(update={"anthropic_base_url": f"http://127.0.0.1:{port}"}), True


def start_payments(env: Env, supervisor: Supervisor, say: Say) -> Env:
    """Start the test provider in a demo without a payment provider; elsewhere nothing may pretend to pay."""
    if env.payments != "off" or not env.demo or "PLACET_PAYMENTS" in os.environ:
        return env
    say("Starting the test payment provider ...")
    port = kept_port(env.home, "payments")
    url, secret = f"http://127.0.0.1:{port}", installation_secrets(env.home)["payments_secret"]
    env = env.model_copy(update={"payments": "test", "payments_url": url, "payments_secret": secret})
    webhook = f"http://127.0.0.1:{env.port}/ledger/payments/webhook/"
    options = ["--port", str(port), "--webhook", webhook, "--settle", "5", "--file", str(env.home / "payments.json")]
    supervisor.start(python_child(env, "payments", ["standins.payments", *options]))
    return env


def prepare_data(env: Env, say: Say) -> str:
    """Migrate as the owner and load the demo data; gives what the demo says about signing in."""
    if env.database_owner_url is None:
        say("DATABASE_OWNER_URL is not set: the tables are taken as they are.")
    else:
        say("Bringing the tables up to date ...")
        _manage(env, "migrate", "--no-input", "-v", "0", owner=env.database_owner_url)
    roles.require_plain(env.database_url or "")
    if not env.demo:
        return ""
    say("Loading the demo shop ...")
    return _manage(env, "seed_demo").rstrip()


def _manage(env: Env, *arguments: str, owner: str | None = None) -> str:
    environ = child_environ(env) | ({"DATABASE_OWNER_URL": owner} if owner else {})
    return run([sys.executable, "manage.py", *arguments], env=environ, cwd=REPOSITORY)


def python_child(env: Env, name: str, module: Sequence[str], steps: Steps = _STOP) -> Child:
    """A Python process of ours: `python -m module`, logging to its own file."""
    return Child(
        name=name,
        command=[sys.executable, "-m", *module],
        log=env.home / "logs" / f"{name}.log",
        env=child_environ(env),
        cwd=REPOSITORY,
        steps=steps,
    )


def child_environ(env: Env) -> dict[str, str]:
    """The environment of a child: every address, and never the owner's."""
    known = {
        "DATABASE_URL": env.database_url,
        "REDIS_URL": env.redis_url,
        "ANTHROPIC_BASE_URL": env.anthropic_base_url,
        "PLACET_PAYMENTS_URL": env.payments_url,
        "PLACET_PAYMENTS_SECRET": env.payments_secret or None,
        "PLACET_HOME": str(env.home),
        "PLACET_DEMO": str(int(env.demo)),
        "PYTHONUNBUFFERED": "1",
    }
    told = {name: value for name, value in known.items() if value is not None}
    theirs = told.keys() | {"DATABASE_OWNER_URL"}
    return {name: value for name, value in os.environ.items() if name.removesuffix("_FILE") not in theirs} | told
