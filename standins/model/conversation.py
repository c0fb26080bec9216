"""The conversation as an intent sees it.

An intent is a function that is run again from its first line at each step. `Conversation.call` gives the result of
a tool that was called since the customer last wrote; one that was not called yet ends the step with that
call. So an intent reads as straight code and the history is its only state.
"""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from standins.model import wording
from standins.model.reading import order_id
from standins.model.usage import blocks

Block = dict[str, Any]
MAX_PAGES = 5


class Say(Exception):
    """Ends the step with a text."""


class Step(Exception):
    """Ends the step with a tool call."""

    def __init__(self, tool: str, arguments: dict[str, Any]) -> None:
        super().__init__(tool)
        self.tool, self.arguments = tool, arguments


class Called:
    """A tool call of the conversation and what came of it."""

    def __init__(self, block: Block) -> None:
        self.tool: str = block["name"]
        self.arguments: dict[str, Any] = block["input"]
        self.text = ""
        self.error = False

    def finish(self, result: Block) -> None:
        """Notes the result."""
        parts = blocks(result.get("content", ""))
        self.text = "\n".join(part.get("text", "") for part in parts if part["type"] == "text")
        self.error = result.get("is_error", False)

    @property
    def value(self) -> dict[str, Any]:
        """The result as an object; {} where it is none."""
        try:
            value = json.loads(self.text)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


class Conversation:
    """The conversation as it stands when a reply is due."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.tools = {tool["name"] for tool in request.get("tools", [])}
        self.said: list[str] = []
        self.notes: list[str] = []
        self.earlier: list[Called] = []
        self.current: list[Called] = []
        self.asked_back = False
        self._inherited: list[str] = []
        self._read(request["messages"])

    @property
    def ask(self) -> str:
        """What the customer wrote last."""
        return self.said[-1] if self.said else ""

    @property
    def wish(self) -> str:
        """What the customer wrote last, and the sentences before it that it answers our question about."""
        return "\n".join([self.ask, *self._inherited])

    def inherit(self, depth: int) -> None:
        """Makes the wish reach back over that many of the customer's sentences."""
        self._inherited = self.said[-2 : -2 - depth : -1]

    def call(self, tool: str, **arguments: Any) -> Called:
        """The tool's result; ends the step where it has not been called yet, or is not offered."""
        for called in self.current:
            if called.tool == tool and called.arguments == arguments:
                return called
        if tool not in self.tools:
            raise Say(wording.not_offered(tool, "hand_off_to_human" in self.tools))
        raise Step(tool, arguments)

    def read(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """A look-up's result; ends the step with its error."""
        called = self.call(tool, **arguments)
        if called.error:
            raise Say(wording.failed(called.text))
        return called.value

    def write(self, tool: str, **arguments: Any) -> NoReturn:
        """Makes the change and ends the step with what became of it."""
        called = self.call(tool, **arguments)
        raise Say(wording.failed(called.text) if called.error else wording.outcome(tool, called.value))

    def pages(self, tool: str, **arguments: Any) -> Iterator[dict[str, Any]]:
        """Every entry of a list, page by page."""
        for _ in range(MAX_PAGES):
            page = self.read(tool, **arguments)
            yield from (item for item in page.get("items") or [] if isinstance(item, dict))
            if not page.get("next_cursor"):
                return
            arguments["cursor"] = page["next_cursor"]

    def mentioned_order(self) -> str | None:
        """The order number written last, in full where it was found before, else the one used last."""
        written = next((number for text in reversed(self.said) if (number := order_id(text))), None)
        used = [str(c.arguments["order_id"]) for c in self.earlier if "order_id" in c.arguments and not c.error]
        alike = [number for number in used if not written or number.upper().endswith(written.lstrip("#"))]
        return alike[-1] if alike else written

    def _read(self, messages: list[dict[str, Any]]) -> None:
        open_calls: dict[str, Called] = {}
        reply: str | None = ""
        for message in messages:
            content = blocks(message["content"])
            text = "\n".join(b["text"] for b in content if b["type"] == "text" and b.get("text"))
            if message["role"] == "system":
                self.notes.append(text)
            elif message["role"] == "assistant":
                open_calls = {b["id"]: Called(b) for b in content if b["type"] == "tool_use"}
                self.current += open_calls.values()
                reply = text
            else:
                for block in content:
                    if block["type"] == "tool_result":
                        open_calls[block["tool_use_id"]].finish(block)
                if text:
                    self._hear(text, reply)
                    reply = None

    def _hear(self, text: str, reply: str | None) -> None:
        """Takes in what the customer wrote; with no reply in between it belongs to the last message."""
        if reply is None:
            self.said[-1] += "\n" + text
            return
        self.earlier, self.current = self.earlier + self.current, []
        self.asked_back = reply.rstrip().endswith("?")
        self.said.append(text)
