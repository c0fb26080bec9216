"""Text in a conversation that neither its customer nor the operator wrote, and where it entered.

Each tool declares which fields of its result hold such text; the ledger says which of our own fields were written
by a conversation that held some. Ids, enums and amounts of the ledger, and what the customer says, are trusted.
"""

import json
import uuid
from collections.abc import Iterable
from typing import Any

from agents.models import UntrustedText
from agents.tools.registry import Tool


def untrusted_in(tool: Tool, found: Any, written: Iterable[str]) -> tuple[str, ...]:
    """Which untrusted fields of a result hold anything; `written` are those that the ledger names."""
    filled = [path for path in tool.untrusted if _filled(found, path.split(".") if path else [])]
    return tuple(dict.fromkeys([*filled, *written]))


def _filled(value: Any, names: list[str]) -> bool:
    """Whether something stands at a path; a list is looked through."""
    if isinstance(value, list):
        return any(_filled(part, names) for part in value)
    if not names:
        return bool(value)
    return isinstance(value, dict) and _filled(value.get(names[0]), names[1:])


def text_at(result: Any, path: str) -> str:
    """The untrusted text itself, for the people who decide."""
    found = _at(result, path.split(".") if path else [])
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def _at(value: Any, names: list[str]) -> Any:
    if isinstance(value, list) and names:
        return [_at(part, names) for part in value]
    if not names:
        return value
    return _at(value.get(names[0]), names[1:]) if isinstance(value, dict) else None


def keep(conversation_id: uuid.UUID, message_id: int, block: int, tool: str, fields: Iterable[str]) -> None:
    """Remember where it entered, in the transaction that stores it."""
    for field in fields:
        UntrustedText.objects.create(
            conversation_id=conversation_id, message_id=message_id, block=block, tool=tool[:200], field=field[:100]
        )


def keep_of_reply(conversation_id: uuid.UUID, message_id: int, content: list[Any]) -> None:
    """What the provider's own tools brought into a reply: web pages, MCP servers' answers, files. All of it is from
    outside, and what stands in the same reply was written knowing it."""
    blocks = [(number, block) for number, block in enumerate(content) if isinstance(block, dict)]
    names = {block.get("id"): str(block.get("name", "")) for _, block in blocks}
    for number, block in blocks:
        if "tool_use_id" in block:
            tool = names.get(block["tool_use_id"]) or str(block.get("type", ""))
            keep(conversation_id, message_id, number, tool, [""])
