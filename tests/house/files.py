"""What the house rules are held against: the files of this repository, by kind."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from base.home import REPOSITORY

APPS = ("run", "config", "demo", "console", "agents", "approvals", "ledger", "audit", "base", "standins")
TEXT = {".py", ".md", ".html", ".js", ".css", ".sql", ".toml", ".txt", ".in", ".svg", ".jsonl", ".yml", ".yaml", ""}
MOST_MODULES = 20
"""In one folder."""
_BELOW = (*APPS, "templates", "docs", "tests", "bench", ".ci")


def name_of(path: Path) -> str:
    """A file as readers name it, from the repository's root."""
    return str(path.relative_to(REPOSITORY))


@cache
def tree_of(path: Path) -> ast.Module:
    """A module's parsed source."""
    return ast.parse(path.read_text())


@cache
def sources() -> list[Path]:
    """Our own Python, without migrations."""
    return [p for app in APPS for p in sorted((REPOSITORY / app).rglob("*.py")) if "migrations" not in p.parts]


def texts() -> Iterator[Path]:
    """Everything that a reader of the repository meets."""
    top = [p for p in REPOSITORY.iterdir() if p.is_file()]
    below = [p for d in _BELOW for p in (REPOSITORY / d).rglob("*")]
    for path in (*top, *below):
        if path.is_file() and path.suffix in TEXT and not {"__pycache__", ".git"} & {*path.parts}:
            yield path


def templates() -> list[Path]:
    return sorted((REPOSITORY / "templates").rglob("*.html"))


def documents() -> list[Path]:
    return [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").rglob("*.md"))]
