"""The facts of a verdict: the plan, what the ledger moved, and what waits for people."""

import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from approvals.models import OPEN_STATES, Request
from approvals.policy.rules import Facts
from base import sql
from ledger.books.plans import Plan
from ledger.shop.orders import Moved

MOST_OPEN = 10_000
"""So many waiting requests are counted; no document may let more wait."""

# What a person took off a refund counts as denied, once the rest of it has ended.
_WAITING = """
    SELECT reference, tool, order_id, currency, arguments::text AS arguments,
           CASE WHEN lowered_from_minor IS NOT NULL AND state <> ALL(%s) THEN 'denied' ELSE state END AS state,
           CASE WHEN lowered_from_minor IS NOT NULL AND state <> ALL(%s)
                THEN lowered_from_minor - CASE state WHEN 'executed' THEN amount_minor ELSE 0 END
                ELSE amount_minor END AS amount_minor,
           conversation_id::text AS conversation_id,
           coalesce((preview -> 'movements') || (preview -> 'promised'), '[]') AS movements
    FROM approvals_request
    WHERE customer_id = %s AND reference <> ALL(%s)
      AND (state = ANY(%s) OR (
           (state = 'denied' OR lowered_from_minor IS NOT NULL) AND reopened_at IS NULL
           AND decided_at > now() - interval '30 days'))
"""
_STANDING = f"""
    SELECT coalesce((SELECT json_agg(waiting) FROM ({_WAITING}) waiting), '[]'),
           EXISTS (SELECT FROM approvals_flag WHERE customer_id = %s AND cleared_at IS NULL),
           (SELECT count(*) FROM (SELECT FROM approvals_request WHERE state = 'pending' AND NOT is_decoy
                                  LIMIT {MOST_OPEN}) counted)
"""  # noqa: S608 - our own text


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
    conversation_id: str
    movements: list[dict[str, Any]]

    def to_method(self, payment_method_id: str) -> int:
        """What of it goes to or comes from one payment method, in minor units."""
        return sum(m["amount_minor"] for m in self.movements if m["payment_method_id"] == payment_method_id)


@dataclass(frozen=True, slots=True)
class Standing:
    """A customer's requests and flags, as far as they bear on the next write, and how many wait in all."""

    open: tuple[Waiting, ...]
    denied: tuple[Waiting, ...]
    flagged: bool
    open_site: int

    @property
    def by_order(self) -> dict[str, str]:
        """Which open request stands on which order."""
        return {w.order_id: w.reference for w in self.open if w.order_id}

    def held(self, currency: str) -> tuple[Waiting, ...]:
        """What waits in one currency."""
        return tuple(w for w in self.open if w.currency == currency)

    def denial_of(self, plan: Plan) -> str:
        """A denied request that this plan asks for again: the same kind of write on the same order, whatever the
        amount and whatever else differs, or who is denied £300 would ask for £299."""
        same = (w.reference for w in self.denied if (w.tool, w.order_id) == (plan.tool, plan.order_id))
        return next(same, "")


def standing_of(customer_id: str, *, without: Iterable[str] = ()) -> Standing:
    """Read under the customer's lock, or two conversations could each see none waiting."""
    opened = list(OPEN_STATES)
    found, flagged, open_site = sql.row(
        _STANDING, [opened, opened, customer_id, list(without), opened, customer_id]
    ) or ([], False, 0)
    rows = [Waiting(**row) for row in found]
    return Standing(
        open=tuple(row for row in rows if row.state != "denied"),
        denied=tuple(row for row in rows if row.state == "denied"),
        flagged=flagged,
        open_site=open_site,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """The conversation that a write comes from, as `Facts` describes it."""

    conversation_id: uuid.UUID
    untrusted_text: str
    sign_in_minutes: int | None
    sign_in_methods: tuple[str, ...]


def circumstances_of(request: Request) -> Circumstances:
    """Those that a request was proposed under."""
    facts = Facts.stored(request.facts)
    return Circumstances(
        conversation_id=request.conversation_id,
        untrusted_text=facts.untrusted_text,
        sign_in_minutes=facts.sign_in_minutes,
        sign_in_methods=facts.sign_in_methods,
    )


def facts_for(plan: Plan, moved: Moved, standing: Standing, arguments: dict[str, Any], around: Circumstances) -> Facts:
    """What the policy may look at."""
    paying = (*plan.movements, *plan.promised)
    return Facts(
        tool=plan.tool,
        currency=plan.currency,
        amount_minor=plan.amount_minor,
        **_sums(plan, moved, standing, around),
        reason=str(arguments.get("reason", "")),
        order_status=plan.status_before,
        repeats=moved.repeats,
        pays_unproven_method=any(m.kind == "refund" and not m.paid_before for m in paying),
        on_the_way=moved.on_the_way,
        untrusted_text=around.untrusted_text,
        flagged=standing.flagged,
        sign_in_minutes=around.sign_in_minutes,
        sign_in_methods=around.sign_in_methods,
        open_requests=len(standing.open),
        open_requests_site=standing.open_site,
        denied_reference=standing.denial_of(plan),
    )


def _sums(plan: Plan, moved: Moved, standing: Standing, around: Circumstances) -> dict[str, int]:
    """What was executed, what waits, and this write, by whom or what a line counts."""
    held = standing.held(plan.currency)
    here = str(around.conversation_id)
    waits = {
        "customer": sum(w.amount_minor for w in held),
        "order": sum(w.amount_minor for w in held if w.order_id == plan.order_id),
        "conversation": sum(w.amount_minor for w in held if w.conversation_id == here),
    }
    sums = {
        f"{scope}_{window}_minor": getattr(moved, f"{scope}_{window}_minor") + waiting + plan.amount_minor
        for scope, waiting in waits.items()
        for window in ("day", "month")
    }
    return sums | _of_methods(plan, moved, held)


def _of_methods(plan: Plan, moved: Moved, held: tuple[Waiting, ...]) -> dict[str, int]:
    now: Counter[str] = Counter()
    for movement in (*plan.movements, *plan.promised):
        now[movement.payment_method_id] += movement.amount_minor
    after = [
        (minor + sum(w.to_method(method) for w in held), moved.methods.get(method, (0, 0)))
        for method, minor in now.items()
    ]
    return {
        "method_day_minor": max((waiting + before[0] for waiting, before in after), default=0),
        "method_month_minor": max((waiting + before[1] for waiting, before in after), default=0),
    }
