"""Prompts advise, code enforces: with nothing said to the model, every case of money and access ends the same."""

import os
import re
import subprocess
import sys

import pytest

from base.home import REPOSITORY

CASES = (
    "tests/agents/dispatch/test_dispatch.py",
    "tests/agents/execution/test_execute.py",
    "tests/approvals/decisions/test_deciding.py",
    "tests/ledger/access/test_walls.py",
)


@pytest.mark.committing
def test_the_cases_of_money_and_access_without_a_prompt() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.support.emptied", "-p", "no:cacheprovider", *CASES]
    # Beside this run on its servers, with a database of its own.
    environ = {**os.environ, "PYTEST_XDIST_WORKER": f"emptied_{os.getpid()}"}
    for name in ("PYTEST_CURRENT_TEST", "PYTEST_ADDOPTS"):
        environ.pop(name, None)
    run = subprocess.run(command, cwd=REPOSITORY, env=environ, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout[-4000:]
    assert "told: 0 characters by the prompt, 0 by tools" in run.stdout
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed
    assert int(passed[1]) > 100
