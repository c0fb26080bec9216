"""What bounds a turn and a day, checked before money is spent. Hitting a limit ends the turn visibly.

A turn's limits come from the environment, a day's have the defaults here; an operator raises or lowers any
of them while the product runs (`manage.py limits`), and within seconds every process goes by it.
"""

import random
import time
from dataclasses import dataclass

from django.conf import settings
from django.db import connection
from django.db.models import F
from django.utils import timezone

from agents.claims import Claimed
from agents.models import Limit, Turn
from agents.prices import Usage

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
    return {name: int(getattr(settings.PLACET, name)) for name in TURN_LIMITS} | DAY_LIMITS


@dataclass
class _Cache:
    until: float = 0.0
    set_by_operator: dict[str, int] | None = None


_cache = _Cache()


def forget() -> None:
    """Read the operator's limits again at the next look."""
    _cache.until = 0.0


def current(name: str) -> int:
    """A limit as it stands: the operator's, else the default."""
    if time.monotonic() >= _cache.until:
        _cache.set_by_operator = dict(Limit.objects.values_list("name", "most"))
        _cache.until = time.monotonic() + READ_AGAIN_SECONDS
    return (_cache.set_by_operator or {}).get(name, defaults()[name])


def reached(turn: Claimed) -> str | None:
    """The first limit that the turn has reached, by the name that the API gives as its reason."""
    row = Turn.objects.get(pk=turn.turn_id)
    checks = (
        ("limit_model_calls", row.steps >= current("turn_model_calls")),
        ("limit_input_tokens", row.input_tokens >= current("turn_input_tokens")),
        ("limit_output_tokens", row.output_tokens >= current("turn_output_tokens")),
        ("limit_money", row.cost_microcents >= current("turn_minor") * MICROCENTS),
        ("limit_seconds", seconds_left(turn) <= 0),
        ("limit_writes", row.writes > current("turn_writes")),
        ("limit_errors", row.errors_in_row >= current("turn_errors")),
        ("limit_day", row.steps == 0 and _day_is_over(turn.customer_id)),
    )
    return next((reason for reason, is_reached in checks if is_reached), None)


_DAY = """
    SELECT count(*), coalesce(sum(input_tokens + output_tokens), 0), coalesce(sum(cost_microcents), 0)
    FROM agents_turn WHERE created_at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
"""


def _day_is_over(customer_id: str) -> bool:
    """Whether the customer or the whole site has used up today; looked at before a turn's first model call."""
    with connection.cursor() as cursor:
        for whose, where, values in (("customer", " AND customer_id = %s", [customer_id]), ("site", "", [])):
            cursor.execute(_DAY + where, values)
            turns, tokens, cost = cursor.fetchone() or (0, 0, 0)
            if (
                turns > current(f"{whose}_day_turns")
                or tokens >= current(f"{whose}_day_tokens")
                or cost >= current(f"{whose}_day_minor") * MICROCENTS
            ):
                return True
    return False


def seconds_left(turn: Claimed) -> float:
    """What is left of the turn's time, which is also the model's time-out."""
    passed = (timezone.now() - turn.started_at).total_seconds()
    return float(current("turn_seconds")) - passed


def count(turn: Claimed, usage: Usage, cost: int) -> None:
    """Add one model call to what the turn has used."""
    Turn.objects.filter(pk=turn.turn_id).update(
        steps=F("steps") + 1,
        input_tokens=F("input_tokens") + usage.input_total,
        output_tokens=F("output_tokens") + usage.output,
        last_input_tokens=usage.input_total,
        cost_microcents=F("cost_microcents") + cost,
    )


def wait_seconds(waits: int, retry_after: float | None) -> float:
    """How long to wait for a model that is down: what it asked for, else doubling with jitter, both capped."""
    doubling = 2.0 ** min(waits, 10) * (0.5 + random.random() / 2)  # noqa: S311 - jitter, not a secret
    return min(retry_after if retry_after is not None else doubling, LONGEST_WAIT_SECONDS)
