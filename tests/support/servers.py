"""A throwaway Postgres and Valkey for a run of the tests, never the ones of a running product.

The controller of pytest-xdist starts one Postgres; every process that runs tests starts a Valkey and works on
a copy of a template database, which is migrated once. Loaded as a pytest plugin, before Django reads its
settings; tests/conftest.py imports the fixtures, because there they win over pytest-django's of the same name.
"""

import fcntl
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import cast

import psycopg
import pytest
import redis
from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper
from psycopg import sql
from pytest_django import DjangoDbBlocker

from base.home import REPOSITORY
from run import roles
from run.processes import run
from run.servers import THROWAWAY, Place, Postgres, Valkey, free_port, unprivileged

_FILE = "TEST_SERVERS"
_TEMPLATE = "template_placet"
_numbers = count(1)


@dataclass(frozen=True)
class Cluster:
    """The run's Postgres, as every process of the run knows it."""

    folder: str
    port: int
    password: str

    def url(self, database: str, user: str = "postgres") -> str:
        """The address of a database for one of the roles; all have the same password here."""
        return f"postgresql://{user}:{self.password}@127.0.0.1:{self.port}/{database}"

    def made_once(self, name: str, make: Callable[[str], None]) -> str:
        """A database to copy from, by its name; the first process that asks makes it."""
        with (Path(self.folder) / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made = Path(self.folder) / f"{name}.made"
            if not made.exists():
                make(name)
                made.touch()
        return name

    def _migrate(self, name: str) -> None:
        roles.make_owner(self.url("postgres"), self.password, name)
        roles.make_roles(self.url(name), self.password)
        environ = {**os.environ, "DATABASE_OWNER_URL": self.url(name, roles.OWNER)}
        run([sys.executable, "manage.py", "migrate", "--no-input", "-v", "0"], env=environ, cwd=REPOSITORY)

    def copy(self, name: str, template: str = "") -> None:
        """Make a database of that name like the template or else a migrated one, with the privileges that set-up
        gives."""
        source = template or self.made_once(_TEMPLATE, self._migrate)
        database = sql.Identifier(name)
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            for statement in (
                sql.SQL("CREATE DATABASE {0} TEMPLATE {1} OWNER placet_owner").format(database, sql.Identifier(source)),
                sql.SQL("REVOKE ALL ON DATABASE {0} FROM PUBLIC").format(database),
                sql.SQL("GRANT CONNECT ON DATABASE {0} TO placet_app").format(database),
            ):
                connection.execute(statement)

    def drop(self, name: str) -> None:
        """Remove a database, whoever is still connected to it."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Start the servers and point the environment at them, before pytest-django loads the settings."""
    if _FILE not in os.environ:
        _clean_environ()
        _start_postgres(early_config)
    _start_valkey(early_config)
    os.environ["DATABASE_URL"] = cluster().url(_own_database(), roles.APP)
    yield


@cache
def cluster() -> Cluster:
    """The run's Postgres."""
    return Cluster(**json.loads(Path(os.environ[_FILE]).read_text()))


def _own_database() -> str:
    return f"placet_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"


def _clean_environ() -> None:
    # Nothing of the developer's own installation may reach a test.
    for name in list(os.environ):
        if name.startswith(("PLACET_", "ANTHROPIC_", "STRIPE_", "DATABASE_", "REDIS_", "PG", "MAKE", "PORT")):
            del os.environ[name]
    os.environ["PLACET_PAYOUT_DELAY_SECONDS"] = "0"
    os.environ["PLACET_SECRET_KEY"] = "a secret key that protects only what tests make"


def _start_postgres(config: pytest.Config) -> None:
    folder = Path(tempfile.mkdtemp(prefix="placet-tests-"))
    folder.chmod(0o755)
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    place = Place(folder, unprivileged() if os.geteuid() == 0 else None)
    postgres = Postgres(place, free_port(), "throwaway", folder / "postgres.log", THROWAWAY)
    config.add_cleanup(postgres.child.stop)
    postgres.start()
    file = folder / "servers.json"
    file.write_text(json.dumps(asdict(Cluster(str(folder), postgres.port, postgres.password))))
    os.environ |= {_FILE: str(file), "PLACET_HOME": str(folder / "home")}


def _start_valkey(config: pytest.Config) -> None:
    folder = Path(cluster().folder) / f"valkey-{_own_database()}"
    valkey = Valkey(folder, free_port(), "throwaway", folder.with_suffix(".log"), durable=False)
    config.add_cleanup(valkey.child.stop)
    valkey.start()
    os.environ["REDIS_URL"] = valkey.url


@contextmanager
def fresh_database(template: str = "") -> Iterator[str]:
    """A migrated database of its own, empty without a template: gives its address for the application's role."""
    name = f"{_own_database()}_{next(_numbers)}"
    cluster().copy(name, template)
    try:
        yield cluster().url(name, roles.APP)
    finally:
        cluster().drop(name)


def product_env(database_url: str, **more: str) -> dict[str, str]:
    """The environment of a worker, a web server or a command that shall use this database and our Valkey."""
    return {**os.environ, "DATABASE_URL": database_url, "PYTHONUNBUFFERED": "1", **more}


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """Give this process its copy. Django's own way would create tables as the application's role."""
    cluster().copy(_own_database())


@pytest.fixture
def committing_db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """A database of its own for a test that commits, with an empty Valkey: gives its address."""
    with on_fresh_database(django_db_blocker) as url:
        yield url


@contextmanager
def on_fresh_database(django_db_blocker: DjangoDbBlocker, template: str = "") -> Iterator[str]:
    """A database of its own, to which every thread's `connections["default"]` leads until the block ends."""
    with fresh_database(template) as url, django_db_blocker.unblock(), pointed_at(url.rpartition("/")[2]):
        redis.Redis.from_url(os.environ["REDIS_URL"]).flushall()
        yield url


@contextmanager
def pointed_at(database: str) -> Iterator[None]:
    """Every thread's `connections["default"]` leads there until the block ends."""
    settings = connections.settings["default"]
    usual = settings["NAME"]
    _point_at(settings, database)
    try:
        yield
    finally:
        _point_at(settings, usual)


def _point_at(settings: dict[str, object], database: str) -> None:
    connection = cast(DatabaseWrapper, connections["default"])
    connection.close()
    if connection.pool:
        connection.close_pool()
    settings["NAME"] = database
