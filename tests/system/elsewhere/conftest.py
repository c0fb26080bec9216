"""The shop elsewhere: what runs below asks a second process over HTTP, each test with a database of its own."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request

import pytest
from pytest_django import DjangoDbBlocker

from base.home import REPOSITORY
from run.servers import free_port
from tests.support.env import replace
from tests.support.servers import on_fresh_database, product_env
from tests.support.standin import OPENER

TOOL_SECONDS = 4


class SecondProcess:
    """Where it listens, and how a test tells it what to do."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def control(self, **told: Any) -> None:
        request = Request(self.url + "/control", json.dumps(told).encode())
        with OPENER.open(request, timeout=5):
            return


@pytest.fixture(scope="session")
def second_process(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecondProcess]:
    port, log = free_port(), Path(tmp_path_factory.mktemp("elsewhere")) / "web.log"
    command = [sys.executable, "-m", "uvicorn", "tests.system.elsewhere.server:application", "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--lifespan", "off"], cwd=REPOSITORY, stdout=output, stderr=output,
            env=product_env(os.environ["DATABASE_URL"]),
        )  # fmt: skip
    found = SecondProcess(port)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                found.control()
                break
            except URLError:
                if process.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(log.read_text()[-3000:])
                time.sleep(0.1)
        with contextlib.suppress(HTTPError):  # the first request loads all addresses
            OPENER.open(found.url + "/ledger/v1/profile/", timeout=30)
        yield found
    finally:
        process.kill()  # it may be about to leave somebody without an answer
        process.wait()


@pytest.fixture
def db(second_process: SecondProcess, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A committing database that both processes work on."""
    with on_fresh_database(django_db_blocker) as url:
        second_process.control(database=url.rpartition("/")[2])
        yield


@pytest.fixture(autouse=True)
def asked(second_process: SecondProcess, settings: Any) -> Callable[..., None]:
    """The product asks the second process; called, it disturbs the answers from there."""
    url = f"{second_process.url}/ledger/v1/"
    settings.PLACET = replace(settings.PLACET, ledger_url=url, tool_seconds=TOOL_SECONDS)
    return second_process.control
