"""The refund rules in words, made from the policy that decides, so that they cannot differ from it."""

from typing import Any

from agents.tools.registry import Caller, NoArguments, Tool
from approvals.policy.document import Lines
from approvals.policy.rules import Policy
from approvals.policy.versions import in_force
from base.money import show


def _policy(_: Caller, __: NoArguments) -> dict[str, Any]:
    policy = in_force()
    return {"text": policy_text(policy), "version": policy.version}


def policy_text(policy: Policy) -> str:
    """What a customer may know of a policy: its lines and times, in plain words."""
    lines = [_line(currency, lines) for currency, lines in sorted(policy.lines.items())]
    return "\n".join([*_RULES, "How much goes without a person:", *lines, _ASKING.format(policy=policy)])


def _line(currency: str, lines: Lines) -> str:
    return (
        f"- {currency}: up to {show(lines.automatic_day, currency)} in 24 hours and "
        f"{show(lines.automatic_month, currency)} in 30 days, refunds, cancellations, returns, exchanges and charges "
        f"together; above that a person decides, and above {show(lines.two_people_day, currency)} in 24 hours two."
    )


_RULES = (
    "Delivered orders can be refunded, returned or exchanged; pending orders can be cancelled, which returns all that "
    "was paid.",
    "A refund goes to the methods that paid, never above what was paid and is not refunded yet.",
    "A return goes to a method that paid or to a gift card of the customer's, once the goods are back.",
)
_ASKING = (
    "Other currencies, a reason that fits none of those listed, the same refund again within a day, and a method that "
    "did not pay for the order always wait for a person. A request waits at most {policy.expires_hours} hours, and a "
    "customer can have {policy.most_open_requests} of them waiting."
)
TOOLS = (
    Tool(
        name="get_refund_policy",
        description="The shop's rules for refunds, returns and cancellations, and what waits for a person.",
        arguments=NoArguments,
        lookup=_policy,
    ),
)
