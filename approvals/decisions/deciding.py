"""A second person decides: who may, on what exactly, and what follows.

Checked in this order: who decides, what they sent, whether it is still open, whether it is what they saw.
"""

import datetime as dt
from typing import Any, Literal

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from approvals.decisions.decoys import end_decoy
from approvals.decisions.eligibility import assign, refusal_for, require_assigned, require_lead
from approvals.decisions.evidence import Reading, is_too_fast, reading_of
from approvals.decisions.lowering import complaint_about, lower
from approvals.decisions.reauthentication import ABSENT, Proof, require_proof, signature_of
from approvals.decisions.tally import approvals_given, taken_back
from approvals.errors import DigestDiffers, Invalid, grouped
from approvals.models import Decision, Request, Signature, Staff
from approvals.news import request_changed
from approvals.policy.versions import policy_at
from approvals.requests.lifecycle import event_of, locked, move, require_decidable, void_holds
from audit.record import Actor, hash_of, record
from base import sql
from base.failpoints import reach_on_commit

Verdict = Literal["approve", "deny"]
MOST_TEXT = 2_000


def decide(
    *, reference: str, staff: Staff, verdict: Verdict, digest: str, shown: Any, reason_code: str = "",
    note: str = "", customer_message: str = "", amount_minor: int | None = None, by_token: bool = False,
    proof: Proof = ABSENT,
) -> Request:  # fmt: skip
    """Record one person's decision. The first of two approvals leaves the request pending; `amount_minor` with an
    approval lowers a refund, which makes a revision. `proof` matters above the higher line.

    Two people who click at once meet at the request's row lock; the second is told who was first.
    """
    with transaction.atomic():
        request = locked(reference)
        if refusal := refusal_for(request, staff, by_token=by_token):
            raise refusal
        if not by_token:  # which decides above the line only where tests allow it
            require_proof(request, staff, proof, verdict)
        _validate(request, verdict, reason_code, note, customer_message, amount_minor)
        require_decidable(request)
        if digest != request.digest:
            raise DigestDiffers(_("The request is not what you saw; read it again as it now stands."))
        signature = signature_of(request, staff, proof, verdict=verdict, amount_minor=amount_minor)
        reading = reading_of(request, staff)
        too_fast = is_too_fast(reading, shown)
        if amount_minor is not None and not request.is_decoy:
            lower(request, amount_minor)
            shown = {"before": shown, "lowered": request.preview}
            request_changed.send(Request, request=request, customer_message="", what="lowered")
        require_lead(request, staff, verdict)
        if verdict == "approve" and not by_token:  # a token decides alone only where tests allow it
            require_assigned(request, staff)
        texts = {"reason_code": reason_code, "note": note.strip(), "customer_message": customer_message.strip()}
        decision = _keep(request, staff, verdict, shown, reading, too_fast=too_fast, signature=signature, **texts)
        if request.is_decoy:
            end_decoy(request, decision)
            return request
        _follow(request, staff, verdict, customer_message.strip())
        _record(request, decision, signed=signature is not None)
        if request.state == Request.State.APPROVED:
            reach_on_commit("approval_committed", request.conversation_id)
    return request


def _keep(
    request: Request, staff: Staff, verdict: Verdict, shown: Any, reading: Reading, *, too_fast: bool,
    signature: Signature | None, **texts: str,
) -> Decision:  # fmt: skip
    """The decision's row, with what the person was shown, for how long they looked at it, and what they signed."""
    decision = Decision(
        request=request,
        revision=request.revision,
        round=taken_back(request).count((staff.pk, request.revision)),
        verdict=verdict,
        staff=staff,
        customer_id=request.customer_id,
        staff_customer_id=staff.customer_id,
        digest=request.digest,
        shown=shown,
        shown_hash=hash_of(shown),
        seconds=reading.seconds,
        cards=reading.cards,
        too_fast=too_fast,
        **texts,
    )
    sql.insert(decision)
    if signature is not None:
        signature.decision = decision
        signature.save(force_insert=True)
    return decision


def _record(request: Request, decision: Decision, *, signed: bool) -> None:
    record(
        Actor(kind="staff", id=decision.staff.username),
        event_of(request, kind="decision", decision="approved" if decision.verdict == "approve" else "denied"),
        reason=decision.reason_code,
        note=decision.note,
        digest=request.digest,
        seconds=decision.seconds,
        too_fast=decision.too_fast,
        lowered_from=request.lowered_from_minor,
        signed=signed or None,
        approvals_given=approvals_given(request),
    )


def _follow(request: Request, staff: Staff, verdict: Verdict, customer_message: str) -> None:
    now = timezone.now()
    ended = {"decided_by": staff.username, "decided_at": now, "assigned_to": None, "assigned_until": None}
    if verdict == "deny":
        move(request, to=Request.State.DENIED, expected=("pending",), ended_reason="denied", **ended)
        void_holds(request)
    elif approvals_given(request) < request.approvals_needed:
        Request.objects.filter(pk=request.pk).update(assigned_to=None, assigned_until=None)
        assign(request)
        return
    else:
        move(
            request,
            to=Request.State.APPROVED,
            expected=("pending",),
            execute_after=now + dt.timedelta(seconds=settings.PLACET.undo_seconds),
            execute_before=now + dt.timedelta(hours=policy_at(request.policy_version).execute_hours),
            **ended,
        )
    request_changed.send(Request, request=request, customer_message=customer_message)


def _validate(
    request: Request, verdict: str, reason_code: str, note: str, customer_message: str, amount_minor: int | None
) -> None:
    fields: dict[str, list[str]] = {}
    if amount_minor is not None and (complaint := complaint_about(request, verdict, amount_minor)):
        fields["amount_minor"] = [complaint]
    if verdict not in Decision.Verdict.values:
        fields["verdict"] = [_("Send approve or deny.")]
    if verdict == "deny" and not reason_code:
        fields["reason_code"] = [_("A denial needs a reason: choose one.")]
    elif reason_code and reason_code not in Decision.Reason.values:
        fields["reason_code"] = [_("Choose one of: %(codes)s.") % {"codes": ", ".join(Decision.Reason.values)}]
    for name, text in (("note", note), ("customer_message", customer_message)):
        if len(text) > MOST_TEXT:
            fields[name] = [_("At most %(most)s characters.") % {"most": grouped(MOST_TEXT)}]
    if fields:
        raise Invalid(fields)
