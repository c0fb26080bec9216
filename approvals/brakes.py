"""Pulling the brake, letting it go, and asking whether it is on.

Whoever writes takes the brake's lock shared and looks; whoever pulls takes it alone. So once a pull has
returned, nothing that it stops is under way any more.
"""

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from approvals.errors import Invalid, grouped
from approvals.models import Brake, Staff
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base import sql
from base.access import ADMIN, LEAD
from base.locks import lock_brake

BRAKES = (LEAD, ADMIN)
MOST_REASON = 1_000
_ON = "SELECT target, tool FROM approvals_brake WHERE released_at IS NULL"


class BrakeRefused(Exception):
    """Why the brake was not moved: `code` is role, same_person, already_on or not_on."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


@dataclass(frozen=True, slots=True)
class Stopped:
    """What is stopped at this moment. Who stops answering stops every write as well."""

    answers: bool
    writes: bool
    tools: tuple[str, ...]

    def stops(self, tool: str) -> bool:
        """Whether a write with this tool may not happen now."""
        return self.answers or self.writes or tool in self.tools


def stopped() -> Stopped:
    """What is on at this moment, without a lock: for what only looks."""
    return _stopped(sql.rows(_ON))


def keep_open() -> Stopped:
    """The same under the shared lock: nobody can pull the brake until this transaction ends."""
    return _stopped(sql.rows("SELECT target, tool FROM approvals_keep_brake_open()"))


def _stopped(rows: list[tuple[str, str]]) -> Stopped:
    targets = {target for target, _tool in rows}
    return Stopped("answers" in targets, "writes" in targets, tuple(tool for _target, tool in rows if tool))


def pull(*, staff: Staff, reason: str, tool: str = "", answers: bool = False) -> Brake:
    """Stop one tool, all writes or answering at all, as soon as what is under way has ended."""
    _check(staff, reason)
    target = Brake.Target.TOOL if tool else Brake.Target.ANSWERS if answers else Brake.Target.WRITES
    with transaction.atomic():
        lock_brake()
        if before := _on(target, tool):
            raise BrakeRefused(
                "already_on", _("Nothing was changed: %(name)s pulled it before.") % {"name": before.pulled_by.username}
            )
        brake = Brake.objects.create(target=target, tool=tool, pulled_by=staff, reason=reason.strip())
        _record(brake, staff, "pulled", reason)
    return brake


def release(*, staff: Staff, reason: str, tool: str = "", answers: bool = False) -> Brake:
    """Propose to let go, or agree with a colleague's proposal, which lets go."""
    _check(staff, reason)
    target = Brake.Target.TOOL if tool else Brake.Target.ANSWERS if answers else Brake.Target.WRITES
    with transaction.atomic():
        lock_brake()
        brake = _on(target, tool)
        if brake is None:
            raise BrakeRefused("not_on", _("Nothing was changed: that brake is not on."))
        if brake.proposed_by is None:
            brake.proposed_by, brake.proposed_at, brake.proposed_reason = staff, timezone.now(), reason.strip()
        elif brake.proposed_by == staff:
            raise BrakeRefused("same_person", _("You proposed to let go; another lead or administrator has to agree."))
        else:
            brake.released_by, brake.released_at = staff, timezone.now()
        brake.save(update_fields=_LETTING_GO)
        _record(brake, staff, "released" if brake.released_at else "release_proposed", reason)
    return brake


_LETTING_GO = ("proposed_by", "proposed_at", "proposed_reason", "released_by", "released_at")


def standing() -> list[Brake]:
    """The brakes that are on, latest first."""
    people = ("pulled_by", "proposed_by")
    return list(Brake.objects.filter(released_at=None).select_related(*people).order_by("-pulled_at"))


def _on(target: str, tool: str) -> Brake | None:
    return Brake.objects.filter(target=target, tool=tool, released_at=None).first()


def _check(staff: Staff, reason: str) -> None:
    if staff.role not in BRAKES or not staff.is_active:
        raise BrakeRefused("role", _("Only an active lead or administrator moves the brake."))
    if not reason.strip() or len(reason.strip()) > MOST_REASON:
        raise Invalid({"reason": [_("Give a reason of at most %(most)s characters.") % {"most": grouped(MOST_REASON)}]})


def _record(brake: Brake, staff: Staff, decision: str, reason: str) -> None:
    event = NewEvent(kind=Kind.BRAKE, decision=decision, tool=brake.tool, rule=brake.target)
    record(Actor(kind="staff", id=staff.username), event, reason=reason.strip())


def told(brake: Brake) -> str:
    """What a move of the brake has led to, in a sentence."""
    what = {"tool": brake.tool, "writes": _("every write"), "answers": _("answering and every write")}[brake.target]
    if brake.released_at:
        told = _("The brake on %(what)s is off.")
    elif brake.proposed_by:
        told = _("The brake on %(what)s stays on until another lead or administrator agrees to let go.")
    else:
        told = _("The brake is on: %(what)s is stopped.")
    return told % {"what": what}
