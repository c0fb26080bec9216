"""PLACET_HOME: the folder in which one installation keeps its lock, its secrets and what runs now."""

import fcntl
import json
import os
import secrets
import tempfile
from pathlib import Path
from typing import IO

REPOSITORY = Path(__file__).resolve().parent.parent
_SECRET_NAMES = (
    "installation",
    "secret_key",
    "payments_secret",
    "superuser_password",
    "owner_password",
    "app_password",
    "valkey_password",
)


class HomeError(RuntimeError):
    """The folder cannot be used; the message says why and what to do."""


def make_home(home: Path) -> None:
    """Create the folder, closed to other users."""
    try:
        (home / "logs").mkdir(mode=0o700, parents=True, exist_ok=True)
        home.chmod(0o700)
    except OSError as error:
        raise HomeError(
            f"PLACET_HOME {home} cannot be used ({error.strerror}): set it to a folder of yours."
        ) from error


def lock_home(home: Path) -> IO[str] | None:
    """Take the one lock of this folder; None when another `make run` holds it. Closing the file frees it."""
    file = (home / "lock").open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def write_private(path: Path, value: object) -> None:
    """Write JSON that only this user can read, whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(handle, "w") as file:
        json.dump(value, file, indent=1)
    Path(name).replace(path)


def read_private(path: Path) -> dict[str, str] | None:
    """Read what write_private wrote, None when it did not. Raises HomeError on a damaged file."""
    try:
        value = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise HomeError(f"{path} belongs to another user: run this as the user who ran make run.") from error
    except ValueError as error:
        raise HomeError(f"{path} is damaged ({error}): restore it from a backup.") from error
    return {str(name): str(text) for name, text in value.items() if text is not None}


def installation_secrets(home: Path) -> dict[str, str]:
    """Give the secrets of this installation, made at the first call and kept in secrets.json (0600)."""
    path = home / "secrets.json"
    kept = read_private(path) or {}
    missing = [name for name in _SECRET_NAMES if name not in kept]
    if missing:
        kept |= {name: secrets.token_urlsafe(48) for name in missing}
        write_private(path, kept)
    return kept


def process_birth(pid: str) -> str | None:
    """When a live process started, in clock ticks since boot; None when there is none (a zombie is none)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] == "Z" else fields[19]


def read_running(home: Path) -> dict[str, str]:
    """What `make run` wrote about itself, empty unless that very process is alive."""
    running = read_private(home / "running.json") or {}
    alive = "pid" in running and process_birth(running["pid"]) == running.get("birth")
    return running if alive else {}
