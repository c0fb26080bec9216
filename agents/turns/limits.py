"""What bounds a turn and a day, checked before money is spent. Hitting a limit ends the turn visibly.

A turn's limits come from the environment, a day's have the defaults here; an operator raises or lowers any
of them while the product runs (`manage.py limits`), and within seconds every process goes by it.
"""

import random
import time
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.utils import timezone

from agents.models import Limit
from agents.turns.claims import Claimed
from agents.turns.prices import Usage
from base import sql

MOST_DEATHS = 5
MOST_WAITS = 20
LONGEST_WAIT_SECONDS = 120.0
MICROCENTS = 1_000_000
READ_AGAIN_SECONDS = 5.0

TURN_LIMITS = (
    "turn_model_calls", "turn_input_tokens", "turn_output_tokens", "turn_minor", "turn_seconds", "turn_writes",
    "turn_errors",
)  # fmt: skip
# Per day (UTC): turns, tokens in and out together, and model cost in US cents.
DAY_LIMITS = {
    "customer_day_turns": 300,
    "customer_day_tokens": 5_000_000,
    "customer_day_minor": 2_000,
    "site_day_turns": 100_000,
    "site_day_tokens": 2_000_000_000,
    "site_day_minor": 500_000,
}


def defaults() -> dict[str, int]:
    """Every limit as the environment and this file have it."""
    return {name: _default(name) for name in (*TURN_LIMITS, *DAY_LIMITS)}


def _default(name: str) -> int:
    return DAY_LIMITS[name] if name in DAY_LIMITS else int(getattr(settings.PLACET, name))


Day = tuple[int, int, int]
"""Turns, tokens and microcents of a day so far."""


@dataclass
class _Cache:
    until: float = 0.0
    set_by_operator: dict[str, int] = field(default_factory=dict)
    site: Day = (0, 0, 0)


_cache = _Cache()


def forget() -> None:
    """Read the operator's limits and the site's day again the next time."""
    _cache.until = 0.0


def _looked_up() -> _Cache:
    """What all turns share; adding up the site's day for each of them would cost more the longer the day."""
    if time.monotonic() >= _cache.until:
        _cache.set_by_operator = dict(Limit.objects.values_list("name", "most"))
        _cache.site = sql.row(f"SELECT {DAY} FROM agents_turn d WHERE {TODAY}") or (0, 0, 0)  # noqa: S608 - our own
        _cache.until = time.monotonic() + READ_AGAIN_SECONDS
    return _cache


def current(name: str) -> int:
    """A limit as it stands: the operator's, else the default."""
    by_operator = _looked_up().set_by_operator.get(name)
    return _default(name) if by_operator is None else by_operator


Used = tuple[int, ...]
"""Model calls, input and output tokens, microcents, writes and errors in a row of a turn; then its customer's day."""
USED = "t.steps, t.input_tokens, t.output_tokens, t.cost_microcents, t.writes, t.errors_in_row"
DAY = "count(*), coalesce(sum(d.input_tokens + d.output_tokens), 0), coalesce(sum(d.cost_microcents), 0)"
TODAY = "d.created_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'"


def _is_over(whose: str, turns: int, tokens: int, cost: int) -> bool:
    """Whether the customer or the whole site has used up today; looked at before a turn's first model call."""
    return (
        turns > current(f"{whose}_day_turns")
        or tokens >= current(f"{whose}_day_tokens")
        or cost >= current(f"{whose}_day_minor") * MICROCENTS
    )


def seconds_left(turn: Claimed) -> float:
    """What is left of the turn's time, which is also the model's time-out."""
    passed = (timezone.now() - turn.started_at).total_seconds()
    return float(current("turn_seconds")) - passed


def reached(turn: Claimed, used: Used) -> str | None:
    """The first limit that the turn has reached, by the name that the API gives as its reason."""
    steps, tokens_in, tokens_out, cost, writes, errors, *day = used
    checks = (
        ("limit_model_calls", steps >= current("turn_model_calls")),
        ("limit_input_tokens", tokens_in >= current("turn_input_tokens")),
        ("limit_output_tokens", tokens_out >= current("turn_output_tokens")),
        ("limit_money", cost >= current("turn_minor") * MICROCENTS),
        ("limit_seconds", seconds_left(turn) <= 0),
        ("limit_writes", writes > current("turn_writes")),
        ("limit_errors", errors >= current("turn_errors")),
        ("limit_day", steps == 0 and (_is_over("customer", *day) or _is_over("site", *_looked_up().site))),
    )
    return next((reason for reason, is_reached in checks if is_reached), None)


def forget_call(turn: Claimed) -> None:
    """The provider was not asked, refused it, or could not be reached: nothing was spent."""
    sql.run(_FORGET, [turn.turn_id, turn.fence])


# For an UPDATE of the turn that begins another call or ends it: one noted before that was never answered here has been
# spent all the same, because its worker died and the provider bills it.
COUNT_LOST = """steps = steps + (asked_tokens > 0)::int, input_tokens = input_tokens + asked_tokens,
        cost_microcents = cost_microcents + asked_microcents"""
_FORGET = "UPDATE agents_turn SET asked_tokens = 0, asked_microcents = 0 WHERE id = %s AND fence = %s"


COUNT = """steps = steps + 1, input_tokens = input_tokens + %s, output_tokens = output_tokens + %s,
        last_input_tokens = %s, cost_microcents = cost_microcents + %s, asked_tokens = 0, asked_microcents = 0"""
"""For an UPDATE of the turn that stores a reply: adds the call to what the turn has used."""


def counted(usage: Usage, cost: int) -> list[Any]:
    """The values of COUNT; `cost` in microcents."""
    return [usage.input_total, usage.output, usage.input_total, cost]


def wait_seconds(waits: int, retry_after: float | None) -> float:
    """How long to wait for a model that is down: what it asked for, else doubling with jitter, both capped."""
    doubling = 2.0 ** min(waits, 10) * (0.5 + random.random() / 2)  # noqa: S311 - jitter, not a secret
    return min(retry_after if retry_after is not None else doubling, LONGEST_WAIT_SECONDS)
