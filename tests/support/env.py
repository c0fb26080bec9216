"""Another environment for one test."""

from typing import TypeVar

from config.env_base import Variables

Group = TypeVar("Group", bound=Variables)


def replace(group: Group, **changes: object) -> Group:
    """The same variables with some of them changed; a name that is none fails."""
    assert not changes.keys() - type(group).model_fields.keys()
    return group.model_copy(update=changes)
