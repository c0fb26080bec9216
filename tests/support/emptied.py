"""A pytest plugin (`-p tests.support.emptied`): the model is told nothing, by the system prompt or by any tool."""

import json
from typing import Any

import pytest


def without_descriptions(value: Any) -> Any:
    """A schema whose every description is empty."""
    if isinstance(value, dict):
        emptied = {name: without_descriptions(each) for name, each in value.items()}
        return emptied | ({"description": ""} if isinstance(value.get("description"), str) else {})
    return [without_descriptions(each) for each in value] if isinstance(value, list) else value


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    from agents.context import prompt
    from agents.tools import registry

    real = registry.schemas
    prompt.SYSTEM = ""
    registry.schemas = lambda: json.dumps(without_descriptions(json.loads(real())), separators=(",", ":"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    from agents.context import prompt
    from agents.tools import registry

    told = [tool["description"] for tool in json.loads(registry.schemas())]
    terminalreporter.write_line(f"told: {len(prompt.SYSTEM)} characters by the prompt, {sum(map(len, told))} by tools")
