"""Processes of the product, started warm: forked from one that has imported the libraries, which takes seconds.

Nothing of ours and nothing that reads Django's settings is loaded before a process has its own environment, so each
is what `python -m` would have started.
"""

import multiprocessing
import os
import runpy
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from base.home import REPOSITORY
from run.processes import die_with_parent

_LIBRARIES = (
    "anthropic", "celery.apps.beat", "celery.apps.worker", "celery.bin.celery", "celery.concurrency.thread",
    "django.core.management", "django.db.backends.postgresql.base", "django.db.models", "django.template.loader",
    "jwt", "kombu.transport.redis", "psycopg_pool", "redis.asyncio", "requests", "uvicorn.main",
)  # fmt: skip
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(list(_LIBRARIES))


@dataclass(frozen=True)
class Warm:
    """A running process and its log."""

    process: BaseProcess
    log: Path

    def wait(self) -> int | None:
        """Its exit code when it has ended (negative: the signal)."""
        self.process.join()
        return self.process.exitcode

    def kill(self) -> None:
        """End it at once, frozen or not, and wait until it is gone."""
        self.process.kill()
        self.process.join()


def start(what: Callable[..., object], *given: Any, environ: Mapping[str, str], log: Path) -> Warm:
    """Call a function of a module in a process of its own, which dies with this one."""
    process = _forks.Process(target=_become, args=(dict(environ), log, what, given))
    process.start()
    return Warm(process, log)


def start_module(name: str, *arguments: str, environ: Mapping[str, str], log: Path) -> Warm:
    """As `python -m name arguments` does."""
    return start(_run_module, name, arguments, environ=environ, log=log)


def _become(environ: dict[str, str], log: Path, what: Callable[..., object], given: tuple[Any, ...]) -> None:
    os.setsid()
    die_with_parent(signal.SIGKILL)
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(REPOSITORY)
    with log.open("ab", buffering=0) as output:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(output.fileno(), stream.fileno())
    what(*given)


def _run_module(name: str, arguments: tuple[str, ...]) -> None:
    sys.argv = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)
