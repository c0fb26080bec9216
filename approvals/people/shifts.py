"""The beginning and end of somebody's work: snoozing, being away, handing over."""

import datetime as dt

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from approvals.decisions.eligibility import assign
from approvals.errors import Conflict, Invalid, no_request
from approvals.models import Absence, Request, Snooze, Staff
from approvals.requests.assignment import away, release_all, require_decider, require_there
from approvals.requests.lifecycle import locked
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base.access import DECIDES

SNOOZES = {"1h": dt.timedelta(hours=1), "4h": dt.timedelta(hours=4), "24h": dt.timedelta(hours=24)}
LEAST_LEFT = dt.timedelta(hours=1)
"""A snoozed request comes back so long before it expires."""


def snooze(*, reference: str, staff: Staff, how_long: str) -> dt.datetime:
    """Leave a request out of one's own queue for a while, never to within an hour of its end. Gives until when."""
    require_decider(staff)
    if how_long not in SNOOZES:
        raise Invalid({"how_long": [_("Choose for how long.")]})
    request = Request.objects.filter(pk=reference).first()
    if request is None:
        raise no_request(reference)
    until = min(timezone.now() + SNOOZES[how_long], request.expires_at - LEAST_LEFT)
    if request.state != Request.State.PENDING or until <= timezone.now():
        raise Conflict(request.state, request.decided_by, request.decided_at)
    Snooze.objects.update_or_create(request=request, staff=staff, defaults={"until": until})
    return until


def wake(*, reference: str, staff: Staff) -> None:
    """Have it in one's queue again."""
    Snooze.objects.filter(request_id=reference, staff=staff, until__gt=Now()).update(until=Now())


def is_away(staff: Staff) -> bool:
    """Whether this person has said that they are away."""
    return Absence.objects.filter(staff=staff, ended_at=None).exists()


def leave(staff: Staff) -> list[str]:
    """Be away: what one has returns, one's second approvals go to others, and one gets no new ones. Gives the
    references that moved. A second request made at once finds the absence and changes nothing more."""
    require_decider(staff)
    with transaction.atomic():
        _absence, made = Absence.objects.get_or_create(staff=staff, ended_at=None)
        if made:
            _record(staff, "left")
        moved = release_all(staff)
    return [*moved, *_pass_on(staff)]


def come_back(staff: Staff) -> None:
    """Be there again."""
    with transaction.atomic():
        if Absence.objects.filter(staff=staff, ended_at=None).update(ended_at=Now()):
            _record(staff, "returned")


def hand_over(staff: Staff, *, to: Staff | None) -> list[str]:
    """Give away all that one has: requests to a colleague or back to the queue, second approvals to whoever is next,
    because nobody chooses who agrees with a first one. Gives the references that moved."""
    require_decider(staff)
    if to is not None:
        require_there(to)
    with transaction.atomic():
        moved = release_all(staff, to=to)
    return [*moved, *_pass_on(staff)]


def _pass_on(staff: Staff) -> list[str]:
    """Have every second approval of this person assigned again, each under its request's lock."""
    waiting = Request.objects.filter(second_approver=staff, state="pending").values_list("reference", flat=True)
    return [reference for reference in waiting if _assign_again(reference, staff)]


def _assign_again(reference: str, staff: Staff) -> bool:
    with transaction.atomic():
        request = locked(reference)
        if request.state != Request.State.PENDING or request.second_approver_id != staff.pk:
            return False
        assign(request, without=staff, by=Actor(kind="staff", id=staff.username))
    return True


def colleagues(staff: Staff) -> QuerySet[Staff]:
    """Who could take requests now, oneself left out."""
    there = Staff.objects.filter(role__in=DECIDES, is_active=True).exclude(pk__in=away()).exclude(pk=staff.pk)
    return there.order_by("username")


def colleague(name: str) -> Staff:
    """The active member of staff of this name who decides requests. Raises Invalid."""
    found = Staff.objects.filter(username=name, role__in=DECIDES, is_active=True).first()
    if found is None:
        raise Invalid({"to": [_("Choose a colleague who decides requests.")]})
    return found


def _record(staff: Staff, decision: str) -> None:
    record(Actor(kind="staff", id=staff.username), NewEvent(kind=Kind.ROLE, decision=decision))
