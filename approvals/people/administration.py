"""What an administrator does to colleagues' accounts. Nobody does it to themself, and the database refuses to lose the
last active administrator."""

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from approvals.models import Staff
from approvals.people.accounts import AccountError, check_password
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base.access import ADMIN, ROLES


def change_role(*, staff: Staff, role: str, by: Staff) -> None:
    """Give somebody another role; what they had open ends. Raises AccountError."""
    if role not in ROLES:
        raise AccountError(
            _("There is no role %(role)s: give one of %(roles)s.") % {"role": repr(role), "roles": ", ".join(ROLES)}
        )
    if role == staff.role:
        raise AccountError(_("%(name)s has that role already.") % {"name": staff.username})
    _change(staff, by, "changed", {"role": role}, role=role, before=staff.role)


def deactivate(*, staff: Staff, by: Staff) -> None:
    """Close an account at once, with all that it has open. Raises AccountError."""
    _change(staff, by, "deactivated", {"is_active": False})


def reactivate(*, staff: Staff, by: Staff) -> None:
    """Open a closed account again. Raises AccountError."""
    _change(staff, by, "reactivated", {"is_active": True})


def end_access(*, staff: Staff, by: Staff) -> None:
    """End all sessions of somebody and void their API tokens; they may sign in again. One may do it to oneself."""
    with transaction.atomic():
        Staff.objects.filter(pk=staff.pk).update(tokens_valid_from=Now())
        _record(staff, by, "ended_access")


def set_password(*, staff: Staff, password: str, by: Staff) -> None:
    """Give somebody another password, for who has lost theirs; what they had open ends. Raises AccountError."""
    check_password(staff, password)
    staff.set_password(password)
    _change(staff, by, "password_set", {"password": staff.password})


def _change(staff: Staff, by: Staff, what: str, values: dict[str, object], **detail: str) -> None:
    """One conditional UPDATE: of two administrators at once the second finds another row, and two who would remove
    each other meet in the trigger `last_admin`, which looks under a lock."""
    if by.pk == staff.pk:
        raise AccountError(_("Nobody changes their own account here; ask another administrator."))
    as_seen = Staff.objects.filter(pk=staff.pk, role=staff.role, is_active=staff.is_active)
    try:
        with transaction.atomic():
            if not Staff.objects.filter(pk=by.pk, role=ADMIN, is_active=True).select_for_update().exists():
                raise AccountError(_("Only an active administrator changes accounts."))
            if not as_seen.update(**values, tokens_valid_from=Now()):
                raise AccountError(_("%(name)s was changed meanwhile; look again.") % {"name": staff.username})
            _record(staff, by, what, **detail)
    except IntegrityError as error:
        raise AccountError(
            _("%(name)s is the last active administrator; make another one first.") % {"name": staff.username}
        ) from error
    staff.refresh_from_db()


def _record(staff: Staff, by: Staff, what: str, **detail: str) -> None:
    record(Actor(kind="staff", id=by.username), NewEvent(kind=Kind.ROLE, decision=what), staff=staff.username, **detail)
