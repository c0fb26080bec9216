"""What no page may hold."""

import re
from pathlib import Path

import pytest

from base.home import REPOSITORY
from tests.house.files import templates


@pytest.mark.parametrize("page", templates(), ids=lambda page: str(page.relative_to(REPOSITORY / "templates")))
def test_pages_hold_no_inline_script_or_style(page: Path) -> None:
    text = re.sub(r"{#.*?#}|{% comment %}.*?{% endcomment %}", "", page.read_text(), flags=re.DOTALL)
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text, re.I)
    assert "|safe" not in text
    assert "autoescape off" not in text
