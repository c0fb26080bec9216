"""Named places where a test lets the process die, so that recovery is shown and not hoped for.

Off unless PLACET_FAILPOINTS names a folder; then a place costs reading one constant. In the folder, `passed`
collects every passing as `name subject`, and a file `name@subject#NN` holds what the next passing does: the
number of the signal that the process sends itself (9 dies, 19 freezes), or 0 to pass. The first process that
renames the file into `spent` does it, so a plan outlives whoever it kills. This lies in the lowest app,
because every one above it has such places.
"""

import os
import time
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import transaction

_FOLDER: Path | None = settings.PLACET.failpoints


def reach(name: str, subject: object = "") -> None:
    """Pass a place; `subject` says which conversation does."""
    if _FOLDER is not None:
        _pass(_FOLDER, name, subject)


def reach_on_commit(name: str, subject: object = "") -> None:
    """Pass a place when the transaction is committed, before what else waits for that."""
    if _FOLDER is not None:
        transaction.on_commit(partial(_pass, _FOLDER, name, subject))


def _pass(folder: Path, name: str, subject: object) -> None:
    with (folder / "passed").open("a") as passed:
        passed.write(f"{name} {subject}\n")
    for planned in sorted(folder.glob(f"{name}@{subject}#*")):
        number = int(planned.read_text())
        try:
            planned.rename(folder / "spent" / f"{planned.name}.{os.getpid()}")
        except FileNotFoundError:  # another process was first
            continue
        if number:
            os.kill(os.getpid(), number)
            time.sleep(0.01)  # the signal is for the process: another thread may be the one that takes it
        return
