"""What is installed is used and has a reason, and what is used is named."""

import ast
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from base.home import REPOSITORY
from tests.house.files import APPS, sources

FILES = sorted(REPOSITORY.glob("requirements*.in"))
PROVIDED = ("requirements.in", "requirements-local.in", "requirements-stripe.in")


def lines(file: Path) -> list[str]:
    """The lines that name a package."""
    return [line for line in file.read_text().splitlines() if line and not line.startswith(("#", "-"))]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def named(*files: str) -> set[str]:
    """The packages of some of the files, by their normal names."""
    found = [re.match(r"[\w.-]+", line) for file in files for line in lines(REPOSITORY / file)]
    return {normal(match[0]) for match in found if match}


def packages_of(module: str) -> set[str]:
    """The packages that bring a module."""
    return {normal(name) for name in packages_distributions().get(module.partition(".")[0], ())}


def product() -> Iterator[ast.AST]:
    for path in (*sources(), REPOSITORY / "manage.py"):
        yield from ast.walk(ast.parse(path.read_text()))


def imported() -> set[str]:
    """The top-level modules that the product's code imports, neither Python's nor its own."""
    found = set()
    for node in product():
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {*APPS}


def mentioned() -> set[str]:
    """Modules that are named in text: Django's apps and middleware, programs that a run starts."""
    texts = {node.value for node in product() if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {text.partition(".")[0] for text in texts if re.fullmatch(r"[\w.:]+", text)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_line_says_why_it_is_there(file: Path) -> None:
    assert [line for line in lines(file) if not re.search(r"\s\s#\s\w", line)] == []


def test_what_is_imported_is_named() -> None:
    known = named(*PROVIDED)
    assert {module for module in imported() if not packages_of(module) & known} == set()


def test_what_is_named_is_used() -> None:
    used = {package for module in imported() | mentioned() for package in packages_of(module)}
    assert named(*PROVIDED) - used == set()


def test_a_production_install_carries_no_servers() -> None:
    locked = (REPOSITORY / "requirements.txt").read_text()
    for package in named("requirements-local.in"):
        assert not re.search(rf"^{package}==", locked, re.M)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_name_is_locked_with_hashes(file: Path) -> None:
    locked = file.with_suffix(".txt").read_text()
    for package in named(file.name):
        assert re.search(rf"^{package}==\S+ (;.* )?\\\n    --hash=sha256:", locked, re.M), package
