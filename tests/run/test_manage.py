"""manage.py tells what is wrong in one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from base.home import REPOSITORY


def manage(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(
        command, env={**os.environ, **environ}, cwd=REPOSITORY, capture_output=True, text=True, timeout=60
    )


@pytest.mark.parametrize(
    ("arguments", "environ", "says"),
    [
        (["migrat"], {}, "There is no command migrat: did you mean migrate?"),
        (["migrate"], {}, "DATABASE_OWNER_URL"),
        (["migrate", "--bogus"], {}, "unrecognized arguments: --bogus"),
        (["check"], {"PORT": "x"}, "PORT is 'x'"),
        (["check"], {"PLACET_SHARD": "/x"}, "did you mean PLACET_SHARED?"),
        (
            ["migrate"],
            {"DATABASE_OWNER_URL": "postgresql://a:b@127.0.0.1:1/c"},
            "The database does not answer",
        ),
        (["showmigrations"], {"DATABASE_URL": ""}, "Placet is not running: start it with make run"),
    ],
)
def test_one_sentence_and_exit_code_1(arguments: list[str], environ: dict[str, str], says: str, tmp_path: Path) -> None:
    done = manage(*arguments, PLACET_HOME=str(tmp_path), **environ)
    assert (done.returncode, done.stdout) == (1, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_help_is_no_error() -> None:
    assert manage("help").returncode == 0
