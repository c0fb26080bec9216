"""Who has a request: a claim tells colleagues that somebody reads it, and returns by itself."""

import datetime as dt

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from approvals.decisions.eligibility import away
from approvals.errors import Conflict, Invalid, no_request, not_deciding
from approvals.models import Request, Staff
from approvals.news import desk_changed
from approvals.requests.lifecycle import desk_event
from audit.record import Actor, record
from base.access import DECIDES, LEAD

CLAIM = dt.timedelta(minutes=5)
GIVEN = dt.timedelta(minutes=30)
"""A claim that a colleague made for one lasts longer: one may not be looking."""
MOST_HELD = 200
FREE = Q(claimed_by=None) | Q(claimed_until__lte=Now())


def claim(*, reference: str, staff: Staff) -> Request:
    """Tell others that one is reading this request; the claim returns by itself after five minutes, and claiming
    again extends it. Two who claim at once meet at the row: the second is told who has it."""
    until = timezone.now() + CLAIM
    waiting = Request.objects.filter(reference=reference, state="pending")
    with transaction.atomic():
        if waiting.filter(claimed_by=staff, claimed_until__gt=Now()).update(claimed_until=until):
            return _after_claim(reference, 1)
        taken = waiting.filter(FREE).update(claimed_by=staff, claimed_until=until)
        return _told(_after_claim(reference, taken), staff, "claimed")


def release(*, reference: str, staff: Staff) -> Request:
    """Give an own claim back."""
    with transaction.atomic():
        own = Request.objects.filter(reference=reference, claimed_by=staff)
        released = own.update(claimed_by=None, claimed_until=None)
        return _told(_after_claim(reference, released), staff, "released")


def give(*, reference: str, to: Staff, by: Staff) -> Request:
    """Have a colleague take a request that is free or one's own; a lead also takes it from others. Races with other
    claims at the row."""
    require_there(to)
    mine = Q() if by.role == LEAD else FREE | Q(claimed_by=by)
    with transaction.atomic():
        waiting = Request.objects.filter(mine, reference=reference, state="pending")
        given = waiting.update(claimed_by=to, claimed_until=timezone.now() + GIVEN)
        return _told(_after_claim(reference, given), by, "given", to=to.username)


def require_there(staff: Staff) -> None:
    """Raises Invalid unless this person decides requests and is not away."""
    if staff.role not in DECIDES or not staff.is_active or staff.pk in set(away()):
        raise Invalid(
            {"to": [_("%(name)s cannot take requests now; choose somebody else.") % {"name": staff.username}]}
        )


def release_all(staff: Staff, *, to: Staff | None = None) -> list[str]:
    """Give every claim of this person back, or to a colleague; within a transaction. Gives the references."""
    held = Request.objects.filter(claimed_by=staff, state="pending", claimed_until__gt=Now())
    references = list(held.select_for_update().order_by("reference").values_list("reference", flat=True))
    mine = Request.objects.filter(pk__in=references)
    mine.update(claimed_by=to, claimed_until=timezone.now() + GIVEN if to else None)
    for request in mine.select_related("claimed_by"):
        _told(request, staff, "given" if to else "released", to=to.username if to else "")
    return references


def held_by(staff: Staff) -> list[Request]:
    """What waits and this person has: claimed now, or the second approval is theirs."""
    mine = Q(claimed_by=staff, claimed_until__gt=Now()) | Q(assigned_to=staff)
    return list(Request.objects.filter(mine, state="pending").order_by("expires_at")[:MOST_HELD])


def _told(request: Request, by: Staff, what: str, *, to: str = "") -> Request:
    record(Actor(kind="staff", id=by.username), desk_event(request, what), to=to)
    desk_changed.send(Request, reference=request.pk)
    return request


def _after_claim(reference: str, changed: int) -> Request:
    request = Request.objects.select_related("claimed_by").filter(reference=reference).first()
    if request is None:
        raise no_request(reference)
    if not changed:
        holder = request.claimed_by.username if request.claimed_by else request.decided_by
        state = "claimed" if request.state == "pending" and request.claimed_by else request.state
        raise Conflict(state, holder, request.decided_at)
    return request


def require_decider(staff: Staff) -> None:
    """Raises Forbidden for whoever decides no requests."""
    if staff.role not in DECIDES or not staff.is_active:
        raise not_deciding(staff.role)
