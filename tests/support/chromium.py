"""The browser of the browser tests: `python -m tests.support.chromium` installs it where it can, else says how."""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome")
HOW = (
    "No Chromium here, so the browser tests are skipped: "
    "run apt-get install chromium as root (or install it your system's way)."
)


def find() -> str | None:
    """Where Chromium is, None when there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def install() -> None:
    """Install Debian's Chromium when this user is allowed to."""
    if find() is None and os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Chromium for the browser tests ...", flush=True)
        environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
            done = subprocess.run(["apt-get", "-qq", *arguments], env=environ, stdout=subprocess.DEVNULL)
            if done.returncode != 0:
                break
    if find() is None:
        sys.stderr.write(f"{HOW}\n")


if __name__ == "__main__":
    install()
