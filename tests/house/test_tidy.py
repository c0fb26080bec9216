"""The house rules that a machine can check."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

import pytest
from django.core.management import get_commands, load_command_class

from base.home import REPOSITORY

APPS = ("run", "config", "demo", "console", "agents", "approvals", "ledger", "audit", "base", "standins")
TEXT = {".py", ".md", ".html", ".js", ".css", ".sql", ".toml", ".txt", ".in", ".svg", ".jsonl", ".yml", ".yaml", ""}


def sources() -> list[Path]:
    """Our own Python, without migrations."""
    return [p for app in APPS for p in (REPOSITORY / app).rglob("*.py") if "migrations" not in p.parts]


def texts() -> Iterator[Path]:
    """Everything that a reader of the repository meets, this file excepted."""
    top = [p for p in REPOSITORY.iterdir() if p.is_file()]
    below = [p for d in (*APPS, "templates", "docs", "tests", "bench", ".ci") for p in (REPOSITORY / d).rglob("*")]
    for path in (*top, *below):
        if (
            path.is_file()
            and path.suffix in TEXT
            and not {"__pycache__", ".git"} & {*path.parts}
            and path != Path(__file__)
        ):
            yield path


def templates() -> list[Path]:
    return sorted((REPOSITORY / "templates").rglob("*.html"))


def lengths() -> dict[str, int]:
    """Lines of every function, its docstring included."""
    found = {}
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                found[f"{path.relative_to(REPOSITORY)}:{node.lineno} {node.name}"] = node.end_lineno - node.lineno + 1
    return found


def percentile95(numbers: list[int]) -> float:
    return quantiles(numbers, n=20)[-1]


def test_functions_are_short() -> None:
    sizes = lengths()
    assert median(sizes.values()) <= 8
    assert percentile95(list(sizes.values())) <= 40
    assert {name: size for name, size in sizes.items() if size > 40} == {}


def test_files_are_short() -> None:
    sizes = {str(p.relative_to(REPOSITORY)): len(p.read_text().splitlines()) for p in sources()}
    assert percentile95(list(sizes.values())) <= 250
    assert {name: size for name, size in sizes.items() if size > 300} == {}
    assert sizes["agents/dispatch/dispatch.py"] < 150
    assert sizes["approvals/policy/rules.py"] < 200


def test_nothing_is_set_for_a_whole_session() -> None:
    """Connections are shared: what outlives its transaction leaks to the next user of the connection."""
    setting = re.compile(
        r"\bSET\s+(?!LOCAL\b|CONSTRAINTS\b)(?:SESSION\b|ROLE\b|placet\.\w)|set_config\([^)]*\bfalse\s*\)|RESET ROLE",
        re.IGNORECASE,
    )
    assert setting.search("SET ROLE x")
    assert setting.search("select set_config('role', 'x', false)")
    assert not setting.search("SET LOCAL statement_timeout = 1")
    assert [p for p in sources() if setting.search(p.read_text())] == []


def test_nothing_is_deleted() -> None:
    """What was said, decided or moved stays; only sessions and caches end."""
    deletes = re.compile(r"objects\b[^\n]*\.delete\(\)|\bDELETE FROM\b|\bTRUNCATE\b")
    assert deletes.search("Event.objects.filter(pk=1).delete()")
    assert [p for p in sources() if deletes.search(p.read_text())] == []


def test_only_the_record_writes_the_record() -> None:
    writes = re.compile(r"\b(Event|Detail)\.objects\.(create|bulk_create|update|get_or_create)|INSERT INTO audit_")
    assert [p.name for p in sources() if writes.search(p.read_text())] == ["record.py"]


def test_forms_read_what_was_posted() -> None:
    """But the name of who signs in, whose attempts are counted before the form may be tried."""
    bare = re.compile(r"\bPOST(\[|\.(get|getlist|dict|items)\()|\bin request\.POST\b")
    assert bare.search('request.POST["note"]')
    assert bare.search('"release" in request.POST')
    pages = [p for p in sources() if {"console", "demo"} & {p.relative_to(REPOSITORY).parts[0]}]
    reading = [str(p.relative_to(REPOSITORY)) for p in pages if bare.search(p.read_text())]
    assert reading == ["console/sign_in/pages.py"]


def test_no_text_tells_how_it_was_made() -> None:
    telling = re.compile(
        r"\b(?:INTERFACES|DESIGN|ANTHROPIC|RETAIL)\.md|\bissue #?\d+\b"
        r"|(?<![\w.])(?:\.\./)?shared/(?!data/)|/work/|/tmp/w/",
        re.IGNORECASE,
    )
    assert telling.search("see shared/NOTES")
    assert {str(p.relative_to(REPOSITORY)) for p in texts() if telling.search(p.read_text(errors="replace"))} == set()


def documents() -> list[Path]:
    return [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").rglob("*.md"))]


def code_in(text: str) -> str:
    """What stands in code blocks and spans."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))


@pytest.mark.parametrize("page", documents(), ids=lambda page: page.name)
def test_documented_commands_exist(page: Path) -> None:
    code = code_in(page.read_text())
    targets = set(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text(), re.M))
    assert set(re.findall(r"\bmake ([a-z]+)\b", code)) <= targets
    for name, rest in re.findall(r"\bmanage\.py ([a-z_]+)([^\n`|]*)", code):
        if name == "help":
            continue
        assert name in get_commands(), name
        app = get_commands()[name]
        command = load_command_class(app, name) if isinstance(app, str) else app
        known = set(command.create_parser("manage.py", name)._option_string_actions)
        actions = command.create_parser("manage.py", name)._actions
        choices = [c for action in actions if isinstance(action.choices, dict) for c in action.choices.values()]
        known |= {option for sub in choices for option in getattr(sub, "_option_string_actions", ())}
        assert set(re.findall(r"(?<!\S)(--[a-z-]+)", rest)) <= known, (name, rest)


@pytest.mark.parametrize("page", documents(), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        assert target.startswith(("http://", "https://", "mailto:")) or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", templates(), ids=lambda page: str(page.relative_to(REPOSITORY / "templates")))
def test_pages_hold_no_inline_script_or_style(page: Path) -> None:
    text = re.sub(r"{#.*?#}|{% comment %}.*?{% endcomment %}", "", page.read_text(), flags=re.DOTALL)
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text, re.I)
    assert "|safe" not in text
    assert "autoescape off" not in text
