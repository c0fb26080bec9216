"""How many turns one worker process holds while a model thinks, and what a flood does to others: see `make bench`.

The stand-in thinks for two seconds before each reply, and a turn has two replies: nobody is done before 4 s.
"""

import argparse
import json
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg

from base.home import REPOSITORY
from bench import report
from bench.servers import Servers, running
from run import roles
from run.processes import Child

THINK_SECONDS = 2
CROWD = 200
FLOOD = 100
THREADS = (32, 64, 128, 256)
_LOAD = """
    SELECT (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'worker'),
           (SELECT count(*) FROM agents_turn WHERE state = 'running')
"""


class Worker:
    """One worker process, as the product starts it."""

    def __init__(self, servers: Servers, threads: int) -> None:
        self.url = servers.postgres.url(roles.DATABASE)
        database = servers.environ["DATABASE_URL"] + "?application_name=worker"
        options = ["--prefetch-multiplier", "1", "--without-gossip", "--without-mingle", "-l", "WARNING"]
        celery = [sys.executable, "-m", "celery", "-A", "config", "worker", "-P", "threads", "-c", str(threads)]
        self.child: Child = servers.child(
            "worker", *celery, *options, DATABASE_URL=database, PLACET_WORKER_THREADS=str(threads)
        )
        self.child.start()

    def watch(self, crowd: "subprocess.Popen[str]") -> dict[str, int]:
        """The most memory, database connections and running turns seen while a crowd is served."""
        most = {"MiB": 0, "connections": 0, "in flight": 0}
        with psycopg.connect(self.url, autocommit=True) as connection:
            while crowd.poll() is None:
                connections, turns = connection.execute(_LOAD).fetchone() or (0, 0)
                seen = {"MiB": self._mib(), "connections": connections, "in flight": turns}
                most = {name: max(most[name], seen[name]) for name in most}
                time.sleep(0.2)
        return most

    def _mib(self) -> int:
        assert self.child.process is not None
        status = Path(f"/proc/{self.child.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) // 1024


def _serve(servers: Servers, threads: int, ones: int, flood: int) -> dict[str, Any]:
    worker = Worker(servers, threads)
    try:
        _meet(servers, worker, ones=8, flood=0)  # everything is imported and connected
        return _meet(servers, worker, ones=ones, flood=flood)
    finally:
        worker.child.stop()


def _meet(servers: Servers, worker: Worker, *, ones: int, flood: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.crowd", str(ones), str(flood)]
    pipe = subprocess.PIPE
    crowd = subprocess.Popen(command, env=servers.environ, cwd=REPOSITORY, text=True, stdin=pipe, stdout=pipe)
    assert worker.child.process is not None
    assert crowd.stdin is not None
    assert crowd.stdout is not None
    worker.child.process.send_signal(signal.SIGSTOP)
    crowd.stdout.readline()
    worker.child.process.send_signal(signal.SIGCONT)
    print(file=crowd.stdin, flush=True)
    most = worker.watch(crowd)
    waits: dict[str, Any] = json.loads(crowd.stdout.read())
    if waits.pop("reasons") != ["answered"]:
        raise RuntimeError(f"Not every turn was answered; see {servers.folder}/worker.log.")
    return {**most, **waits}


def _seconds(waits: list[float]) -> list[str]:
    if not waits:
        return ["", "", ""]
    ordered = sorted(waits)
    return [f"{statistics.median(ordered):.1f}", f"{ordered[int(len(ordered) * 0.95)]:.1f}", f"{ordered[-1]:.1f}"]


def crowds(servers: Servers, sizes: tuple[int, ...]) -> list[list[str]]:
    """A crowd of single messages at workers of different size."""
    rows = [["Threads", "turns in flight", "MiB", "database connections", "median s", "p95 s", "all done after s"]]
    for threads in sizes:
        seen = _serve(servers, threads, CROWD, 0)
        figures = [str(seen["in flight"]), str(seen["MiB"]), str(seen["connections"])]
        rows.append([str(threads), *figures, *_seconds(seen["ones"])])
    return rows


def floods(servers: Servers, threads: int) -> list[list[str]]:
    """Twenty customers alone, and the same twenty behind one who floods a hundred conversations."""
    rows = [["Twenty customers who write once", "median s", "p95 s", "last s"]]
    for name, flood in (("alone", 0), (f"behind one customer's {FLOOD * 3} messages in {FLOOD} conversations", FLOOD)):
        seen = _serve(servers, threads, 20, flood)
        rows.append([name, *_seconds(seen["ones"])])
    rows.append(["the flooding customer", *_seconds(seen["flood"])])
    return rows


def main() -> None:
    """Measure and write the tables into docs/performance.md."""
    parser = argparse.ArgumentParser("python -m bench.many")
    parser.add_argument("--threads", type=int, nargs="*", default=list(THREADS))
    parser.add_argument("--dry", action="store_true", help="print only, leave docs/performance.md as it is")
    options = parser.parse_args()
    with running("--think", str(THINK_SECONDS), customers=CROWD + 1) as servers:
        sizes = report.markdown(crowds(servers, tuple(options.threads)))
        fair = report.markdown(floods(servers, 32))
    text = f"{report.machine()}. {CROWD} customers write at once; the model thinks {THINK_SECONDS} s, twice a turn."
    report.write("many", f"{text}\n\n{sizes}\n\nWith 32 threads, so that there is a queue:\n\n{fair}", dry=options.dry)


if __name__ == "__main__":
    main()
