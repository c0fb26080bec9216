"""Real Celery workers for tests, forked from a process that has loaded everything: a killed one is back at once.

What a customer or a member of staff asks for runs in a process of its own too, where a test wants that to die.
"""

import os
import signal
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from run.processes import die_with_parent
from tests.support.warm import Warm, start

LEASE_SECONDS = 3


def within(seconds: float, happens: Callable[[], bool], what: str = "it") -> None:
    """Wait until something happens."""
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds:.0f} s"
        time.sleep(0.05)


class Workers:
    """Some worker processes under a supervisor that starts a dead one again at once."""

    def __init__(self, supervisor: Warm, orders: "Connection[Any, Any]") -> None:
        self.supervisor = supervisor
        self._orders = orders

    @property
    def pids(self) -> list[int]:
        """The worker processes that live now."""
        pid = self.supervisor.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children")
        return [int(pid) for pid in children.read_text().split()]

    def post(self, conversation_id: uuid.UUID, client_id: str, text: str) -> None:
        """A customer's message, stored by a process of its own."""
        self._orders.send(("post", str(conversation_id), client_id, text))

    def approve(self, reference: str, username: str) -> None:
        """An approval, given in a process of its own."""
        self._orders.send(("approve", reference, username))

    def send(self, number: signal.Signals) -> None:
        """Send every worker a signal."""
        for pid in self.pids:
            os.kill(pid, number)


@contextmanager
def running_workers(environ: Mapping[str, str], log: Path, *, count: int = 1, threads: int = 8) -> Iterator[Workers]:
    """Workers with this environment until the block ends, which kills them."""
    ours, theirs = Pipe()
    workers = Workers(start(_supervise, theirs, count, threads, environ=environ, log=log), ours)
    try:
        within(90, lambda: len(workers.pids) == count, "the workers' start")
        yield workers
    finally:
        workers.supervisor.kill()  # the workers die with it


def carry_out_payouts() -> None:
    """What a worker does with payouts that are due, once; to be started in a process of its own."""
    import django

    django.setup()
    from ledger.payouts import due

    due.carry_out_due()


def _supervise(orders: "Connection[Any, Any]", count: int, threads: int) -> None:
    from config.celery import app

    app.loader.import_default_modules()
    workers: set[int] = set()
    while True:
        while len(workers) < count:
            workers.add(_forked(lambda: _work(threads)))
        if orders.poll(0.02):
            _forked(partial(_act, *orders.recv()))
        workers -= _ended()


def _ended() -> set[int]:
    ended = set()
    with suppress(ChildProcessError):  # none is left
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            ended.add(pid)
    return ended


def _forked(what: Callable[[], None]) -> int:
    if (pid := os.fork()) == 0:
        die_with_parent(signal.SIGKILL)
        try:
            what()
        finally:
            os._exit(0)
    return pid


def _work(threads: int) -> None:
    from config.celery import app

    command = ["worker", "-P", "threads", "-c", str(threads), "--prefetch-multiplier", "1", "-l", "WARNING"]
    app.worker_main([*command, "--without-gossip", "--without-mingle"])


def _act(what: str, *given: str) -> None:
    from agents.chat import conversations
    from approvals.decisions.deciding import decide
    from approvals.models import Request, Staff

    if what == "post":
        conversations.post_message(
            conversation_id=uuid.UUID(given[0]), session_id="s1", client_id=given[1], text=given[2]
        )
    else:
        request = Request.objects.get(reference=given[0])
        staff = Staff.objects.get(username=given[1])
        decide(reference=given[0], staff=staff, verdict="approve", digest=request.digest, shown=request.preview)
