"""Who has a request: an assignment tells colleagues that somebody reads it, and ends by itself."""

import datetime as dt

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from approvals.errors import Conflict, Invalid, no_request, not_deciding
from approvals.models import Absence, Request, Staff
from approvals.news import desk_changed
from approvals.requests.lifecycle import desk_event
from audit.record import Actor, record
from base.access import DECIDES, LEAD

TAKEN = dt.timedelta(minutes=5)
GIVEN = dt.timedelta(minutes=30)
"""What a colleague gave one lasts longer: one may not be at the desk."""
MOST_OF_ONE = 200
FREE = Q(assigned_to=None) | Q(assigned_until__lte=Now())


def assign(*, reference: str, staff: Staff) -> Request:
    """Tell others that one is reading this request; it ends by itself after five minutes, and asking
    again extends it. Two who ask at once meet at the row: the second is told who has it."""
    until = timezone.now() + TAKEN
    waiting = Request.objects.filter(reference=reference, state="pending")
    with transaction.atomic():
        if waiting.filter(assigned_to=staff, assigned_until__gt=Now()).update(assigned_until=until):
            return _as_assigned(reference, 1)
        taken = waiting.filter(FREE).update(assigned_to=staff, assigned_until=until)
        return _told(_as_assigned(reference, taken), staff, "claimed")


def release(*, reference: str, staff: Staff) -> Request:
    """Give back what one has."""
    with transaction.atomic():
        own = Request.objects.filter(reference=reference, assigned_to=staff)
        released = own.update(assigned_to=None, assigned_until=None)
        return _told(_as_assigned(reference, released), staff, "released")


def give(*, reference: str, to: Staff, by: Staff) -> Request:
    """Have a colleague take a request that is free or one's own; a lead also takes it from others. Races with other
    takers at the row."""
    require_there(to)
    mine = Q() if by.role == LEAD else FREE | Q(assigned_to=by)
    with transaction.atomic():
        waiting = Request.objects.filter(mine, reference=reference, state="pending")
        given = waiting.update(assigned_to=to, assigned_until=timezone.now() + GIVEN)
        return _told(_as_assigned(reference, given), by, "given", to=to.username)


def away() -> QuerySet[Absence, int]:
    """The keys of those who are away now."""
    return Absence.objects.filter(ended_at=None).values_list("staff_id", flat=True)


def require_there(staff: Staff) -> None:
    """Raises Invalid unless this person decides requests and is not away."""
    if staff.role not in DECIDES or not staff.is_active or staff.pk in set(away()):
        raise Invalid(
            {"to": [_("%(name)s cannot take requests now; choose somebody else.") % {"name": staff.username}]}
        )


def release_all(staff: Staff, *, to: Staff | None = None) -> list[str]:
    """Give all that this person has back, or to a colleague; within a transaction. Gives the references."""
    theirs = Request.objects.filter(assigned_to=staff, state="pending", assigned_until__gt=Now())
    references = list(theirs.select_for_update().order_by("reference").values_list("reference", flat=True))
    mine = Request.objects.filter(pk__in=references)
    mine.update(assigned_to=to, assigned_until=timezone.now() + GIVEN if to else None)
    for request in mine.select_related("assigned_to"):
        _told(request, staff, "given" if to else "released", to=to.username if to else "")
    return references


def assignments_of(staff: Staff) -> list[Request]:
    """What waits and this person has: assigned now, or the second approval is theirs."""
    mine = Q(assigned_to=staff, assigned_until__gt=Now()) | Q(second_approver=staff)
    return list(Request.objects.filter(mine, state="pending").order_by("expires_at")[:MOST_OF_ONE])


def _told(request: Request, by: Staff, what: str, *, to: str = "") -> Request:
    record(Actor(kind="staff", id=by.username), desk_event(request, what), to=to)
    desk_changed.send(Request, reference=request.pk)
    return request


def _as_assigned(reference: str, changed: int) -> Request:
    request = Request.objects.select_related("assigned_to").filter(reference=reference).first()
    if request is None:
        raise no_request(reference)
    if not changed:
        assignee = request.assigned_to.username if request.assigned_to else request.decided_by
        state = "claimed" if request.state == "pending" and request.assigned_to else request.state
        raise Conflict(state, assignee, request.decided_at)
    return request


def require_decider(staff: Staff) -> None:
    """Raises Forbidden for whoever decides no requests."""
    if staff.role not in DECIDES or not staff.is_active:
        raise not_deciding(staff.role)
