"""Can the AI do this on its own? This file is the answer.

`decide` is a pure function of a policy and facts. It allows, asks for one or two people, or refuses, and
names the rule. The facts come from the ledger and from waiting requests, never from a prompt. The lines of a
policy are in its document (`approvals.policy.document`); what stands here holds under every policy.
"""

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Self

from approvals.policy.document import Policy

__all__ = ["Facts", "Policy", "Verdict", "decide", "may_approve", "stricter"]

ALWAYS_ASK_STATUS = ("processed", "pending_items_changed", "return_requested", "exchange_requested")
AUTOMATIC = {
    "automatic_day": "customer_day_minor",
    "automatic_month": "customer_month_minor",
    "call": "amount_minor",
    "order_day": "order_day_minor",
    "order_month": "order_month_minor",
    "method_day": "method_day_minor",
    "method_month": "method_month_minor",
    "conversation_day": "conversation_day_minor",
    "conversation_month": "conversation_month_minor",
}
"""Which fact each line of `policy_document.Lines` meets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a verdict may depend on. Sums are in minor units of `currency`, executed, held and this write together,
    over 24 hours (`day`) or 30 days (`month`); `method` is the largest of the payment methods concerned."""

    tool: str
    currency: str = ""
    amount_minor: int = 0
    customer_day_minor: int = 0
    customer_month_minor: int = 0
    order_day_minor: int = 0
    order_month_minor: int = 0
    method_day_minor: int = 0
    method_month_minor: int = 0
    conversation_day_minor: int = 0
    conversation_month_minor: int = 0
    reason: str = ""
    order_status: str = ""
    repeats: bool = False
    pays_unproven_method: bool = False
    on_the_way: dict[str, int] = field(default_factory=dict)
    """Of an address change: by currency, the value of the most valuable order not delivered yet."""
    untrusted_text: str = ""
    """The first text in the conversation that neither the customer nor the operator wrote: field and tool."""
    flagged: bool = False
    sign_in_minutes: int | None = None
    """How long ago the customer proved who they are; None where the token does not say."""
    sign_in_methods: tuple[str, ...] = ()
    open_requests: int = 0
    open_requests_site: int = 0
    denied_reference: str = ""

    @classmethod
    def stored(cls, found: dict[str, Any]) -> Self:
        """Facts as a request or an event keeps them; what an older release kept besides is left out."""
        return cls(**{part.name: found[part.name] for part in fields(cls) if part.name in found})


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the policy says, by which rule, and how many people an asking verdict needs."""

    outcome: Literal["allow", "ask", "deny"]
    rule: str
    approvals_needed: int = 0
    lead_needed: bool = False
    message: str = ""
    policy_version: int = 0
    facts: dict[str, Any] = field(default_factory=dict)


def decide(policy: Policy, facts: Facts) -> Verdict:
    """The verdict on one write. The first rule that asks gives its name; refusals come before any asking."""
    if facts.denied_reference:
        return _deny(policy, facts, "denied_before", _DENIED_BEFORE.format(facts.denied_reference))
    if policy.tools.get(facts.tool) == "never":
        return _deny(policy, facts, "tool_never", _TOOL_NEVER.format(facts.tool))
    rule = _asking_rule(policy, facts)
    if rule is None:
        return Verdict(outcome="allow", rule="within_lines", policy_version=policy.version, facts=asdict(facts))
    if facts.open_requests >= policy.most_open_requests:
        return _deny(policy, facts, "too_many_open", _TOO_MANY_OPEN.format(facts.open_requests))
    if facts.open_requests_site >= policy.most_open_requests_site:
        return _deny(policy, facts, "too_many_open_site", _TOO_MANY_OPEN_SITE)
    two = _above(policy, facts, "two_people_day", facts.customer_day_minor)
    return Verdict(
        outcome="ask",
        rule=rule,
        approvals_needed=2 if two else 1,
        lead_needed=two,
        policy_version=policy.version,
        facts=asdict(facts),
    )


def _asking_rule(policy: Policy, facts: Facts) -> str | None:
    checks = (
        ("untrusted_text", bool(facts.untrusted_text)),
        ("flag", facts.flagged),
        ("currency_without_lines", facts.amount_minor > 0 and facts.currency not in policy.lines),
        ("above_two_people_day", _above(policy, facts, "two_people_day", facts.customer_day_minor)),
        *((f"above_{line}", _above(policy, facts, line, getattr(facts, sum_))) for line, sum_ in AUTOMATIC.items()),
        ("reason_other", facts.reason == "other"),
        ("repeat", facts.repeats),
        ("unproven_method", facts.pays_unproven_method),
        ("status_asks", facts.tool == "issue_refund" and facts.order_status in ALWAYS_ASK_STATUS),
        ("address_of_valuable_order", _valuable(policy, facts)),
        ("tool_asks", policy.tools.get(facts.tool) == "ask"),
        ("sign_in_old", _signed_in_long_ago(policy, facts)),
        ("sign_in_weak", bool(policy.sign_in.methods) and not {*policy.sign_in.methods} & {*facts.sign_in_methods}),
    )
    return next((rule for rule, asks in checks if asks), None)


def _above(policy: Policy, facts: Facts, line: str, sum_minor: int) -> bool:
    """Whether this write takes a sum over a line; nothing moved is never above."""
    lines = policy.lines.get(facts.currency)
    most = getattr(lines, line) if lines and facts.amount_minor else None
    return most is not None and sum_minor > most


def _valuable(policy: Policy, facts: Facts) -> bool:
    upper = {currency: lines.two_people_day for currency, lines in policy.lines.items()}
    return any(value > upper.get(currency, 0) for currency, value in facts.on_the_way.items())


def _signed_in_long_ago(policy: Policy, facts: Facts) -> bool:
    """Unknown is long ago."""
    most = policy.sign_in.minutes
    return most is not None and (facts.sign_in_minutes is None or facts.sign_in_minutes > most)


def _deny(policy: Policy, facts: Facts, rule: str, message: str) -> Verdict:
    return Verdict(outcome="deny", rule=rule, message=message, policy_version=policy.version, facts=asdict(facts))


def stricter(first: Verdict, second: Verdict) -> Verdict:
    """Of two verdicts on one write the one that lets less happen; the first where they are equal."""
    return max(first, second, key=_strictness)


def _strictness(verdict: Verdict) -> tuple[int, int, bool]:
    return ("allow", "ask", "deny").index(verdict.outcome), verdict.approvals_needed, verdict.lead_needed


def may_approve(policy: Policy, role: str, currency: str, amount_minor: int) -> bool:
    """Whether a role may approve so much: below its line, or where the policy gives it none."""
    most = {str(name): lines for name, lines in policy.approve_up_to.items()}.get(role, {}).get(currency)
    return most is None or amount_minor <= most


_DENIED_BEFORE = (
    "This was decided under {} and denied by a person: nothing of this kind on this order is asked for again, whatever "
    "the amount, until a person of the shop reopens it. Do not propose it again; tell the customer, and offer "
    "hand_off_to_human if they disagree."
)
_TOOL_NEVER = (
    "{} is switched off in this shop. Do not call it again; tell the customer, and offer hand_off_to_human if they "
    "need it."
)
_TOO_MANY_OPEN = (
    "This account has {} requests waiting for a person, and no more can wait at once. Tell the customer to wait "
    "for a decision, or to withdraw one; list_my_requests shows them."
)
_TOO_MANY_OPEN_SITE = (
    "Very many requests wait for a person at the moment, and no more can wait now. Nothing was changed; tell the "
    "customer to ask again tomorrow."
)
