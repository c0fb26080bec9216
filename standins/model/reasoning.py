"""Replayed thinking: valid only where everything before it is unchanged.

The server remembers each reply with thinking together with the prefix it was made for. A reply that comes
back after another prefix (system, tools or an earlier message was edited), or with its thinking changed or
dropped, is refused. Replies it does not know, as after a restart, pass.
"""

from collections.abc import Iterator
from typing import Any

from standins.model.errors import ApiError
from standins.model.usage import Prefix, Recent, blocks, digest

MAX_REPLIES = 20_000
THINKING = ("thinking", "redacted_thinking")


class Reasoning:
    """The thinking that was handed out lately."""

    def __init__(self) -> None:
        self._known = Recent(MAX_REPLIES)
        self._valid = Recent(MAX_REPLIES)

    def remember(self, prefix: Prefix, content: list[dict[str, Any]]) -> None:
        """Notes a reply that has thinking."""
        thinking = [block for block in content if block.get("type") in THINKING]
        for key in _keys(content) if thinking else ():
            self._known.add(key)
            self._valid.add((key, prefix.end, digest(thinking)))

    def check(self, request: dict[str, Any], prefix: Prefix) -> None:
        """Raises a 400 when known thinking comes back changed, or after a changed beginning."""
        for index, message in enumerate(request["messages"]):
            if message["role"] == "assistant":
                self._check(index, blocks(message["content"]), prefix.before[index])

    def _check(self, index: int, content: list[dict[str, Any]], before: bytes) -> None:
        known = [key for key in _keys(content) if key in self._known]
        # A paused reply may be merged with its continuation into one message.
        if not known or any(block.get("type") == "server_tool_use" for block in content):
            return
        thinking = digest([block for block in content if block.get("type") in THINKING])
        if not any((key, before, thinking) in self._valid for key in known):
            raise ApiError(
                400,
                f"messages.{index}: `thinking` or `redacted_thinking` blocks cannot be modified, and "
                "`system`, `tools` and the messages before them must be as they were then.",
            )


def _keys(content: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for block in content:
        for field in ("id", "signature", "data"):
            if value := block.get(field):
                yield field, str(value)
