"""Token counts (four characters each) and the prompt cache, by the provider's rules for prefixes.

A request is one sequence of blocks: tools, then system, then messages. A breakpoint stores the prefix that
ends at it; a later request reads the longest stored prefix that ends at, or at most 20 blocks before, one
of its own breakpoints. Prefixes below 512 tokens are not stored. Entries leave when the cache is full,
never by age, so that figures are the same in every run.
"""

from collections import OrderedDict
from collections.abc import Iterator
from hashlib import blake2b
from json import JSONEncoder
from typing import Any, NamedTuple

CHARS_PER_TOKEN = 4
MIN_CACHED_TOKENS = 512
LOOKBACK_BLOCKS = 20
MAX_PREFIXES = 20_000

_canonical = JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


class Step(NamedTuple):
    """The prefix that ends with one block: its digest, its length, and the ttl of a breakpoint there."""

    digest: bytes
    tokens: int
    ttl: str | None


class Recent:
    """A set of the entries used last."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[Any, None] = OrderedDict()

    def __contains__(self, key: object) -> bool:
        if key not in self._entries:
            return False
        self._entries.move_to_end(key)
        return True

    def add(self, key: object) -> None:
        """Adds the entry, or makes it the newest."""
        self._entries[key] = None
        self._entries.move_to_end(key)
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)


class Prefix:
    """A request's blocks as prefixes; `before[i]` is the digest of all that precedes message i."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._digest, self._chars = digest(request.get("model", "")), 0
        self.steps: list[Step] = []
        self.before: list[bytes] = []
        self._add_tools(request.get("tools") or [])
        self._add("system", blocks(request.get("system") or []))
        for message in request["messages"]:
            self.before.append(self._digest)
            self._add(message["role"], blocks(message["content"]))
        if request.get("cache_control") and self.steps:
            self.steps[-1] = self.steps[-1]._replace(ttl=_ttl(request))

    @property
    def end(self) -> bytes:
        """The digest of the whole request."""
        return self._digest

    @property
    def tokens(self) -> int:
        """The tokens of the whole request."""
        return self._chars // CHARS_PER_TOKEN

    def _add_tools(self, tools: list[dict[str, Any]]) -> None:
        """All tools are one block: a breakpoint on any of them stands for the last."""
        marked = [tool for tool in tools if tool.get("cache_control")]
        bare = [_unmarked(tool) for tool in tools] if marked else tools
        holder = {"cache_control": marked[-1]["cache_control"]} if marked else {}
        self._add("tools", [{"tools": bare} | holder] if tools else [])

    def _add(self, role: str, content: list[dict[str, Any]]) -> None:
        for block in content:
            ttl = None
            if block.get("cache_control"):
                ttl = _ttl(block)
                block = _unmarked(block)
            text = role + _canonical(block)
            self._chars += len(text)
            self._digest = _hash(self._digest + text.encode("utf-8", "surrogatepass"))
            self.steps.append(Step(self._digest, self._chars // CHARS_PER_TOKEN, ttl))


class PromptCache:
    """Which prefixes were stored, and what a request pays for."""

    def __init__(self) -> None:
        self._stored = Recent(MAX_PREFIXES)

    def account(self, prefix: Prefix, output_tokens: int) -> dict[str, Any]:
        """The `usage` object of a reply; stores the request's breakpoints."""
        marks = [i for i, s in enumerate(prefix.steps) if s.ttl and s.tokens >= MIN_CACHED_TOKENS]
        read = max((prefix.steps[i].tokens for i in self._hits(prefix, marks)), default=0)
        written, done = {"5m": 0, "1h": 0}, read
        for step in (prefix.steps[i] for i in marks):
            written[step.ttl or "5m"] += max(step.tokens - done, 0)
            done = max(step.tokens, done)
            self._stored.add(step.digest)
        return {
            "input_tokens": prefix.tokens - done,
            "cache_creation_input_tokens": written["5m"] + written["1h"],
            "cache_read_input_tokens": read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written["5m"],
                "ephemeral_1h_input_tokens": written["1h"],
            },
            "output_tokens": output_tokens,
            "service_tier": "standard",
        }

    def _hits(self, prefix: Prefix, marks: list[int]) -> Iterator[int]:
        for mark in marks:
            for index in range(mark, max(mark - LOOKBACK_BLOCKS, 0) - 1, -1):
                if prefix.steps[index].digest in self._stored:
                    yield index
                    break


def digest(value: Any) -> bytes:
    """A short hash of a JSON value, blind to the order of keys."""
    return _hash(_canonical(value).encode("utf-8", "surrogatepass"))


def blocks(content: Any) -> list[dict[str, Any]]:
    """Content as a list of blocks; a string is one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def output_tokens(content: list[Any]) -> int:
    """The tokens of a reply, at least one."""
    return max(len(_canonical(content)) // CHARS_PER_TOKEN, 1)


def _unmarked(block: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != "cache_control"}


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def _ttl(holder: dict[str, Any]) -> str:
    return holder["cache_control"].get("ttl") or "5m"
