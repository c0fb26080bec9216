"""Figures as Markdown, written into docs/performance.md between the markers that bear a measurement's name."""

import datetime as dt
import os
import platform
import re
from pathlib import Path

from base.home import REPOSITORY

PAGE = REPOSITORY / "docs" / "performance.md"


def machine() -> str:
    """The machine and the day, in words."""
    processor = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    name = processor.group(1) if processor else platform.machine()
    day = dt.datetime.now(dt.UTC).date().isoformat()
    return f"{day}, {os.cpu_count()} cores ({name}), {memory:.0f} GiB, Python {platform.python_version()}"


def markdown(rows: list[list[str]]) -> str:
    """A table; the first row is its head, all columns but the first are figures."""
    head, *body = rows
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))


def write(name: str, text: str, *, dry: bool) -> None:
    """Print a measurement, and put it between its markers unless it is a dry run."""
    print(text)  # noqa: T201 - this is what the command is for
    if dry:
        return
    begin, end = f"<!-- {name}: written by make bench -->", f"<!-- end of {name} -->"
    before, found, rest = PAGE.read_text().partition(begin)
    if not found or end not in rest:
        raise SystemExit(f"docs/performance.md lacks the markers of {name}: put '{begin}' and '{end}' back.")
    PAGE.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}")
