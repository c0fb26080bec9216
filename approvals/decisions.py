"""A second person decides: who may, on what exactly, and what follows.

Checked in this order: who decides, what they sent, whether it is still open, whether it is what they saw.
"""

import datetime as dt
from typing import Any, Literal

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from approvals.digest import hash_of
from approvals.errors import DigestDiffers, Forbidden, Invalid
from approvals.models import Decision, Participant, Request, Staff
from approvals.news import request_changed
from approvals.policy import DEFAULT
from approvals.requests import event_of, locked, move, require_decidable, void_holds
from audit.access import DECIDES
from audit.failpoints import reach_on_commit
from audit.record import Actor, record

Verdict = Literal["approve", "deny"]
MOST_TEXT = 2_000


def refusal_for(request: Request, staff: Staff, *, by_token: bool = False) -> Forbidden | None:
    """Why this person may not decide this request, so that a page can say so before they type."""
    if staff.role not in DECIDES or not staff.is_active:
        return Forbidden("role", f"The role {staff.role} does not decide requests; agents and leads do.")
    if staff.customer_id and staff.customer_id == request.customer_id:
        return Forbidden("self", "This request is about your own customer account, so a colleague has to decide.")
    if Participant.objects.filter(conversation_id=request.conversation_id, staff=staff).exists():
        return Forbidden("self", "You wrote in this conversation, so a colleague has to decide.")
    if _approvals(request).filter(staff=staff).exists():
        return Forbidden("same_person", "You have approved this already; the second approval is somebody else's.")
    if by_token and request.approvals_needed > 1 and settings.PLACET.token_approvals != "all":
        return Forbidden(
            "fresh_authentication_required", "This needs two people, so decide it in the console, signed in."
        )
    return None


def decide(
    *, reference: str, staff: Staff, verdict: Verdict, digest: str, shown: Any, reason_code: str = "",
    note: str = "", customer_message: str = "", by_token: bool = False,
) -> Request:  # fmt: skip
    """Record one person's decision. The first of two approvals leaves the request pending.

    Two people who click at once meet at the request's row lock; the second is told who was first.
    """
    with transaction.atomic():
        request = locked(reference)
        if refusal := refusal_for(request, staff, by_token=by_token):
            raise refusal
        _validate(verdict, reason_code, note, customer_message)
        require_decidable(request)
        if digest != request.digest:
            raise DigestDiffers("The request is not what you saw; read it again as it now stands.")
        _require_lead(request, staff, verdict)
        Decision.objects.create(
            request=request,
            revision=request.revision,
            verdict=verdict,
            staff=staff,
            customer_id=request.customer_id,
            staff_customer_id=staff.customer_id,
            digest=digest,
            shown=shown,
            shown_hash=hash_of(shown),
            reason_code=reason_code,
            note=note.strip(),
            customer_message=customer_message.strip(),
        )
        _follow(request, staff, verdict, customer_message.strip())
        record(
            Actor(kind="staff", id=staff.username),
            event_of(request, kind="decision", decision="approved" if verdict == "approve" else "denied"),
            reason=reason_code,
            note=note.strip(),
            digest=digest,
            approvals_given=_approvals(request).count(),
        )
        if request.state == Request.State.APPROVED:
            reach_on_commit("approval_committed", request.conversation_id)
    return request


def _follow(request: Request, staff: Staff, verdict: Verdict, customer_message: str) -> None:
    now = timezone.now()
    ended = {"decided_by": staff.username, "decided_at": now, "claimed_by": None, "claimed_until": None}
    if verdict == "deny":
        move(request, to=Request.State.DENIED, expected=("pending",), ended_reason="denied", **ended)
        void_holds(request)
    elif _approvals(request).count() < request.approvals_needed:
        Request.objects.filter(pk=request.pk).update(claimed_by=None, claimed_until=None)
        return
    else:
        move(
            request,
            to=Request.State.APPROVED,
            expected=("pending",),
            execute_after=now + dt.timedelta(seconds=settings.PLACET.undo_seconds),
            execute_before=now + dt.timedelta(hours=DEFAULT.execute_hours),
            **ended,
        )
    request_changed.send(Request, request=request, customer_message=customer_message)


def _approvals(request: Request) -> Any:
    return request.decisions.filter(revision=request.revision, verdict="approve")


def approvals_given(request: Request) -> int:
    """How many people have approved the revision that stands."""
    return int(_approvals(request).count())


def _require_lead(request: Request, staff: Staff, verdict: Verdict) -> None:
    """The last approval of a request that needs a lead is a lead's, unless one has approved."""
    if verdict == "deny" or not request.lead_needed or staff.role == "lead":
        return
    given = _approvals(request)
    if given.count() + 1 >= request.approvals_needed and not given.filter(staff__role="lead").exists():
        raise Forbidden("role", "One of the two approvals has to be a lead's; ask a lead to take this one.")


def _validate(verdict: str, reason_code: str, note: str, customer_message: str) -> None:
    fields: dict[str, list[str]] = {}
    if verdict not in Decision.Verdict.values:
        fields["verdict"] = ["Send approve or deny."]
    if verdict == "deny" and not reason_code:
        fields["reason_code"] = ["A denial needs a reason: choose one."]
    elif reason_code and reason_code not in Decision.Reason.values:
        fields["reason_code"] = [f"Choose one of: {', '.join(Decision.Reason.values)}."]
    for name, text in (("note", note), ("customer_message", customer_message)):
        if len(text) > MOST_TEXT:
            fields[name] = [f"At most {MOST_TEXT:,} characters."]
        elif "\x00" in text:
            fields[name] = ["Contains a NUL character; remove it."]
    if fields:
        raise Invalid(fields)
