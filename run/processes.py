"""Child processes that never outlive this one, whatever ends it (Linux: the kernel's parent-death signal)."""

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from pwd import struct_passwd
from typing import TypedDict

LOG_BYTES = 5_000_000
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)

Steps = Sequence[tuple[signal.Signals, float]]


class ProcessError(RuntimeError):
    """A process did not do what set-up needs; the message is for the operator, with the end of its log."""


def die_with_parent(death: signal.Signals) -> None:
    """Ask the kernel to signal this process when the thread that started it ends, kill -9 included."""
    if _libc.prctl(_PR_SET_PDEATHSIG, int(death), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")


def _bound_to(parent: int, death: signal.Signals) -> Callable[[], None]:
    def before_exec() -> None:
        die_with_parent(death)
        if os.getppid() != parent:  # the parent ended before the signal was armed
            os._exit(1)

    return before_exec


@dataclass
class Child:
    """One long-running process with its log, and how it is asked to stop (signal, then seconds to wait)."""

    name: str
    command: Sequence[str | Path]
    log: Path
    env: Mapping[str, str]
    death: signal.Signals = signal.SIGKILL
    steps: Steps = ((signal.SIGTERM, 10.0),)
    cwd: Path | None = None
    user: struct_passwd | None = None
    stdin: str = ""
    process: subprocess.Popen[str] | None = field(default=None, init=False)

    def start(self) -> None:
        """Start it in its own session. Main thread only: the death signal follows the starting thread."""
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                self.command,
                env=self.env,
                cwd=self.cwd,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                **_session(self.death, self.user),
            )
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended already: whoever waits for it will say so
            self.process.stdin.write(self.stdin)
            self.process.stdin.close()

    @property
    def ended(self) -> int | None:
        """Its exit code (negative: the signal), None while it runs."""
        assert self.process is not None
        return self.process.poll()

    def stop(self) -> None:
        """Ask it to stop, more firmly at each step, and wait until it is gone."""
        if self.process is None:
            return
        for number, seconds in (*self.steps, (signal.SIGKILL, 10.0)):
            if self.process.poll() is not None:
                return
            self.process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)

    def failure(self) -> ProcessError:
        """What to tell when it ended or never got ready."""
        code = self.ended
        what = "did not get ready" if code is None else f"ended with code {code}"
        return ProcessError(f"{self.name} {what}. The end of {self.log}:\n{tail(self.log)}")


class _Session(TypedDict):
    start_new_session: bool
    preexec_fn: Callable[[], None]
    user: int | None
    group: int | None
    extra_groups: list[int] | None


def _session(death: signal.Signals, user: struct_passwd | None) -> _Session:
    return {
        "start_new_session": True,  # Ctrl-C is ours to pass on
        "preexec_fn": _bound_to(os.getpid(), death),  # runs after the change of user, which would disarm it
        "user": None if user is None else user.pw_uid,
        "group": None if user is None else user.pw_gid,
        "extra_groups": None if user is None else [],
    }


def run(command: Sequence[str | Path], *, env: Mapping[str, str], cwd: Path, user: struct_passwd | None = None) -> str:
    """Run a short command and give its output; what it says on stderr is shown. Raises ProcessError."""
    done = subprocess.run(
        command,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=env,
        cwd=cwd,
        **_session(signal.SIGKILL, user),
    )
    if done.returncode != 0:
        said = "\n".join(done.stdout.strip().splitlines()[-15:])
        what = " ".join(map(str, command[:3]))
        raise ProcessError(f"{what} ended with code {done.returncode}.\n{said}".strip())
    return done.stdout


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log, indented."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 8192))
        text = file.read().decode(errors="replace")
    return "\n".join(f"    {line}" for line in text.splitlines()[-lines:])


def until(child: Child, ready: Callable[[], bool], seconds: float) -> None:
    """Wait until the child is ready. Raises ProcessError when it ends before that or takes longer."""
    deadline = time.monotonic() + seconds
    while not ready():
        if child.ended is not None or time.monotonic() > deadline:
            raise child.failure()
        time.sleep(0.05)


def end_orphan(pid_file: Path, marker: str, number: signal.Signals, seconds: float = 20.0) -> None:
    """Wait for a server that a killed run left behind: it got its death signal, and gets it again here.

    A pid file that names a process of somebody else (pids are reused after a restart) is removed.
    """
    try:
        pid = int(pid_file.read_text().split()[0])
        command = Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError, IndexError, ValueError):
        return
    if marker not in command:
        pid_file.unlink(missing_ok=True)
        return
    os.kill(pid, number)
    deadline = time.monotonic() + seconds
    while Path(f"/proc/{pid}/cmdline").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
