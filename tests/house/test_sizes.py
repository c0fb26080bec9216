"""Functions and files are short."""

import ast
from statistics import median, quantiles

from base.home import REPOSITORY
from tests.house.files import MOST_MODULES, name_of, sources, tree_of


def lengths() -> dict[str, int]:
    """Lines of every function, its docstring included."""
    found = {}
    for path in sources():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                found[f"{name_of(path)}:{node.lineno} {node.name}"] = node.end_lineno - node.lineno + 1
    return found


def test_people_are_told_these_sizes() -> None:
    told = " ".join((REPOSITORY / "CONTRIBUTING.md").read_text().split())
    assert "median of at most 8 lines and none more than 40" in told
    assert "95 of 100 files have at most 250 lines and none more than 300" in told
    assert f"a folder has at most {MOST_MODULES} modules" in told


def percentile95(numbers: list[int]) -> float:
    return quantiles(numbers, n=20)[-1]


def test_functions_are_short() -> None:
    sizes = lengths()
    assert median(sizes.values()) <= 8
    assert percentile95(list(sizes.values())) <= 40
    assert {name: size for name, size in sizes.items() if size > 40} == {}


def test_files_are_short() -> None:
    sizes = {name_of(p): len(p.read_text().splitlines()) for p in sources()}
    assert percentile95(list(sizes.values())) <= 250
    assert {name: size for name, size in sizes.items() if size > 300} == {}
    assert sizes["agents/dispatch/dispatch.py"] < 150
    assert sizes["approvals/policy/rules.py"] < 200
