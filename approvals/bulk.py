"""Approving several small requests at once: never what holds untrusted text, is flagged, repeated or above a line."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from approvals import decisions
from approvals.errors import DecisionError, Forbidden, Invalid, NotFound
from approvals.models import Flag, Request, Staff

MOST = 20
RULES = ("reason_other", "status_asks", "tool_asks", "sign_in_old", "sign_in_weak")
"""A request names the first rule that asks, and these come after all that must be read one by one, but for repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What became of one of them: the request, or why not."""

    reference: str
    request: Request | None = None
    error: DecisionError | None = None


def suitable(rows: Iterable[dict[str, Any]]) -> set[str]:
    """References among rows of pending requests (reference, rule, repeats, approvals_needed, customer_id)."""
    found = [row for row in rows if row["rule"] in RULES and row["approvals_needed"] == 1 and row["repeats"] is False]
    customers = {row["customer_id"] for row in found}
    flagged = set(Flag.objects.filter(customer_id__in=customers, cleared_at=None).values_list("customer_id", flat=True))
    return {row["reference"] for row in found if row["customer_id"] not in flagged}


def approve_all(*, chosen: Sequence[tuple[str, str]], staff: Staff, by_token: bool = False) -> list[Done]:
    """Approve each of at most 20 by reference and digest, each for itself: one that fails leaves the others."""
    if not 1 <= len(chosen) <= MOST or len({reference for reference, _ in chosen}) != len(chosen):
        raise Invalid({"items": [f"Choose from 1 to {MOST} different requests."]})
    return [_approve(reference, digest, staff, by_token) for reference, digest in chosen]


def _approve(reference: str, digest: str, staff: Staff, by_token: bool) -> Done:
    request = Request.objects.filter(pk=reference, is_decoy=False).first()
    try:
        if request is None:
            raise NotFound(f"There is no request {reference}.")
        if request.state == Request.State.PENDING and not suitable([_row(request)]):
            raise Forbidden("one_by_one", f"{reference} has to be read and decided by itself.")
        shown = {"bulk": True, "digest": digest, "preview": request.preview, "rule": request.rule}
        decided = decisions.decide(
            reference=reference, staff=staff, verdict="approve", digest=digest, shown=shown, by_token=by_token
        )
    except DecisionError as error:
        return Done(reference=reference, error=error)
    return Done(reference=reference, request=decided)


def _row(request: Request) -> dict[str, Any]:
    names = ("reference", "rule", "approvals_needed", "customer_id")
    return {name: getattr(request, name) for name in names} | {"repeats": request.facts.get("repeats")}
