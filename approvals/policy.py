"""Can the AI do this on its own? This file is the answer.

`decide` is a pure function of a policy and facts. It allows, asks for one or two people, or refuses, and
names the rule. The facts come from the ledger and from waiting requests, never from a prompt.
"""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

ALWAYS_ASK_STATUS = ("processed", "pending_items_changed", "return_requested", "exchange_requested")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Limits in minor units on what moves for one customer in one currency, this write included."""

    automatic_day: int = 5_000
    automatic_month: int = 20_000
    two_people_day: int = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A version of the rules. A currency without lines always asks."""

    version: int
    lines: dict[str, Lines]
    most_open_requests: int = 4
    expires_hours: int = 72
    execute_hours: int = 24


DEFAULT = Policy(version=1, lines={"USD": Lines(), "GBP": Lines(), "EUR": Lines()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a verdict may depend on. Amounts in minor units; `moved_*` count executed and held, without this."""

    tool: str
    currency: str = ""
    amount_minor: int = 0
    moved_day_minor: int = 0
    moved_month_minor: int = 0
    reason: str = ""
    order_status: str = ""
    repeats: bool = False
    pays_unproven_method: bool = False
    on_the_way: dict[str, int] = field(default_factory=dict)
    """Of an address change: by currency, the value of the most valuable order not delivered yet."""
    open_requests: int = 0
    denied_reference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the policy says, by which rule, and how many people an asking verdict needs."""

    outcome: Literal["allow", "ask", "deny"]
    rule: str
    approvals_needed: int = 0
    lead_needed: bool = False
    message: str = ""
    facts: dict[str, Any] = field(default_factory=dict)


def decide(policy: Policy, facts: Facts) -> Verdict:
    """The verdict on one write. The first rule that asks gives its name; refusals come before any asking."""
    if facts.denied_reference:
        return _deny(facts, "denied_before", _DENIED_BEFORE.format(facts.denied_reference))
    rule = _asking_rule(policy, facts)
    if rule is None:
        return Verdict(outcome="allow", rule="within_lines", facts=asdict(facts))
    if facts.open_requests >= policy.most_open_requests:
        return _deny(facts, "too_many_open", _TOO_MANY_OPEN.format(facts.open_requests))
    two = _above(policy, facts, "two_people_day", facts.moved_day_minor)
    return Verdict(outcome="ask", rule=rule, approvals_needed=2 if two else 1, lead_needed=two, facts=asdict(facts))


def _asking_rule(policy: Policy, facts: Facts) -> str | None:
    checks = (
        ("currency_without_lines", facts.amount_minor > 0 and facts.currency not in policy.lines),
        ("above_two_people_day", _above(policy, facts, "two_people_day", facts.moved_day_minor)),
        ("above_automatic_day", _above(policy, facts, "automatic_day", facts.moved_day_minor)),
        ("above_automatic_month", _above(policy, facts, "automatic_month", facts.moved_month_minor)),
        ("reason_other", facts.reason == "other"),
        ("repeat", facts.repeats),
        ("unproven_method", facts.pays_unproven_method),
        ("status_asks", facts.tool == "issue_refund" and facts.order_status in ALWAYS_ASK_STATUS),
        ("address_of_valuable_order", _valuable(policy, facts)),
    )
    return next((rule for rule, asks in checks if asks), None)


def _above(policy: Policy, facts: Facts, line: str, moved_minor: int) -> bool:
    """Whether this write takes the customer's sum over a line; nothing moved is never above."""
    lines = policy.lines.get(facts.currency)
    if lines is None or facts.amount_minor == 0:
        return False
    return moved_minor + facts.amount_minor > int(getattr(lines, line))


def _valuable(policy: Policy, facts: Facts) -> bool:
    upper = {currency: lines.two_people_day for currency, lines in policy.lines.items()}
    return any(value > upper.get(currency, 0) for currency, value in facts.on_the_way.items())


def _deny(facts: Facts, rule: str, message: str) -> Verdict:
    return Verdict(outcome="deny", rule=rule, message=message, facts=asdict(facts))


_DENIED_BEFORE = (
    "This was decided under {} and denied by a person. Do not propose it again; tell the customer, "
    "and offer hand_off_to_human if they disagree."
)
_TOO_MANY_OPEN = (
    "This account has {} requests waiting for a person, and no more can wait at once. Tell the customer to wait "
    "for a decision, or to withdraw one; list_my_requests shows them."
)
