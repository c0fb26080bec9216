"""Servers for a measurement: a Postgres that keeps what it commits, a Valkey, the stand-in model, a made-up shop."""

import contextlib
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

from base.home import REPOSITORY
from run import roles
from run.processes import Child, run
from run.servers import Place, Postgres, Valkey, free_port, unprivileged


@dataclass(frozen=True)
class Servers:
    """Addresses of what runs, and the environment that leads a product's process there."""

    folder: Path
    postgres: Postgres
    environ: dict[str, str]

    def child(self, name: str, *command: str | Path, **environ: str) -> Child:
        """A process of the measurement, with its log in the folder."""
        log = self.folder / f"{name}.log"
        return Child(name=name, command=command, log=log, env={**self.environ, **environ}, cwd=REPOSITORY)


@contextlib.contextmanager
def running(*standin: str, customers: int) -> Iterator[Servers]:
    """Start everything in a folder that is removed at the end; `standin` are the stand-in's options."""
    with contextlib.ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="placet-bench-"))
        folder.chmod(0o755)  # Postgres runs as another user when we are root
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        place = Place(folder, unprivileged() if os.geteuid() == 0 else None)
        postgres = Postgres(place, free_port(), secrets.token_hex(16), folder / "postgres.log")
        valkey = Valkey(folder / "valkey", free_port(), secrets.token_hex(16), folder / "valkey.log")
        for server in (postgres, valkey):
            stack.callback(server.child.stop)
            server.start()
        port = free_port()
        servers = Servers(folder, postgres, _environ(folder, postgres, valkey, port))
        model = servers.child("model", sys.executable, "-m", "standins.model", "--port", str(port), *standin)
        stack.callback(model.stop)
        model.start()
        _wait_for(f"http://127.0.0.1:{port}/healthz")
        _make_shop(servers, customers)
        yield servers


def _environ(folder: Path, postgres: Postgres, valkey: Valkey, model_port: int) -> dict[str, str]:
    ours = ("PLACET_", "DATABASE_", "REDIS_", "ANTHROPIC_", "PG", "LANG")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {
        "DATABASE_URL": postgres.url(roles.DATABASE, roles.APP),
        "REDIS_URL": valkey.url,
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model_port}",
        "ANTHROPIC_API_KEY": "stand-in",
        "NO_PROXY": "127.0.0.1",
        "PLACET_HOME": str(folder),
        "PLACET_SECRET_KEY": secrets.token_hex(32),
        "PLACET_UNDO_SECONDS": "0",
        "PYTHONUNBUFFERED": "1",
    }


def _make_shop(servers: Servers, customers: int) -> None:
    postgres = servers.postgres
    roles.make_owner(postgres.url("postgres"), postgres.password)
    roles.make_roles(postgres.url(roles.DATABASE), postgres.password)
    owner = {"DATABASE_OWNER_URL": postgres.url(roles.DATABASE, roles.OWNER)}
    run(
        [sys.executable, "manage.py", "migrate", "--no-input", "-v", "0"],
        env=servers.environ | owner,
        cwd=REPOSITORY,
    )
    run([sys.executable, "-m", "bench.shop", str(customers)], env=servers.environ, cwd=REPOSITORY)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            build_opener(ProxyHandler({})).open(url, timeout=2).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
