"""Where somebody is signed in: listed, and ended one by one or all at once."""

from allauth.usersessions.models import UserSession
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest

from approvals.models import Staff
from approvals.people.administration import end_access
from audit.models import Kind
from audit.record import Actor, NewEvent, record


def sessions_of(staff: Staff) -> list[UserSession]:
    """The sessions that still hold, newest first."""
    return sorted(UserSession.objects.purge_and_list(staff), key=lambda session: session.created_at, reverse=True)


def end_one(*, staff: Staff, session: UserSession, by: Staff) -> None:
    """End one session."""
    session.end()
    event = NewEvent(kind=Kind.SIGN_IN, decision="session_ended")
    record(Actor(kind="staff", id=by.username), event, staff=staff.username, address=session.ip)


def end_others(request: HttpRequest, staff: Staff) -> None:
    """End every session but this one, and void the API tokens."""
    end_access(staff=staff, by=staff)
    keep_this_one(request, staff)


def keep_this_one(request: HttpRequest, staff: Staff) -> None:
    """What ends all sessions shall not end the one in which it was asked for."""
    before = request.session.session_key
    staff.refresh_from_db()
    update_session_auth_hash(request, staff)
    UserSession.objects.filter(session_key=before).update(session_key=request.session.session_key)
