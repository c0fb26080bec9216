"""Letting a customer ask again for what a person denied."""

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from approvals.decisions.eligibility import refusal_for
from approvals.errors import Conflict, Forbidden, Invalid, grouped
from approvals.models import Request, Staff
from approvals.news import request_changed
from approvals.requests.lifecycle import event_of, locked
from audit.record import Actor, record
from base.access import LEAD

MOST_TEXT = 1_000


def can_be_reopened(request: Request) -> bool:
    """Whether it stands in the way of asking again: denied, or lowered and carried out, and not reopened yet."""
    denied = request.state == Request.State.DENIED
    lowered = request.state == Request.State.EXECUTED and request.lowered_from_minor is not None
    return (denied or lowered) and request.reopened_at is None and not request.is_decoy


def reopen(*, reference: str, staff: Staff, reason: str) -> Request:
    """What was denied may be asked for again, as a new request that people decide afresh. A lead's deed, and nobody's
    about themself. Two who click at once meet at the request's lock."""
    reason = reason.strip()
    if not reason or len(reason) > MOST_TEXT:
        raise Invalid({"reason": [_("Say why, in at most %(most)s characters.") % {"most": grouped(MOST_TEXT)}]})
    with transaction.atomic():
        request = locked(reference)
        if staff.role != LEAD or not staff.is_active:
            raise Forbidden("role", _("Only a lead lets something be asked for again."))
        if refusal := refusal_for(request, staff):
            raise refusal
        if not can_be_reopened(request):
            raise Conflict(request.state, request.decided_by, request.decided_at)
        Request.objects.filter(pk=request.pk).update(reopened_at=Now(), reopened_by=staff)
        event = event_of(request, kind="decision", decision="reopened")
        record(Actor(kind="staff", id=staff.username), event, note=reason)
        request_changed.send(Request, request=request, customer_message="", what="reopened")
    return request
