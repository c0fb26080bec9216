"""Going back to an earlier definition, and forward again: for new conversations, in every process at once.

Conversations that have begun keep theirs. What binds is the newest choice, read when a conversation begins.
"""

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from agents.context.prompt import current_definition_id, missing_tools, release_definition_id
from agents.models import Definition, Pin
from approvals.models import Staff
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base.access import ADMIN, LEAD
from base.names import role_name

PINS = (LEAD, ADMIN)
MOST_ROWS = 50


class PinRefused(Exception):
    """Nothing was chosen; `code` is role, reason, unknown, tools, same or overtaken."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def newest() -> Pin | None:
    """The choice that holds; None where nobody ever chose."""
    return Pin.objects.select_related("staff", "definition").order_by("-number").first()


def history() -> list[Pin]:
    """Every choice, newest first."""
    return list(Pin.objects.select_related("staff").order_by("-number")[:MOST_ROWS])


def pin(*, staff: Staff, digest: str, reason: str, seen: int) -> Pin:
    """Begin new conversations with a definition; this release's is followed, through later releases too. `seen` is
    the number of the choice that the person saw, 0 for none. Raises PinRefused."""
    reason = reason.strip()
    _check(staff, digest, reason)
    release, now = release_definition_id(), newest()
    if digest == current_definition_id():
        raise PinRefused("same", _("New conversations begin with this definition already."))
    try:
        with transaction.atomic():  # two people who choose at once choose the same number, and one is told
            chosen = None if digest == release else digest
            made = Pin.objects.create(number=seen + 1, definition_id=chosen, staff=staff, reason=reason)
            if made.number != (now.number if now else 0) + 1:
                raise IntegrityError
            _record(made, staff, digest)
    except IntegrityError as error:
        raise PinRefused("overtaken", _("Nothing was changed: a colleague chose meanwhile. Look again.")) from error
    return made


def _check(staff: Staff, digest: str, reason: str) -> None:
    if staff.role not in PINS or not staff.is_active:
        raise PinRefused(
            "role",
            _("The role %(role)s does not choose definitions; leads and administrators do.")
            % {"role": role_name(staff.role)},
        )
    if not Definition.objects.filter(pk=digest).exists():
        raise PinRefused("unknown", _("There is no such definition."))
    if not reason or len(reason) > 1_000:
        raise PinRefused("reason", _("Give a reason of at most 1,000 characters."))
    if gone := missing_tools(digest):
        raise PinRefused(
            "tools",
            _("This definition cannot be used again: this release has no tool %(tools)s any more.")
            % {"tools": ", ".join(gone)},
        )


def _record(made: Pin, staff: Staff, digest: str) -> None:
    definition = Definition.objects.get(pk=digest)
    event = NewEvent(
        kind=Kind.POLICY,
        decision="pinned" if made.definition_id else "unpinned",
        model=definition.model,
        prompt_hash=definition.prompt_hash,
        schema_hash=definition.schema_hash,
    )
    record(Actor(kind="staff", id=staff.username), event, definition=digest, reason=made.reason)
