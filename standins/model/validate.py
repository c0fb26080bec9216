"""The request's own fields: what the Messages API answers 400 to. The messages are checked in history.py."""

import re
from collections.abc import Iterator
from typing import Any

from standins.model.errors import ApiError, invalid
from standins.model.history import check_messages, check_text_blocks
from standins.model.usage import blocks

SAMPLING = ("temperature", "top_p", "top_k")
FIELDS = {
    "model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream", "stop_sequences",
    "metadata", "thinking", "output_config", "cache_control", "service_tier", "container",
    "context_management", "inference_geo", "mcp_servers",
}  # fmt: skip
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ALWAYS_THINKING = "claude-opus-5-5"
NO_FORCED_TOOL = ("claude-opus-5-5", "claude-sonnet-5-5")
MAX_OUTPUT_TOKENS = 128_000
MAX_BREAKPOINTS = 4


def check_request(request: Any, counting: bool = False) -> None:
    """Raises ApiError unless the API would take the request; `counting` is for count_tokens."""
    if not isinstance(request, dict):
        raise ApiError(400, "The request body must be a JSON object.")
    _check_fields(request)
    if not isinstance(request.get("model"), str) or not request["model"]:
        raise invalid("model", "a non-empty string is required")
    if not counting:
        _check_max_tokens(request)
    _check_tools(request)
    _check_modes(request)
    if "system" in request:
        check_text_blocks("system", request["system"])
    check_messages(request.get("messages"))
    _check_breakpoints(request)


def _check_fields(request: dict[str, Any]) -> None:
    for field in SAMPLING:
        if field in request:
            raise invalid(field, "this field is not supported in this API version; leave it out")
    for field in request.keys() - FIELDS:
        raise invalid(field, "Extra inputs are not permitted")
    if not isinstance(request.get("stream", False), bool):
        raise invalid("stream", "Input should be a valid boolean")
    metadata = request.get("metadata", {})
    if not isinstance(metadata, dict) or metadata.keys() - {"user_id"}:
        raise invalid("metadata", "only `user_id` is permitted")


def _check_max_tokens(request: dict[str, Any]) -> None:
    limit = request.get("max_tokens")
    if "max_tokens" not in request:
        raise invalid("max_tokens", "Field required")
    if type(limit) is not int or not 1 <= limit <= MAX_OUTPUT_TOKENS:
        raise invalid("max_tokens", f"Input should be an integer from 1 to {MAX_OUTPUT_TOKENS}")


def _check_tools(request: dict[str, Any]) -> None:
    tools = request.get("tools", [])
    if not isinstance(tools, list):
        raise invalid("tools", "Input should be a valid list")
    names = set()
    for index, tool in enumerate(tools):
        name = _check_tool(f"tools.{index}", tool)
        if name in names:
            raise invalid("tools", f"Tool names must be unique; {name!r} stands twice")
        names.add(name)


def _check_tool(where: str, tool: Any) -> str:
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        raise invalid(f"{where}.name", "Field required")
    if not TOOL_NAME.fullmatch(tool["name"]):
        raise invalid(f"{where}.name", "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'")
    schema, custom = tool.get("input_schema"), tool.get("type", "custom") == "custom"
    if custom and (not isinstance(schema, dict) or schema.get("type") != "object"):
        raise invalid(f"{where}.input_schema", "an object schema (type 'object') is required")
    return str(tool["name"])


def _check_modes(request: dict[str, Any]) -> None:
    choice = request.get("tool_choice", {"type": "auto"})
    if not isinstance(choice, dict) or choice.get("type") not in ("auto", "any", "tool", "none"):
        raise invalid("tool_choice.type", "Input should be 'auto', 'any', 'tool' or 'none'")
    if choice["type"] in ("any", "tool") and request["model"].startswith(NO_FORCED_TOOL):
        raise invalid("tool_choice", f"a forced tool is not supported by {request['model']}")
    thinking = request.get("thinking", {"type": "adaptive"})
    if not isinstance(thinking, dict) or "type" not in thinking:
        raise invalid("thinking.type", "Field required")
    if thinking["type"] in ("enabled", "disabled") and request["model"].startswith(ALWAYS_THINKING):
        raise invalid("thinking.type", f"{thinking['type']!r} is not supported by {request['model']}")


def _check_breakpoints(request: dict[str, Any]) -> None:
    holders = [h for h in _cacheable(request) if h.get("cache_control") is not None]
    for holder in holders:
        control = holder["cache_control"]
        if not isinstance(control, dict) or control.get("type") != "ephemeral":
            raise invalid("cache_control.type", "Input should be 'ephemeral'")
        if control.get("ttl", "5m") not in ("5m", "1h"):
            raise invalid("cache_control.ttl", "Input should be '5m' or '1h'")
        if holder.get("type") in ("thinking", "redacted_thinking"):
            raise invalid("cache_control", "thinking blocks cannot carry it")
    if len(holders) > MAX_BREAKPOINTS:
        raise invalid("cache_control", f"at most {MAX_BREAKPOINTS} breakpoints, found {len(holders)}")


def _cacheable(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"cache_control": request.get("cache_control")}
    yield from request.get("tools", [])
    yield from blocks(request.get("system", []))
    for message in request["messages"]:
        yield from blocks(message["content"])
