"""`make run` as an operator knows it, in a folder with a space."""

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from base.home import REPOSITORY, installation_secrets, process_birth, read_running
from run.servers import free_port, place_for

pytestmark = [pytest.mark.slow_start, pytest.mark.xdist_group("start")]
OURS = ("DATABASE_URL", "REDIS_URL", "PLACET_HOME", "PLACET_SECRET_KEY", "TEST_SERVERS")


class Installation:
    """A copy of the product in a folder of its own, with the runs that were started in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / ".placet"
        self.port = free_port()
        self.output = folder / "output.txt"
        self.runs: list[subprocess.Popen[bytes]] = []

    def command(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the copy to its end."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environ(**environ),
            capture_output=True,
            text=True,
            timeout=90,
        )

    def environ(self, **more: str) -> dict[str, str]:
        """What an operator's shell has."""
        kept = {name: value for name, value in os.environ.items() if name not in OURS}
        return {**kept, "PORT": str(self.port), **more}

    def start(self) -> subprocess.Popen[bytes]:
        """Start the product and wait until it says that it is ready."""
        with self.output.open("wb") as output:
            run = subprocess.Popen(
                [sys.executable, "-m", "run"],
                cwd=self.folder,
                env=self.environ(),
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.runs.append(run)
        within(90, lambda: "Ctrl-C stops everything" in self.said() or run.poll() is not None)
        assert run.poll() is None, self.said()
        return run

    def said(self) -> str:
        """What the last run printed."""
        return self.output.read_text()

    def remove(self) -> None:
        """End what a failed test left running, and remove the data."""
        for run in self.runs:
            with suppress(ProcessLookupError):
                run.kill()
            run.wait()
        place = place_for(self.home, installation_secrets(self.home)["installation"])
        shutil.rmtree(place.folder, ignore_errors=True)


def within(seconds: float, happens: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def descendants(pid: int) -> dict[str, str | None]:
    """Every process below this one, with when it was born."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[stat.parent.name] = stat.read_text().rpartition(")")[2].split()[1]
    found: dict[str, str | None] = {}
    fresh = {str(pid)}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh}
        found |= {child: process_birth(child) for child in fresh}
    return found


def living(processes: dict[str, str | None]) -> list[str]:
    return [pid for pid, birth in processes.items() if birth and process_birth(pid) == birth]


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("product") / "a folder"
    skipped = shutil.ignore_patterns(".*", "tests", "__pycache__")
    shutil.copytree(REPOSITORY, folder, ignore=skipped)
    copy = Installation(folder)
    yield copy
    copy.remove()


@pytest.fixture(scope="module")
def running(installation: Installation) -> subprocess.Popen[bytes]:
    return installation.start()


def health(port: int, path: str = "/healthz") -> int:
    connection = http.client.HTTPConnection("localhost", port, timeout=10)
    connection.request("GET", path)
    return connection.getresponse().status


def test_it_says_where_everything_is(installation: Installation, running: subprocess.Popen[bytes]) -> None:
    said = installation.said()
    for page in ("/", "/console/", "/audit/", "/api/docs/"):
        assert f"http://localhost:{installation.port}{page}\n" in said
    assert "demo model: answers are scripted; set ANTHROPIC_API_KEY for Claude\n" in said
    assert health(installation.port) == 200


def test_only_its_user_can_read_what_it_keeps(installation: Installation, running: subprocess.Popen[bytes]) -> None:
    assert installation.home.stat().st_mode & 0o077 == 0
    for name in ("running.json", "secrets.json"):
        assert (installation.home / name).stat().st_mode & 0o077 == 0


def test_the_passwords_stand_on_no_command_line(installation: Installation, running: subprocess.Popen[bytes]) -> None:
    lines = [Path(f"/proc/{pid}/cmdline").read_text() for pid in descendants(running.pid)]
    secrets = installation_secrets(installation.home)
    assert lines
    assert not [name for name, secret in secrets.items() if any(secret in line for line in lines)]


def test_a_second_start_says_that_it_runs(installation: Installation, running: subprocess.Popen[bytes]) -> None:
    second = installation.command("-m", "run")
    assert second.returncode == 1
    assert f"already runs from {installation.home} (http://localhost:{installation.port})" in second.stderr
    assert second.stderr.count("\n") == 1


def test_commands_find_the_running_servers(installation: Installation, running: subprocess.Popen[bytes]) -> None:
    found = installation.command("manage.py", "migrate", "--check")
    assert (found.returncode, found.stderr) == (0, "")


def test_a_taken_port_is_a_sentence(installation: Installation, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused = installation.command("-m", "run", PORT=str(port), PLACET_HOME=str(tmp_path))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"PORT {port} is in use by another program" in refused.stderr
    assert "make run PORT=" in refused.stderr


def test_a_bad_environment_stops_the_start(installation: Installation) -> None:
    refused = installation.command("-m", "run", PLACET_TURN_WRITES="many")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "PLACET_TURN_WRITES is 'many': give a whole number from 1 to 1000.\n"


def test_a_child_that_dies_is_started_again(installation: Installation, running: subprocess.Popen[bytes]) -> None:
    (web,) = [pid for pid in descendants(running.pid) if "uvicorn" in Path(f"/proc/{pid}/cmdline").read_text()]
    os.kill(int(web), signal.SIGKILL)
    within(10, lambda: "web starts again in" in installation.said())
    assert "web ended with code -9" in installation.said()

    def healthy() -> bool:
        with suppress(OSError):
            return health(installation.port) == 200
        return False

    within(20, healthy)


@pytest.mark.parametrize(("server", "name"), [("bin/postgres", "Postgres"), ("valkey-server", "Valkey")])
def test_a_server_that_dies_is_started_again_and_the_product_goes_on(
    installation: Installation, running: subprocess.Popen[bytes], server: str, name: str
) -> None:
    pid, *_ = [p for p in descendants(running.pid) if server in Path(f"/proc/{p}/cmdline").read_text().split("\0")[0]]
    os.kill(int(pid), signal.SIGKILL)
    within(10, lambda: f"{name} starts again in" in installation.said())

    def ready() -> bool:
        with suppress(OSError):
            return health(installation.port, "/readyz") == 200
        return False

    within(30, ready)


def test_nothing_outlives_a_killed_run_and_the_next_one_starts(
    installation: Installation, running: subprocess.Popen[bytes]
) -> None:
    below = descendants(running.pid)
    assert len(below) >= 6
    running.kill()
    running.wait()
    assert read_running(installation.home) == {}
    installation.start()
    assert living(below) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_leaves_no_process(installation: Installation, number: signal.Signals) -> None:
    run = installation.runs[-1] if installation.runs[-1].poll() is None else installation.start()
    below = descendants(run.pid)
    run.send_signal(number)
    assert run.wait(30) == 0
    assert living(below) == []
    assert not (installation.home / "running.json").exists()
