"""The facts of a verdict: the plan, what the ledger moved, and what waits for people."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import connection

from approvals.models import OPEN_STATES
from approvals.policy import Facts
from ledger.orders import Moved
from ledger.plans import Plan

_STANDING = """
    SELECT reference, state, tool, order_id, amount_minor, currency, arguments::text FROM approvals_request
    WHERE customer_id = %s
      AND (state = ANY(%s) OR (state = 'denied' AND decided_at > now() - interval '30 days'))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One of the customer's requests that is open, or was denied in the last 30 days."""

    reference: str
    state: str
    tool: str
    order_id: str
    amount_minor: int
    currency: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A customer's requests, as far as they bear on the next write."""

    open: tuple[Waiting, ...]
    denied: tuple[Waiting, ...]

    @property
    def by_order(self) -> dict[str, str]:
        """Which open request stands on which order."""
        return {w.order_id: w.reference for w in self.open if w.order_id}

    def held_minor(self, currency: str) -> int:
        return sum(w.amount_minor for w in self.open if w.currency == currency)

    def denial_of(self, plan: Plan, arguments: dict[str, Any]) -> str:
        """A denied request that this plan asks for again: as much or more of the same on the same order."""
        same = (w for w in self.denied if (w.tool, w.order_id) == (plan.tool, plan.order_id))
        repeated = (w for w in same if _asks_again(w, plan, arguments))
        return next((w.reference for w in repeated), "")


def _asks_again(denied: Waiting, plan: Plan, arguments: dict[str, Any]) -> bool:
    return plan.amount_minor >= denied.amount_minor if plan.amount_minor else json.loads(denied.arguments) == arguments


def standing_of(customer_id: str, *, without: Iterable[str] = ()) -> Standing:
    """Read under the customer's lock, or two conversations could each see none waiting."""
    left_out = set(without)
    with connection.cursor() as cursor:
        cursor.execute(_STANDING, [customer_id, list(OPEN_STATES)])
        names = tuple(Waiting.__dataclass_fields__)
        rows = [Waiting(**dict(zip(names, row, strict=True))) for row in cursor.fetchall()]
    rows = [row for row in rows if row.reference not in left_out]
    return Standing(
        open=tuple(row for row in rows if row.state != "denied"),
        denied=tuple(row for row in rows if row.state == "denied"),
    )


def facts_for(plan: Plan, moved: Moved, standing: Standing, arguments: dict[str, Any]) -> Facts:
    """What the policy may look at."""
    held = standing.held_minor(plan.currency)
    paying = (*plan.movements, *plan.promised)
    return Facts(
        tool=plan.tool,
        currency=plan.currency,
        amount_minor=plan.amount_minor,
        moved_day_minor=moved.day_minor + held,
        moved_month_minor=moved.month_minor + held,
        reason=str(arguments.get("reason", "")),
        order_status=plan.status_before,
        repeats=moved.repeats,
        pays_unproven_method=any(m.kind == "refund" and not m.paid_before for m in paying),
        on_the_way=moved.on_the_way,
        open_requests=len(standing.open),
        denied_reference=standing.denial_of(plan, arguments),
    )
