"""Real Celery workers for tests, forked from a process that has loaded everything: a killed one is back at once."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from config.home import REPOSITORY
from config.processes import die_with_parent

LEASE_SECONDS = 1


def within(seconds: float, happens: Callable[[], bool], what: str = "it") -> None:
    """Wait until something happens."""
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds:.0f} s"
        time.sleep(0.05)


class Workers:
    """Some worker processes under a supervisor that starts a dead one again at once."""

    def __init__(self, supervisor: "subprocess.Popen[bytes]", log: Path) -> None:
        self.supervisor = supervisor
        self.log = log

    @property
    def pids(self) -> list[int]:
        """The worker processes that live now."""
        children = Path(f"/proc/{self.supervisor.pid}/task/{self.supervisor.pid}/children")
        return [int(pid) for pid in children.read_text().split()]

    def send(self, number: signal.Signals) -> None:
        """Send every worker a signal."""
        for pid in self.pids:
            os.kill(pid, number)


@contextmanager
def running_workers(environ: Mapping[str, str], log: Path, *, count: int = 1, threads: int = 8) -> Iterator[Workers]:
    """Workers with this environment until the block ends, which kills them."""
    with log.open("wb") as output:
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "tests.workers", str(count), str(threads)],
            cwd=REPOSITORY,
            env=dict(environ),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Workers(supervisor, log)
    finally:
        supervisor.kill()  # the workers die with it
        supervisor.wait()


def _supervise(count: int, threads: int) -> None:
    die_with_parent(signal.SIGKILL)
    from config.celery import app

    app.loader.import_default_modules()
    living: set[int] = set()
    while True:
        while len(living) < count:
            if (pid := os.fork()) == 0:
                die_with_parent(signal.SIGKILL)
                command = ["worker", "-P", "threads", "-c", str(threads), "--prefetch-multiplier", "1", "-l", "WARNING"]
                app.worker_main([*command, "--without-gossip", "--without-mingle"])
                os._exit(0)
            living.add(pid)
        pid, status = os.waitpid(-1, 0)
        living.discard(pid)
        print(f"worker {pid} ended: {os.waitstatus_to_exitcode(status)}", flush=True)


if __name__ == "__main__":
    _supervise(int(sys.argv[1]), int(sys.argv[2]))
