"""The Messages API through the vendor's SDK. Whatever goes wrong comes back as one of three errors."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import anthropic
import httpx2
from django.conf import settings

from agents.context.prompt import definition
from agents.models import Definition
from agents.turns.prices import Usage

Json = dict[str, Any]
OnText = Callable[[str], None]
CONNECT_SECONDS = 5
CACHED = {"type": "ephemeral"}


class ModelDown(Exception):
    """Worth trying again later: overloaded, rate-limited, unreachable, cut off. `retry_after` in seconds; `spent` where
    the provider may have answered and bills it."""

    def __init__(self, why: str, retry_after: float | None = None, *, spent: bool = False) -> None:
        super().__init__(why)
        self.retry_after, self.spent = retry_after, spent


class ModelRefusesUs(Exception):
    """Trying again will not help: a bad key, a spent budget, a request that is not accepted."""


class ReplyUnreadable(Exception):
    """The model answered something that is not a reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply as it came. `content` is the JSON text of its blocks; `stop_reason` is empty when it never said."""

    content: str
    stop_reason: str
    usage: Usage
    request_id: str


@cache
def _client() -> anthropic.Anthropic:
    """One client per process: a client shared across a fork mixes up answers."""
    return anthropic.Anthropic(
        api_key=settings.PLACET.anthropic_api_key or "stand-in",
        base_url=settings.PLACET.anthropic_base_url,
        max_retries=0,
        http_client=anthropic.DefaultHttpxClient(
            trust_env=False,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=settings.PLACET.worker_threads),
        ),
    )


def ask(frozen: Definition, messages: str, *, seconds: float, on_text: OnText | None) -> Reply:
    """One model call, bounded by `seconds`; streams to `on_text` when somebody watches. `messages` is JSON text."""
    request = f"{_opening(frozen.digest, settings.PLACET.max_tokens)}{messages}}}"
    timeout = httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
    try:
        return _streamed(json.loads(request), timeout, on_text) if on_text else _whole(request, timeout)
    except anthropic.APIStatusError as exc:
        raise _sorted(exc) from exc
    except (anthropic.APIConnectionError, httpx2.HTTPError) as exc:
        waited = isinstance(exc, (anthropic.APITimeoutError, httpx2.TimeoutException))
        raise ModelDown(f"{type(exc).__name__}: {exc}", spent=waited) from exc
    except (ValueError, AttributeError, TypeError, KeyError, AssertionError, anthropic.AnthropicError) as exc:
        raise ReplyUnreadable(f"{type(exc).__name__}: {exc}") from exc


@cache
def _opening(digest: str, max_tokens: int) -> str:
    """A request's text up to its messages, the same byte for byte for a definition: written once per process, because
    the SDK copies and serialises all tools for every request."""
    frozen = definition(digest)
    request = {
        "model": frozen.model,
        "max_tokens": max_tokens,
        # A breakpoint of its own: all conversations of a definition read tools and system from the cache.
        "system": [{"type": "text", "text": frozen.system, "cache_control": CACHED}],
        "tools": json.loads(frozen.tools),
        "cache_control": CACHED,
    }
    return f'{json.dumps(request)[:-1]}, "messages": '


def _whole(request: str, timeout: httpx2.Timeout) -> Reply:
    raw = _client().post(
        "/v1/messages", content=request.encode(), cast_to=httpx2.Response, options={"timeout": timeout}
    )
    body = raw.json()
    return _reply(body, body["content"], raw.headers.get("request-id") or "")


def _streamed(request: Json, timeout: httpx2.Timeout, on_text: OnText) -> Reply:
    with _client().messages.stream(**request, timeout=timeout) as stream:
        for text in stream.text_stream:
            on_text(text)
        message = stream.get_final_message()
        content = [block.to_dict() for block in message.content]
        return _reply(message.to_dict(), content, stream.request_id or "")


def _reply(body: Json, content: Any, request_id: str) -> Reply:
    if not isinstance(content, list):
        raise ReplyUnreadable("content is not a list of blocks")
    return Reply(
        content=json.dumps(content, ensure_ascii=False),
        stop_reason=str(body.get("stop_reason") or ""),
        usage=_usage(body.get("usage") or {}),
        request_id=request_id[:100],
    )


def _usage(usage: Json) -> Usage:
    written = usage.get("cache_creation") or {}
    all_written = int(usage.get("cache_creation_input_tokens") or 0)
    one_hour = int(written.get("ephemeral_1h_input_tokens") or 0)
    return Usage(
        input=int(usage.get("input_tokens") or 0),
        write_5m=max(0, all_written - one_hour),
        write_1h=one_hour,
        read=int(usage.get("cache_read_input_tokens") or 0),
        output=int(usage.get("output_tokens") or 0),
    )


_LATER = {408, 409, 429}
_LATER_TYPES = {"overloaded_error", "api_error", "rate_limit_error", "timeout_error"}


def _sorted(exc: anthropic.APIStatusError) -> ModelDown | ModelRefusesUs:
    """Later or never: an error inside a stream has status 200 and says what it is by its type."""
    retry_after = _seconds(exc.response.headers.get("retry-after"))
    why = f"{exc.status_code} {exc.type}: {exc.message}"[:500]
    spent = exc.status_code == 429 and retry_after is None and "spend" in str(exc.message).lower()
    later = exc.status_code in _LATER or exc.status_code >= 500 or exc.type in _LATER_TYPES
    return ModelDown(why, retry_after) if later and not spent else ModelRefusesUs(why)


def _seconds(header: str | None) -> float | None:
    try:
        return float(header) if header else None
    except ValueError:
        return None
