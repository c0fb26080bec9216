"""Sums, exact in decimals."""

import json

import pytest

from tests.conftest import Propose


@pytest.mark.parametrize(
    ("a", "op", "b", "result", "exact"),
    [
        (0.1, "+", 0.2, "0.3", True),
        (1, "/", 3, "0." + "3" * 40, False),
        (12_400, "-", 1_200, "11200", True),
        (19.99, "*", 3, "59.97", True),
        (10**15, "*", 10**15, "1" + "0" * 30, True),
        (-0.0, "+", 0, "0", True),
        (1e-7, "*", 1, "0.0000001", True),
    ],
)
def test_a_sum(propose: Propose, a: float, op: str, b: float, result: str, exact: bool) -> None:
    assert json.loads(propose("calculator", a=a, op=op, b=b).text) == {"result": result, "exact": exact}


@pytest.mark.parametrize(
    "arguments",
    [
        {"a": 1, "op": "/", "b": 0},
        {"a": 1, "op": "/", "b": 0.0},
        {"a": 1, "op": "**", "b": 9},
        {"a": 10**15 + 1, "op": "+", "b": 0},
        {"a": float("nan"), "op": "+", "b": 0},
        {"a": float("inf"), "op": "+", "b": 0},
        {"a": True, "op": "+", "b": 0},
        {"a": "1", "op": "+", "b": 0},
    ],
)
def test_what_is_no_sum_teaches(propose: Propose, arguments: dict[str, object]) -> None:
    outcome = propose("calculator", **arguments)
    assert (outcome.decision, outcome.rule) == ("refused", "arguments")
    assert "again with" in outcome.text
