"""What the documents promise is there: commands, options, targets, links."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from base.home import REPOSITORY
from tests.house.files import documents


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
