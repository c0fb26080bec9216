"""Several requests at once. Approving is for small ones of one rule: never what holds untrusted text, is flagged,
repeated or above a line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from approvals.decisions import deciding
from approvals.decisions.reauthentication import ABSENT, Proof
from approvals.errors import DecisionError, Forbidden, Invalid, no_request
from approvals.models import Request, Staff
from approvals.requests import assignment
from approvals.requests.risk import suitable

MOST = 20
MOST_OTHERWISE = 50
Chosen = Sequence[tuple[str, str]]
"""References, each with the digest that was shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What became of one of them: the request, or why not."""

    reference: str
    request: Request | None = None
    error: DecisionError | None = None


def approve_all(*, chosen: Chosen, staff: Staff, by_token: bool = False) -> list[Done]:
    """Approve each of at most 20 of one rule by reference and digest, each for itself: one that fails leaves the
    others."""
    _require_some(chosen, MOST)
    _require_one_rule([reference for reference, _digest in chosen])
    return [_try(reference, partial(_approve, reference, digest, staff, by_token)) for reference, digest in chosen]


def _require_one_rule(references: list[str]) -> None:
    """Of those that may be approved together at all: the others are refused one by one."""
    rows = [_row(request) for request in Request.objects.filter(pk__in=references)]
    together = suitable(rows)
    if len({row["rule"] for row in rows if row["reference"] in together}) > 1:
        raise Invalid({"items": [_("Choose requests that ask for one and the same reason.")]})


def deny_all(
    *, chosen: Chosen, staff: Staff, reason_code: str, customer_message: str = "", proof: Proof = ABSENT
) -> list[Done]:
    """Deny each of at most 50 for one reason, each for itself."""
    _require_some(chosen, MOST_OTHERWISE)

    def deny(reference: str, digest: str) -> Request:
        shown = {"bulk": True, "digest": digest, "preview": _find(reference).preview}
        return deciding.decide(
            reference=reference, staff=staff, verdict="deny", digest=digest, shown=shown, reason_code=reason_code,
            customer_message=customer_message, proof=proof,
        )  # fmt: skip

    return [_try(reference, partial(deny, reference, digest)) for reference, digest in chosen]


def give_all(*, chosen: Chosen, to: Staff, by: Staff) -> list[Done]:
    """Have a colleague take each of at most 50."""
    _require_some(chosen, MOST_OTHERWISE)
    return [
        _try(reference, partial(assignment.give, reference=reference, to=to, by=by)) for reference, _digest in chosen
    ]


def _require_some(chosen: Chosen, most: int) -> None:
    if not 1 <= len(chosen) <= most or len({reference for reference, _digest in chosen}) != len(chosen):
        raise Invalid({"items": [_("Choose from 1 to %(most)s different requests.") % {"most": most}]})


def _try(reference: str, deed: Callable[[], Request]) -> Done:
    try:
        return Done(reference=reference, request=deed())
    except DecisionError as error:
        return Done(reference=reference, error=error)


def _find(reference: str) -> Request:
    if (request := Request.objects.filter(pk=reference).first()) is None:
        raise no_request(reference)
    return request


def _approve(reference: str, digest: str, staff: Staff, by_token: bool) -> Request:
    request = Request.objects.filter(pk=reference, is_decoy=False).first()
    if request is None:
        raise no_request(reference)
    if request.state == Request.State.PENDING and not suitable([_row(request)]):
        raise Forbidden(
            "one_by_one", _("%(reference)s has to be read and decided by itself.") % {"reference": reference}
        )
    shown = {"bulk": True, "digest": digest, "preview": request.preview, "rule": request.rule}
    return deciding.decide(
        reference=reference, staff=staff, verdict="approve", digest=digest, shown=shown, by_token=by_token
    )


def _row(request: Request) -> dict[str, Any]:
    names = ("reference", "rule", "approvals_needed", "customer_id")
    return {name: getattr(request, name) for name in names} | {"repeats": request.facts.get("repeats")}
