"""Keeps the children of one run: starts them again when they die, stops them in the right order."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from run.processes import Child, ProcessError

LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 60.0  # who has run this long starts again at once when it dies
_POLL_SECONDS = 0.2


@dataclass
class _Watched:
    child: Child
    pause: float = 1.0
    started: float = 0.0
    due: float | None = None


@dataclass
class Supervisor:
    """The children in the order of their start; they stop in the reverse one."""

    say: Callable[[str], None]
    _watched: list[_Watched] = field(default_factory=list)

    def add(self, child: Child) -> None:
        """Look after a child that its maker starts: a server, which takes a while until it answers."""
        self._watched.append(_Watched(child, started=time.monotonic()))

    def start(self, child: Child) -> None:
        """Start a process of ours."""
        self.add(child)
        child.start()

    def check(self) -> None:
        """While everything starts, nobody may die: raises ProcessError with the end of that one's log."""
        for watched in self._watched:
            if watched.child.ended is not None:
                raise watched.child.failure()

    def wait_until(self, ready: Callable[[], bool], seconds: float) -> None:
        """Wait until the product is ready. Raises ProcessError when a child dies or it takes longer."""
        deadline = time.monotonic() + seconds
        while not ready():
            self.check()
            if time.monotonic() > deadline:
                raise ProcessError(f"The product did not get ready within {seconds:.0f} s: see the logs.")
            time.sleep(0.1)

    def watch(self) -> None:
        """Look after the children, servers too, until KeyboardInterrupt: who dies is started again. The others wait
        for a server that is away, and go on."""
        while True:
            for watched in self._watched:
                self._revive(watched, time.monotonic())
            time.sleep(_POLL_SECONDS)

    def _revive(self, watched: _Watched, now: float) -> None:
        child = watched.child
        if watched.due is not None:
            if now >= watched.due:
                watched.started, watched.due = now, None
                child.start()
        elif child.ended is not None:
            steady = now - watched.started > STEADY_SECONDS
            watched.pause = 1.0 if steady else min(2 * watched.pause, LONGEST_PAUSE_SECONDS)
            watched.due = now + watched.pause
            self.say(f"{child.failure()}\n{child.name} starts again in {watched.pause:.0f} s.")

    def stop(self) -> None:
        """Stop everything, the last started first. Further signals are ignored: each step has its time."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for watched in reversed(self._watched):
            watched.child.stop()
