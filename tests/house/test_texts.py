"""What no text of this repository says."""

import re
from pathlib import Path

from tests.house.files import name_of, texts


def test_no_text_tells_how_it_was_made() -> None:
    telling = re.compile(
        r"\b(?:INTERFACES|DESIGN|ANTHROPIC|RETAIL)\.md|\bissue #?\d+\b"
        r"|(?<![\w.])(?:\.\./)?shared/(?!data/)|/work/|/tmp/w/",
        re.IGNORECASE,
    )
    assert telling.search("see shared/NOTES")
    others = [p for p in texts() if p != Path(__file__)]
    assert {name_of(p) for p in others if telling.search(p.read_text(errors="replace"))} == set()
