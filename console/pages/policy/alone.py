"""What can happen here with no human? Asked of the policy in force, tool by tool, and not written down anywhere."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy

from agents.tools.registry import Tool, tools
from agents.turns import limits
from approvals.brakes import stopped
from approvals.policy.rules import ALWAYS_ASK_STATUS, AUTOMATIC, Facts, Policy, decide
from approvals.policy.versions import in_force
from base.access import READS_CONSOLE, staff_page
from base.money import MAX_MINOR


@staff_page(READS_CONSOLE, what=gettext_lazy("What can happen with no human"))
def alone(request: HttpRequest) -> HttpResponse:
    """Every write with the most that goes through unasked: in one call, in a day and in 30 days."""
    policy = in_force()
    context = {
        "policy": policy,
        "rows": [row for tool in tools().values() if tool.writes for row in _rows(policy, tool)],
        "turn_writes": limits.current("turn_writes"),
        "asking_statuses": ALWAYS_ASK_STATUS,
        "stopped": stopped(),
    }
    return render(request, "pages/policy/alone.html", context)


def _rows(policy: Policy, tool: Tool) -> Iterator[dict[str, Any]]:
    if not tool.moves_money:
        free = tool.act is not None or decide(policy, _freest(policy, tool, "", 0)).outcome == "allow"
        yield {"tool": tool.name, "moves_money": False, "free": free}
        return
    for currency in [*policy.lines, ""]:
        most = {name: _most(policy, tool, currency, sums) for name, sums in _WINDOWS.items()}
        yield {"tool": tool.name, "moves_money": True, "currency": currency, "free": most["call"] > 0, **most}


_MONTHS = {sum_ for line, sum_ in AUTOMATIC.items() if line.endswith("_month")}
_WINDOWS = {"call": set(AUTOMATIC.values()), "day": {"customer_day_minor", "customer_month_minor"}, "month": _MONTHS}
"""Which sums grow with the amount: all by one call; a day's calls can be spread over orders, methods and
conversations; and 30 days' over days as well."""


def _freest(policy: Policy, tool: Tool, currency: str, amount_minor: int, sums: set[str] = _MONTHS) -> Facts:
    """A write that nothing but the document speaks against."""
    facts = Facts(
        tool=tool.name,
        currency=currency,
        amount_minor=min(amount_minor, 1),
        sign_in_minutes=0,
        sign_in_methods=policy.sign_in.methods,
    )
    minor: dict[str, Any] = dict.fromkeys(sums, amount_minor)
    return replace(facts, **minor)


def _most(policy: Policy, tool: Tool, currency: str, sums: set[str]) -> int:
    """The largest sum in minor units that is still allowed, found by asking; 0 for none."""
    low, high = 0, MAX_MINOR
    while low < high:
        middle = (low + high + 1) // 2
        if decide(policy, _freest(policy, tool, currency, middle, sums)).outcome == "allow":
            low = middle
        else:
            high = middle - 1
    return low
