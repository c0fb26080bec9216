"""Who may decide a request, whose approvals count, and which colleague gives the second one.

The second approver is assigned, not chosen: nobody picks the colleague who will agree with them.
"""

from collections.abc import Iterator

from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Q
from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from approvals.casefile.conflicts import shared_with
from approvals.decisions.participants import takes_part
from approvals.decisions.tally import approvers_of
from approvals.errors import Conflict, Forbidden, not_deciding
from approvals.models import Request, Staff
from approvals.news import desk_changed
from approvals.policy.versions import refusal_of
from approvals.requests.assignment import away
from approvals.requests.lifecycle import event_of, locked
from audit.record import SYSTEM, Actor, record
from base.access import DECIDES, LEAD


def refusal_for(request: Request, staff: Staff, *, by_token: bool = False) -> Forbidden | None:
    """Why this person may not decide this request, so that a page can say so before they type."""
    if staff.role not in DECIDES or not staff.is_active:
        return not_deciding(staff.role)
    if staff.customer_id and staff.customer_id == request.customer_id:
        return Forbidden("self", _("This request is about your own customer account, so a colleague has to decide."))
    if shared := shared_with(staff, request.customer_id):
        return Forbidden(
            "self",
            _("You share %(what)s with this customer, so a colleague has to decide, or a lead clears you.")
            % {"what": get_text_list(shared, _("and"))},
        )
    if takes_part(conversation_id=request.conversation_id, staff=staff):
        return Forbidden("self", _("You took part in this conversation, so a colleague has to decide."))
    if staff.pk in [approver.staff_id for approver in approvers_of(request)]:
        return Forbidden("same_person", _("You have approved this already; the second approval is somebody else's."))
    if by_token and request.approvals_needed > 1 and settings.PLACET.token_approvals != "all":
        return Forbidden(
            "fresh_authentication_required", _("This needs two people, so decide it in the console, signed in.")
        )
    return refusal_of(request, staff)


def require_lead(request: Request, staff: Staff, verdict: str) -> None:
    """The last approval of a request that needs a lead is a lead's, unless one has approved. Raises Forbidden."""
    if verdict == "deny" or not request.lead_needed or staff.role == LEAD:
        return
    roles = [approver.role for approver in approvers_of(request)]
    if len(roles) + 1 >= request.approvals_needed and LEAD not in roles:
        raise Forbidden("role", _("One of the two approvals has to be a lead's; ask a lead to take this one."))


def require_assigned(request: Request, staff: Staff) -> None:
    """The second approval is the assigned colleague's. Raises Forbidden."""
    if approvers_of(request):
        assigned = request.second_approver or assign(request)
        if assigned is None or assigned != staff:
            raise Forbidden("assigned", _not_yours(assigned))


def _not_yours(assigned: Staff | None) -> str:
    if assigned is None:
        return _("Nobody who may approve it is there; a lead can have it assigned again.")
    return _("It is assigned to %(name)s; a lead can have it assigned again.") % {"name": assigned.username}


def assign(request: Request, *, without: Staff | None = None, by: Actor = SYSTEM) -> Staff | None:
    """Give the next approval to the eligible colleague with the fewest; of equals, who signed in last. Under the
    request's lock; None when there is nobody."""
    chosen = next((staff for staff in _eligible(request) if staff != without), None)
    Request.objects.filter(pk=request.pk).update(second_approver=chosen)
    request.second_approver = chosen
    event = event_of(request, kind="request", decision="assigned")
    record(by, event, staff=chosen.username if chosen else "nobody")
    desk_changed.send(Request, reference=request.pk)
    return chosen


def _eligible(request: Request) -> Iterator[Staff]:
    lead_given = not request.lead_needed or LEAD in [approver.role for approver in approvers_of(request)]
    waiting = Count("second_approvals", filter=Q(second_approvals__state="pending"))
    people = Staff.objects.filter(role__in=DECIDES if lead_given else [LEAD], is_active=True).exclude(pk__in=away())
    for staff in people.annotate(load=waiting).order_by("load", F("last_login").desc(nulls_last=True), "-pk"):
        if refusal_for(request, staff) is None:
            yield staff


def reassign(*, reference: str, by: Staff) -> Request:
    """A lead has the next approval assigned again, to whoever is next; not even a lead chooses whom."""
    if by.role != LEAD or not by.is_active:
        raise Forbidden("role", _("Only a lead has a request assigned again."))
    with transaction.atomic():
        request = locked(reference)
        if request.state != Request.State.PENDING or request.second_approver is None:
            raise Conflict(request.state, request.decided_by, request.decided_at)
        if assign(request, without=request.second_approver, by=Actor(kind="staff", id=by.username)) is None:
            raise Forbidden("assigned", _("Nobody else may approve it, so it stays with whom it was assigned to."))
    return request
