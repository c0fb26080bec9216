"""Where things stand: rooms of a size to look over, and one meaning for a file name in every app."""

import ast
import importlib
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from celery import Task
from django.apps import AppConfig
from django.core.management.base import BaseCommand
from django.db import models
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.serializers import Field
from rest_framework.views import APIView

from base.home import REPOSITORY
from tests.house.files import APPS, MOST_MODULES, name_of, sources, tree_of
from tests.house.names import pythons

TABLES = (models.Model, models.Manager, models.QuerySet, models.Choices)
VIEWS = (APIView, BaseAuthentication, BasePermission, OpenApiAuthenticationExtension)


def test_no_folder_is_too_full_to_look_over() -> None:
    modules = Counter(name_of(p.parent) for p in pythons() if p.name != "__init__.py")
    assert {folder: count for folder, count in modules.items() if count > MOST_MODULES} == {}
    assert modules["agents/dispatch"] > 5


def test_apps_import_in_the_order_that_people_are_told() -> None:
    contracts = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    order = next(contract["layers"] for contract in contracts if contract["name"] == "imports go one way")
    assert {*order, "standins"} == {*APPS}
    for page in ("README.md", "CONTRIBUTING.md", "docs/code.md"):
        told = re.findall(r"\w+(?:\s*->\s*\w+){4,}", (REPOSITORY / page).read_text())
        assert [re.split(r"\s*->\s*", chain) for chain in told] == [order], page


def modules(name: str, *, within: str = "") -> list[Path]:
    """Every module of this file name, or of this folder."""
    found = [p for p in sources() if p.name == name or (within and p.parent.name == within)]
    assert found
    return [p for p in found if p.name != "__init__.py"]


def defined(path: Path) -> dict[str, object]:
    """What a module itself defines: its classes and functions."""
    nodes = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    names = [node.name for node in tree_of(path).body if isinstance(node, nodes)]
    module = importlib.import_module(".".join(path.relative_to(REPOSITORY).with_suffix("").parts))
    return {name: getattr(module, name) for name in names}


def misplaced(paths: list[Path], belongs: Callable[[object], bool]) -> list[str]:
    return [f"{name_of(path)}: {name}" for path in paths for name, it in defined(path).items() if not belongs(it)]


def is_one_of(*kinds: type) -> Callable[[object], bool]:
    return lambda it: isinstance(it, type) and issubclass(it, kinds)


def is_about_errors(it: object) -> bool:
    """An exception, or a function: what gives one, words its sentence or answers it."""
    return not isinstance(it, type) or is_one_of(BaseException)(it)


def test_models_hold_tables_alone() -> None:
    assert misplaced([*modules("models.py"), *modules("", within="models")], is_one_of(*TABLES)) == []


def test_api_holds_views_of_json() -> None:
    assert misplaced(modules("api.py"), lambda it: not isinstance(it, type) or is_one_of(*VIEWS)(it)) == []


def test_api_shapes_hold_serializers() -> None:
    assert misplaced(modules("api_shapes.py"), is_one_of(Field)) == []
    others = [p for p in sources() if p.name not in ("api_shapes.py", "parsing.py")]
    others = [p for p in others if "import rest_framework" in p.read_text() or "from rest_framework" in p.read_text()]
    assert misplaced(others, lambda it: not is_one_of(Field)(it)) == []


def test_addresses_stand_apart_from_views() -> None:
    assert misplaced([*modules("urls.py"), *modules("api_urls.py")], lambda it: not isinstance(it, type)) == []


def test_apps_hold_the_app() -> None:
    assert misplaced(modules("apps.py"), is_one_of(AppConfig)) == []


def test_commands_hold_one_command() -> None:
    commands = modules("", within="commands")
    assert [name_of(p) for p in commands if not is_one_of(BaseCommand)(defined(p).get("Command"))] == []


def test_errors_hold_what_is_about_errors() -> None:
    assert misplaced(modules("errors.py"), is_about_errors) == []


def test_news_holds_signals() -> None:
    made = [node for p in modules("news.py") for node in tree_of(p).body if isinstance(node, ast.Assign)]
    assert made
    assert all(isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "Signal" for node in made)
    assert misplaced(modules("news.py"), lambda it: False) == []
    outside = [p for p in sources() if p.name != "news.py" and re.search(r"= Signal\(", p.read_text())]
    assert outside == []


def test_tasks_hold_tasks() -> None:
    assert misplaced([p for p in modules("tasks.py") if p.parent.parent == REPOSITORY], _is_task) == []


def _is_task(it: object) -> bool:
    return isinstance(it, Task) or hasattr(it, "delay")


def test_doctors_prove() -> None:
    doctors = [p for p in modules("doctor.py") if p.parent.name != "commands"]
    assert [name_of(p) for p in doctors if "prove" not in defined(p)] == []
