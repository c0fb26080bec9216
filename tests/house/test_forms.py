"""Pages read what they receive through forms."""

import re

from base.home import REPOSITORY
from tests.house.files import sources


def test_forms_read_what_was_posted() -> None:
    """But the name of who signs in, whose attempts are counted before the form may be tried."""
    bare = re.compile(r"\bPOST(\[|\.(get|getlist|dict|items)\()|\bin request\.POST\b")
    assert bare.search('request.POST["note"]')
    assert bare.search('"release" in request.POST')
    pages = [p for p in sources() if {"console", "demo"} & {p.relative_to(REPOSITORY).parts[0]}]
    reading = [str(p.relative_to(REPOSITORY)) for p in pages if bare.search(p.read_text())]
    assert reading == ["console/sign_in/pages.py"]
