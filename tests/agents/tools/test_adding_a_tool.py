"""The example in docs/adding-a-tool.md works as it stands, and so does its test."""

import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from types import ModuleType

import pytest

from agents.tools import registry
from base.home import REPOSITORY
from tests.conftest import Propose

PAGE = (REPOSITORY / "docs" / "adding-a-tool.md").read_text()
TOOL, TEST = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The file and the line of the example."""
    module = ModuleType("agents.tools.parcels")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(TOOL, module.__dict__)
    monkeypatch.setattr(registry, "FAMILIES", (*registry.FAMILIES, "parcels"))
    registry.tools.cache_clear()
    yield
    registry.tools.cache_clear()


def _examples() -> dict[str, object]:
    names: dict[str, object] = {}
    exec(TEST, names)
    return {name: test for name, test in names.items() if name.startswith("test_")}


@pytest.mark.parametrize("name", _examples())
def test_the_example_and_its_test(name: str, propose: Propose) -> None:
    test = _examples()[name]
    assert callable(test)
    test(propose)


def test_the_model_is_told_of_it(propose: Propose) -> None:
    assert "track_order" in propose("no_such_tool").text


def test_the_handlers_are_those_of_a_tool() -> None:
    told = re.findall(r"^\| `(\w+)` \|", PAGE, re.M)
    assert len(told) == 4
    assert set(told) <= {field.name for field in fields(registry.Tool)}
