"""Which build is running, for the record: the commit, read once per process from the checkout."""

from pathlib import Path

_GIT = Path(__file__).resolve().parent.parent / ".git"


def _read_commit() -> str:
    head = (_GIT / "HEAD").read_text().strip() if (_GIT / "HEAD").is_file() else ""
    if not head.startswith("ref: "):
        return head[:40]
    ref = _GIT / head.removeprefix("ref: ")
    return ref.read_text().strip()[:40] if ref.is_file() else ""


BUILD = _read_commit()
