"""What documents, docstrings and comments name is there: files, code, environment, addresses."""

import re
from collections.abc import Callable

from django.urls import URLPattern, URLResolver, get_resolver

from agents.chat import sse, staff_sse
from base.home import REPOSITORY
from config.env import Env
from config.notify_env import Notify
from config.staff_env import Oidc, StaffAccess
from console.live import queue as desk
from tests.house.files import APPS, documents, name_of
from tests.house.names import (
    SPAN,
    TOP,
    WORD,
    defined_in,
    file_names,
    files,
    is_known,
    prose,
    resolves,
    strings_of_code,
    words_of_code,
)

MADE_WHILE_READING = {"agents/tools/parcels.py", "parcels.py"}
"""Files that a document tells its reader to write."""
OF_OTHERS = {"max_prepared_statements", "pg_dump"}
"""Names of other people's programs and settings."""
PATH = re.compile(rf"(?<![\w./<-])((?:{'|'.join(TOP)})/[\w./*-]*[\w/])")
FILE = re.compile(r"(?<![\w./<>*-])([\w-]+\.(?:py|sql|html|js|css|toml|md|jsonl|po|mo))\b(?![./\w])")
DOTTED = re.compile(rf"(?<![\w./@:`-])((?:{'|'.join(APPS)})(?:\.[A-Za-z_]\w*)+)(?![\w/]|\.\w)")
NAME = re.compile(r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(\))?$")
ENVIRONMENT = re.compile(r"\b(?:PLACET|ANTHROPIC|STRIPE|DATABASE|REDIS)_[A-Z_]+\b")
ADDRESS = re.compile(r"(?<![\w.:}/*-])(/(?:console|api|audit|ledger|demo)/[\w/<>{}-]*)")


def wrong(find: Callable[[str], list[str]]) -> dict[str, list[str]]:
    """By file, what it names and is not there."""
    return {name: missing for name, text in prose() if (missing := sorted({*find(text)}))}


def test_files_and_folders_are_there() -> None:
    def missing(text: str) -> list[str]:
        named = [path for path in PATH.findall(text) if not any(REPOSITORY.glob(path.rstrip("/")))]
        alone = [name for name in FILE.findall(text) if name not in file_names()]
        return [name for name in (*named, *alone) if name not in MADE_WHILE_READING]

    assert wrong(missing) == {}
    assert missing("see `agents/dispatch/nowhere.py`, nowhere.sql and agents/nowhere/") != []


def test_dotted_names_are_there() -> None:
    def missing(text: str) -> list[str]:
        return [name for name in DOTTED.findall(text) if not resolves(name) and name not in file_names()]

    assert wrong(missing) == {}
    assert resolves("agents.turns.claims.lock_turn")
    assert not resolves("agents.turns.claims.nothing")


def test_what_code_says_about_code_is_there() -> None:
    """In backticks in a docstring or comment: `module.name`, `Class.name`, `name`."""

    def missing(text: str) -> list[str]:
        spans = [span.removesuffix("()") for span in SPAN.findall(text) if NAME.match(span)]
        known = words_of_code() | strings_of_code() | file_names()
        return [span for span in spans if span not in known and not ("." in span and is_known(span))]

    assert {name: names for name, names in wrong(missing).items() if name.endswith(".py")} == {}
    assert missing("`claims.lock_nothing` and `no_such_name`") == ["claims.lock_nothing", "no_such_name"]


def test_what_documents_call_by_name_is_there() -> None:
    """Names with an underscore or inner capitals are names of code."""
    of_code = re.compile(r"^(?:\w+_\w+|[A-Z][a-z]+[A-Z]\w+)$")

    def missing(text: str) -> list[str]:
        spans = [span.removesuffix("()") for span in SPAN.findall(text)]
        known = words_of_code() | OF_OTHERS
        return [span for span in spans if of_code.match(span) and span not in known and not ENVIRONMENT.match(span)]

    assert {name: names for name, names in wrong(missing).items() if name.endswith(".md")} == {}


def test_the_environment_is_read() -> None:
    source = "\n".join(p.read_text() for p in (REPOSITORY / "config").glob("*env*.py"))
    named = set[str]().union(*(group.variables() for group in (Env, Notify, StaffAccess, Oidc)))
    secret = set[str]().union(*(group.variables(secret=True) for group in (Env, Notify, StaffAccess, Oidc)))
    read = {*named, *(f"{name}_FILE" for name in secret), *ENVIRONMENT.findall(source)}

    def missing(text: str) -> list[str]:
        return [n for n in ENVIRONMENT.findall(text) if n not in read and not (n[-1] == "_" and _begins(n, read))]

    assert wrong(missing) == {}
    operator = (REPOSITORY / "docs" / "operator.md").read_text()
    assert [name for name in sorted(named) if f"`{name}`" not in operator] == []


def _begins(part: str, names: set[str]) -> bool:
    return any(name.startswith(part) for name in names)


def test_addresses_lead_somewhere() -> None:
    known = [*_routes(get_resolver(), ""), *(p.pattern.strip("^$") for p in (sse.PATH, staff_sse.PATH))]
    shapes = [_shape(route) for route in (*known, desk.PATH, "/static/")]

    def missing(text: str) -> list[str]:
        return [a for a in ADDRESS.findall(text) if not any(s.startswith(_shape(a)) for s in shapes)]

    assert wrong(missing) == {}
    assert missing("at /console/nowhere/") == ["/console/nowhere/"]


def _routes(resolver: URLResolver, before: str) -> list[str]:
    found: list[str] = []
    for entry in resolver.url_patterns:
        route = before + str(entry.pattern).lstrip("^")
        found += _routes(entry, route) if isinstance(entry, URLResolver) else []
        found += [f"/{route}"] if isinstance(entry, URLPattern) else []
    return found


def _shape(route: str) -> str:
    """A route without the names of what varies in it."""
    return re.sub(r"<[^>]*>|\{[^}]*\}|\([^)]*\)|\bR-\w+", "*", route).rstrip("$")


def test_each_step_of_the_map_is_there() -> None:
    """In docs/code.md a name in backticks stands behind the file that defines it."""
    text = (REPOSITORY / "docs" / "code.md").read_text()
    assert list(unplaced(text)) == []
    assert list(unplaced("`agents/turns/claims.py` `lock_turn`, `lock_nothing`")) == [
        "agents/turns/claims.py: lock_nothing"
    ]
    assert len(SPAN.findall(text)) > 150


def unplaced(text: str) -> list[str]:
    found, here = [], ""
    for line in text.splitlines():
        here = here if line.startswith("   ") else ""
        for span in SPAN.findall(line):
            if span in files():
                here = span
            elif NAME.match(span) and span not in {*file_names(), "tool_use"} and not stands_in(here, span):
                found.append(f"{here}: {span}")
    return found


def stands_in(path: str, name: str) -> bool:
    if path.endswith(".py"):
        return name in defined_in(path)
    return bool(path) and name in WORD.findall((REPOSITORY / path).read_text())


def test_every_document_is_linked_from_the_first_page() -> None:
    first = (REPOSITORY / "README.md").read_text()
    pages = [name_of(p) for p in documents() if p.parent == REPOSITORY / "docs"]
    assert [page for page in pages if f"({page})" not in first] == []
