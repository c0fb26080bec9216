"""Names that texts use: where texts stand, and whether a name that they use is the name of something."""

import ast
import importlib
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from base.home import REPOSITORY
from tests.house.files import APPS, documents, name_of, sources, tree_of

TOP = (*APPS, "tests", "bench", "templates", "docs", "locale")
SPAN = re.compile(r"`+([^`\n]+)`+")
WORD = re.compile(r"[A-Za-z_]\w*")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def pythons() -> list[Path]:
    """Our own Python, tests and measurements included."""
    return [*sources(), *sorted(p for d in ("tests", "bench") for p in (REPOSITORY / d).rglob("*.py"))]


@cache
def files() -> list[str]:
    """Every file of ours by its path."""
    below = (p for top in TOP for p in (REPOSITORY / top).rglob("*") if "__pycache__" not in p.parts)
    return [name_of(p) for p in (*REPOSITORY.iterdir(), *below) if p.is_file()]


@cache
def file_names() -> frozenset[str]:
    return frozenset(path.rpartition("/")[2] for path in files())


@cache
def prose() -> list[tuple[str, str]]:
    """Where people read: each document, of the changes those not released yet, and each module's docstrings and
    comments, by file."""
    pages = [(name_of(p), p.read_text()) for p in documents()]
    pages = [(name, text.split("\n## ")[1] if name == "CHANGELOG.md" else text) for name, text in pages]
    return [*pages, *((name_of(p), "\n".join(said_in(p))) for p in pythons())]


def said_in(path: Path) -> Iterator[str]:
    """A module's docstrings, also those after a field or constant, and its comments."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def said_apart() -> list[Path]:
    """All but the house rules, whose examples name what is not there."""
    return [path for path in pythons() if path.parent.name != "house"]


@cache
def words_of_code() -> frozenset[str]:
    """Every identifier and every word in a string of the code, what is said about it left out."""
    found: set[str] = set()
    for path in said_apart():
        said = {id(node.value) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
                found.update(WORD.findall(node.value))
        for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
            if token.type == tokenize.NAME:
                found.add(token.string)
    others = [f for f in files() if f.endswith((".html", ".js", ".css", ".sql", ".toml")) or f == "Makefile"]
    for other in others:
        found.update(WORD.findall((REPOSITORY / other).read_text()))
    migrations = (p for app in APPS for p in (REPOSITORY / app).glob("migrations/*.py"))
    return frozenset(found).union(*(WORD.findall(p.read_text()) for p in migrations))


@cache
def strings_of_code() -> frozenset[str]:
    """Every string of the code, such as the name of an event or a task."""
    nodes = (node for path in said_apart() for node in ast.walk(tree_of(path)))
    return frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


@cache
def modules() -> dict[str, list[str]]:
    """Our modules and packages by the last part of their names."""
    found: dict[str, list[str]] = {}
    for path in pythons():
        name = ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
        found.setdefault(name.rpartition(".")[2], []).append(name)
    return found


@cache
def classes() -> dict[str, list[tuple[Path, ast.ClassDef]]]:
    found: dict[str, list[tuple[Path, ast.ClassDef]]] = {}
    for path in pythons():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append((path, node))
    return found


def resolves(dotted: str) -> bool:
    """Whether a full dotted name is a module, or something in one."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        place = REPOSITORY.joinpath(*parts[:length])
        if place.is_dir() and length == len(parts):
            return True
        if place.with_suffix(".py").is_file() or (place / "__init__.py").is_file():
            return length == len(parts) or _holds(".".join(parts[:length]), parts[length:])
    return False


def _holds(module: str, names: list[str]) -> bool:
    found: object = importlib.import_module(module)
    for name in names:
        if not hasattr(found, name):
            return name in getattr(found, "__annotations__", {})
        found = getattr(found, name)
    return True


def is_known(dotted: str) -> bool:
    """Whether `module.name` or `Class.name` is there. What begins with neither is not ours to know."""
    first, *rest = dotted.split(".")
    starts = [*modules().get(first, ()), *((first,) if first in TOP else ())]
    kinds = classes().get(first, [])
    if any(resolves(".".join((start, *rest))) for start in starts):
        return True
    return any(_has(path, kind, rest[0]) for path, kind in kinds) or not (starts or kinds)


def _has(path: Path, kind: ast.ClassDef, name: str) -> bool:
    """A field, method or inherited name of a class."""
    return hasattr(getattr(_module(path), kind.name, None), name) or any(
        isinstance(node, ast.Attribute | ast.Name | ast.FunctionDef) and name in (_named(node),)
        for node in ast.walk(kind)
    )


def _named(node: ast.Attribute | ast.Name | ast.FunctionDef) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else node.name


def _module(path: Path) -> object:
    return importlib.import_module(".".join(path.relative_to(REPOSITORY).with_suffix("").parts))


def defined_in(path: str) -> frozenset[str]:
    """What a module defines: functions, classes, constants, and members of its classes as `Class.member`."""
    found: set[str] = set()
    for node in tree_of(REPOSITORY / path).body:
        names = _names(node)
        found |= names
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}" for part in node.body for name in _names(part)}
    return frozenset(found)


def _names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.AnnAssign):
        return {node.target.id} if isinstance(node.target, ast.Name) else set()
    if isinstance(node, ast.Assign):
        return {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return set()
