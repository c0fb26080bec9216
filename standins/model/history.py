"""The rules for `messages`: order of roles, content of each role, and every tool_use with its tool_result."""

import re
from collections.abc import Iterable
from typing import Any

from standins.model.errors import ApiError, invalid
from standins.model.usage import blocks

Block = dict[str, Any]

RESULT_CONTENT = ("text", "image", "document", "search_result")
USER_FIELDS = {
    "text": {"type", "text", "cache_control", "citations"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "image": {"type", "source", "cache_control"},
    "document": {"type", "source", "title", "context", "citations", "cache_control"},
    "search_result": {"type", "source", "title", "content", "citations", "cache_control"},
    "container_upload": {"type", "file_id", "cache_control"},
}
NOT_IN_ASSISTANT = ("document", "image", "search_result", "tool_result")
TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+")


def check_messages(messages: Any) -> None:
    """Raises ApiError at the first fault; one pass."""
    if not isinstance(messages, list) or not messages:
        raise invalid("messages", "at least one message is required")
    pending: list[str] = []
    seen: set[str] = set()
    before = None
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        content = _check_shape(where, message)
        role = message["role"]
        _check_order(where, before, role)
        _check_results(where, role, content, pending)
        pending = _check_content(where, role, content, seen)
        before = role
    _check_end(messages[-1], pending)


def check_text_blocks(where: str, content: Any) -> None:
    """System text, here or in a message: a string or text blocks, none empty."""
    if not isinstance(content, (str, list)):
        raise invalid(where, "Input should be a string or a list of text blocks")
    for index, block in enumerate(blocks(content)):
        if not isinstance(block, dict) or block.get("type") != "text":
            raise invalid(f"{where}.{index}", "only text blocks are permitted")
        _check_text(f"{where}.{index}", block)


def _check_shape(where: str, message: Any) -> list[Block]:
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant", "system"):
        raise invalid(f"{where}.role", "Input should be 'user', 'assistant' or 'system'")
    for field in message.keys() - {"role", "content"}:
        raise invalid(f"{where}.{field}", "Extra inputs are not permitted")
    content = message.get("content")
    if not isinstance(content, (str, list)):
        raise invalid(f"{where}.content", "Input should be a string or a list of blocks")
    if not content:
        raise invalid(where, "all messages must have non-empty content")
    for index, block in enumerate(blocks(content)):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise invalid(f"{where}.content.{index}.type", "Field required")
    return blocks(content)


def _check_order(where: str, before: str | None, role: str) -> None:
    if before is None and role != "user":
        raise invalid(where, "first message must use the user role")
    if role == "system" and before != "user":
        raise invalid(where, "a system message must directly follow a user message")
    if before == "system" and role != "assistant":
        raise invalid(where, "a system message must be last or precede an assistant message")


def _check_results(where: str, role: str, content: list[Block], pending: list[str]) -> None:
    results = [block.get("tool_use_id") for block in content if block["type"] == "tool_result"]
    if role != "user":
        results = []
    for tool_use_id in results:
        if tool_use_id not in pending:
            raise invalid(
                where,
                f"unexpected `tool_use_id` found in `tool_result` blocks: {tool_use_id}. "
                "Each `tool_result` must have a `tool_use` in the previous message.",
            )
    if len(set(results)) != len(results):
        raise invalid(where, "each `tool_use` must have a single `tool_result`")
    if missing := [tool_use_id for tool_use_id in pending if tool_use_id not in results]:
        raise invalid(
            where,
            f"`tool_use` ids found without `tool_result` blocks immediately after: {', '.join(missing)}. "
            "Each `tool_use` must have a `tool_result` in the next message.",
        )
    kinds = [block["type"] for block in content]
    if results and "tool_result" in kinds[len(results) :]:
        raise invalid(where, "`tool_result` blocks must come first in the content, before text")


def _check_content(where: str, role: str, content: list[Block], seen: set[str]) -> list[str]:
    """Checks each block; the ids of the tools called."""
    if role == "system":
        check_text_blocks(where, content)
        return []
    if role == "user":
        for index, block in enumerate(content):
            _check_user_block(f"{where}.content.{index}", block)
        return []
    return list(_check_assistant(where, content, seen))


def _check_user_block(where: str, block: Block) -> None:
    fields = USER_FIELDS.get(block["type"])
    if fields is None:
        raise invalid(where, f"Input tag {block['type']!r} is none of the expected tags of a user message")
    for field in block.keys() - fields:
        raise invalid(f"{where}.{field}", "Extra inputs are not permitted")
    if block["type"] == "text":
        _check_text(where, block)
        if block.get("citations"):
            raise invalid(f"{where}.citations", "must be empty in a user message")
    if block["type"] == "tool_result":
        _check_result(where, block)


def _check_result(where: str, block: Block) -> None:
    content = block.get("content", [])
    if not isinstance(content, (str, list)) or not isinstance(block.get("is_error", False), bool):
        raise invalid(where, "`content` should be a string or a list of blocks and `is_error` a boolean")
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict) or part.get("type") not in RESULT_CONTENT:
            raise invalid(f"{where}.content", f"blocks here should be one of {', '.join(RESULT_CONTENT)}")
        if part["type"] == "text":
            _check_text(f"{where}.content", part)


def _check_assistant(where: str, content: list[Block], seen: set[str]) -> Iterable[str]:
    for index, block in enumerate(content):
        at, kind = f"{where}.content.{index}", block["type"]
        if kind in NOT_IN_ASSISTANT:
            raise invalid(at, f"`{kind}` blocks are not permitted in assistant messages")
        if kind == "thinking" and not isinstance(block.get("signature"), str):
            raise invalid(f"{at}.thinking.signature", "Field required")
        if kind in ("tool_use", "server_tool_use"):
            _check_call(at, block, seen)
        if kind == "tool_use":
            yield block["id"]


def _check_call(where: str, block: Block, seen: set[str]) -> None:
    for field, wanted in (("id", str), ("name", str), ("input", dict)):
        if not isinstance(block.get(field), wanted):
            raise invalid(f"{where}.{block['type']}.{field}", "Field required (`input`: an object)")
    if not TOOL_ID.fullmatch(block["id"]):
        raise invalid(f"{where}.{block['type']}.id", "String should match pattern '^[a-zA-Z0-9_-]+$'")
    if block["id"] in seen:
        raise invalid(where, f"`tool_use` ids must be unique; {block['id']} stands twice")
    seen.add(block["id"])


def _check_text(where: str, block: Block) -> None:
    if not isinstance(block.get("text"), str):
        raise invalid(f"{where}.text", "Input should be a valid string")
    if not block["text"].strip():
        raise invalid(where, "text content blocks must contain non-whitespace text")


def _check_end(last: dict[str, Any], pending: list[str]) -> None:
    """Only a reply that the provider paused for a server tool may stand last; anything else is a prefill."""
    kinds = [block["type"] for block in blocks(last["content"])]
    if pending:
        raise ApiError(400, f"`tool_use` ids without `tool_result` blocks after them: {', '.join(pending)}.")
    if last["role"] == "assistant" and "server_tool_use" not in kinds:
        raise ApiError(400, "Prefilling the assistant message is not supported; end with a user message.")
