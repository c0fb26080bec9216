"""How carefully a request wants to be read, from the facts that its policy saw. It sorts nothing out and decides
nothing: the policy does."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from approvals.casefile.flags import flagged_among
from approvals.policy.versions import policy_at

Level = Literal["high", "some", "low"]
_HIGH: dict[str, str | Promise] = {
    "untrusted_text": gettext_lazy("text from outside"),
    "flagged": gettext_lazy("flagged customer"),
    "pays_unproven_method": gettext_lazy("to a method that never paid"),
}
_SOME: dict[str, str | Promise] = {
    "repeat": gettext_lazy("like one just executed"),
    "sign_in_weak": gettext_lazy("weak sign-in"),
    "sign_in_old": gettext_lazy("old sign-in"),
    "address_of_valuable_order": gettext_lazy("valuable goods"),
}
RULES = ("reason_other", "status_asks", "tool_asks", "sign_in_old", "sign_in_weak")
"""A request names the first rule that asks, and these come after all that must be read one by one, but for repeats."""


@dataclass(frozen=True, slots=True)
class Risk:
    """A level and why, the heaviest reason first. `share` is the amount in hundredths of the automatic daily line,
    None where there is no such line."""

    level: Level
    reasons: tuple[str | Promise, ...]
    share: int | None


def risk_of(row: Mapping[str, Any], *, flagged: bool) -> Risk:
    """Of a request's row: facts, rule, approvals_needed, amount_minor, currency, policy_version. `flagged` says
    whether the customer is flagged now."""
    facts = {**row["facts"], "flagged": flagged or row["facts"].get("flagged")}
    high = [reason for name, reason in _HIGH.items() if facts.get(name)]
    if row["approvals_needed"] > 1:
        high.append(gettext_lazy("two people"))
    some = [_SOME[row["rule"]]] if row["rule"] in _SOME else []
    if row["rule"].startswith("above_") and not high:
        some.append(gettext_lazy("above a line"))
    level: Level = "high" if high else "some" if some else "low"
    return Risk(level, (*high, *some), _share(row))


def _share(row: Mapping[str, Any]) -> int | None:
    lines = policy_at(row["policy_version"]).lines.get(row["currency"])
    if lines is None or not lines.automatic_day or not row["amount_minor"]:
        return None
    return int(row["amount_minor"] * 100 // lines.automatic_day)


def suitable(rows: Iterable[dict[str, Any]]) -> set[str]:
    """References among rows of pending requests (reference, rule, repeats, approvals_needed, customer_id)."""
    found = [row for row in rows if row["rule"] in RULES and row["approvals_needed"] == 1 and row["repeats"] is False]
    flagged = flagged_among({row["customer_id"] for row in found})
    return {row["reference"] for row in found if row["customer_id"] not in flagged}
