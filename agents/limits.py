"""What bounds a turn, checked before money is spent. Hitting a limit ends the turn visibly."""

import random

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from agents.claims import Claimed
from agents.models import Turn
from agents.prices import Usage

MODEL_ATTEMPTS = 6
LONGEST_WAIT_SECONDS = 120.0
MICROCENTS = 1_000_000


def reached(turn: Claimed) -> str | None:
    """The first limit that the turn has reached, by the name that the API gives as its reason."""
    limits, row = settings.PLACET, Turn.objects.get(pk=turn.turn_id)
    checks = (
        ("limit_model_calls", row.steps >= limits.turn_model_calls),
        ("limit_input_tokens", row.input_tokens >= limits.turn_input_tokens),
        ("limit_output_tokens", row.output_tokens >= limits.turn_output_tokens),
        ("limit_money", row.cost_microcents >= limits.turn_minor * MICROCENTS),
        ("limit_seconds", seconds_left(turn) <= 0),
        ("limit_writes", row.writes > limits.turn_writes),
        ("limit_errors", row.errors_in_row >= limits.turn_errors),
    )
    return next((reason for reason, is_reached in checks if is_reached), None)


def seconds_left(turn: Claimed) -> float:
    """What is left of the turn's time, which is also the model's time-out."""
    passed = (timezone.now() - turn.started_at).total_seconds()
    return float(settings.PLACET.turn_seconds) - passed


def count(turn: Claimed, usage: Usage, cost: int) -> None:
    """Add one model call to what the turn has used."""
    Turn.objects.filter(pk=turn.turn_id).update(
        steps=F("steps") + 1,
        input_tokens=F("input_tokens") + usage.input_total,
        output_tokens=F("output_tokens") + usage.output,
        cost_microcents=F("cost_microcents") + cost,
    )


def wait_seconds(attempts: int, retry_after: float | None) -> float:
    """How long to wait for a model that is down: what it asked for, else doubling with jitter, both capped."""
    doubling = 2.0 ** min(attempts, 10) * (0.5 + random.random() / 2)  # noqa: S311 - jitter, not a secret
    return min(retry_after if retry_after is not None else doubling, LONGEST_WAIT_SECONDS)
