"""Above the higher line, whoever decides must have shown only just now that it is them.

Where they have a passkey, an approval is signed with it, which shows it too.
"""

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from approvals.decisions.signatures import Signed, has_passkey, verify
from approvals.errors import DecisionError, Forbidden
from approvals.models import Decision, Request, Signature, Staff

SESSION_KEY = "authenticated_at"
"""In a session, the moment of its last authentication: seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """How somebody showed that it is them: when last in this session, and perhaps with a passkey's signature."""

    authenticated_at: dt.datetime | None = None
    signed: Signed | None = None


ABSENT = Proof()
CODE = "fresh_authentication_required"


def presence_of(request: HttpRequest, typed: Mapping[str, Any]) -> Proof:
    """What a request of a browser shows; `typed` may hold `nonce` and `assertion`, as they were sent."""
    at = request.session.get(SESSION_KEY)
    moment = dt.datetime.fromtimestamp(at, dt.UTC) if isinstance(at, int | float) else None
    return Proof(authenticated_at=moment, signed=_signed(request, typed))


def _signed(request: HttpRequest, typed: Mapping[str, Any]) -> Signed | None:
    try:
        assertion = json.loads(typed.get("assertion") or "null")
    except ValueError:
        return None
    if not isinstance(assertion, dict):
        return None
    return Signed(nonce=str(typed.get("nonce", ""))[:200], assertion=assertion, rp_id=rp_id_of(request))


def rp_id_of(request: HttpRequest) -> str:
    """The host that passkeys are bound to."""
    return request.get_host().partition(":")[0]


def is_above_the_line(request: Request) -> bool:
    """Whether a decision of it needs a fresh authentication."""
    return request.approvals_needed > 1 or request.lead_needed


def is_fresh(proof: Proof) -> bool:
    """Whether the last authentication is recent enough; one from the future is none."""
    at = proof.authenticated_at
    least = timezone.now() - dt.timedelta(minutes=settings.PLACET.staff.fresh_minutes)
    return at is not None and least <= at <= timezone.now() + dt.timedelta(seconds=30)


def needs_signature(request: Request, staff: Staff) -> bool:
    """Whether this person has to sign an approval of it."""
    return is_above_the_line(request) and has_passkey(staff)


def stale(request: Request, proof: Proof) -> Forbidden | None:
    """Why somebody who has signed nothing has to show again who they are."""
    if not is_above_the_line(request) or proof.signed is not None or is_fresh(proof):
        return None
    minutes = settings.PLACET.staff.fresh_minutes
    return Forbidden(
        CODE,
        _("This is above the higher line, and you signed in more than %(minutes)s minutes ago: confirm that it is you.")
        % {"minutes": minutes},
    )


def require_proof(request: Request, staff: Staff, proof: Proof, verdict: str) -> None:
    """A signature, or a fresh authentication of whoever denies or has no passkey. Raises Forbidden."""
    if refusal := stale(request, proof):
        raise refusal
    if verdict == Decision.Verdict.APPROVE and proof.signed is None and needs_signature(request, staff):
        raise Forbidden(
            CODE,
            _("This is above the higher line, and you have a passkey: approve it in the console and sign it there."),
        )


def signature_of(
    request: Request, staff: Staff, proof: Proof, *, verdict: str, amount_minor: int | None
) -> Signature | None:
    """The signature to keep beside the decision, checked; None where nothing has to be signed. Raises Forbidden."""
    if proof.signed is None or not is_above_the_line(request):
        return None
    return verify(request, staff, verdict=verdict, amount_minor=amount_minor, signed=proof.signed)


def confirmation_for(
    found: Request, staff: Staff, request: HttpRequest, error: DecisionError | None = None
) -> dict[str, bool]:
    """What a request's page has to offer before its form is sent: `signs` with a passkey, or `again`, showing again
    that it is them."""
    signs = needs_signature(found, staff)
    refused = isinstance(error, Forbidden) and error.code == CODE
    again = stale(found, presence_of(request, {})) is not None or refused
    return {"signs": signs, "again": again and not signs}
