"""A finished message as the events in which the Messages API streams it."""

import json
import re
from collections.abc import Iterator
from typing import Any

from standins.model.wire import dump

WORDS = re.compile(r"\s*\S+|\s+")
PIECE_CHARS = 24


def frame(event: str, data: Any) -> bytes:
    """One server-sent event, with the `event:` and `data:` lines that the SDK needs."""
    return b"event: %s\ndata: %s\n\n" % (event.encode(), dump(data))


def events(message: dict[str, Any]) -> Iterator[bytes]:
    """Every event of a message, in order; the last one is message_stop."""
    usage = message["usage"]
    opening = message | {"content": [], "stop_reason": None, "stop_sequence": None}
    opening["usage"] = usage | {"output_tokens": 1}
    yield frame("message_start", {"type": "message_start", "message": opening})
    yield frame("ping", {"type": "ping"})
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    delta = {key: message.get(key) for key in ("stop_reason", "stop_sequence", "stop_details")}
    yield frame("message_delta", {"type": "message_delta", "delta": delta, "usage": usage})
    yield frame("message_stop", {"type": "message_stop"})


def _block_events(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    start, deltas = _split(block)
    yield frame("content_block_start", {"type": "content_block_start", "index": index, "content_block": start})
    for delta in deltas:
        yield frame("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta})
    yield frame("content_block_stop", {"type": "content_block_stop", "index": index})


def _split(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The block as it starts and its deltas; what is not streamed in parts starts whole."""
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return _split_text(block)
    if kind == "thinking" and isinstance(block.get("thinking"), str):
        return _split_thinking(block)
    if kind in ("tool_use", "server_tool_use") and "input" in block:
        return _split_input(block)
    return block, []


def _split_text(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    start, deltas = block | {"text": ""}, []
    if block.get("citations"):
        start["citations"] = []
        deltas = [{"type": "citations_delta", "citation": citation} for citation in block["citations"]]
    return start, deltas + [{"type": "text_delta", "text": word} for word in WORDS.findall(block["text"])]


def _split_thinking(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    deltas = [{"type": "thinking_delta", "thinking": word} for word in WORDS.findall(block["thinking"])]
    if "signature" not in block:
        return block | {"thinking": ""}, deltas
    last = {"type": "signature_delta", "signature": block["signature"]}
    return block | {"thinking": "", "signature": ""}, [*deltas, last]


def _split_input(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    text = json.dumps(block["input"], ensure_ascii=False)
    parts = [text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS)]
    if not block["input"]:
        parts = [""] if block["input"] == {} else parts
    return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in parts]
