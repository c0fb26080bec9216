"""The words of the reason codes. The codes stay; labels, help and what is on offer are edited, with history."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from approvals.decisions.macros import Taken, require_editor
from approvals.errors import Invalid
from approvals.models import Decision, ReasonEdit, Staff
from audit.models import Kind
from audit.record import Actor, NewEvent, record


def latest() -> list[ReasonEdit]:
    """The newest words of every code, in the codes' order, those not on offer too."""
    newest = {edit.code: edit for edit in ReasonEdit.objects.order_by("code", "-version").distinct("code")}
    return [newest[code] for code in Decision.Reason.values]


def offered() -> list[ReasonEdit]:
    """What the console lets people choose; at least one."""
    return [edit for edit in latest() if edit.offered]


def label_of(code: str) -> str:
    """A code in today's words; a code that is unknown as it is."""
    words = ReasonEdit.objects.filter(code=code).order_by("-version").values_list("label", flat=True).first()
    return words or code


def history(code: str) -> list[ReasonEdit]:
    """Every edit of one code's words, newest first."""
    return list(ReasonEdit.objects.filter(code=code).select_related("author").order_by("-version"))


def save(*, staff: Staff, code: str, version: int, fields: Mapping[str, Any]) -> ReasonEdit:
    """The next version of a code's label, help and offered. Raises Forbidden, Invalid or macros.Taken."""
    require_editor(staff)
    clean = {name: value.strip() if isinstance(value, str) else value for name, value in fields.items()}
    made = ReasonEdit(code=code, version=version, author=staff, **clean)
    _check(made)
    with transaction.atomic():
        _insert(made)
        said = {"label": made.label, "help": made.help, "offered": made.offered}
        event = NewEvent(kind=Kind.POLICY, decision="edited")
        record(Actor(kind="staff", id=staff.username), event, what=f"reason {code}", version=version, **said)
    return made


def _check(made: ReasonEdit) -> None:
    faults: dict[str, list[str]] = {}
    if not ReasonEdit.objects.filter(code=made.code, version=made.version - 1).exists():
        faults["label"] = [_("There is no such reason code.")]
    if not made.label or len(made.label) > 60:
        faults["label"] = [_("Give a label of at most 60 characters.")]
    if len(made.help) > 300:
        faults["help"] = [_("At most 300 characters.")]
    if faults:
        raise Invalid(faults)


def _insert(made: ReasonEdit) -> None:
    """Two people may edit the same version, or each take the last but one from offer: the database refuses one."""
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError as error:
        if "at least one reason code" in str(error):
            raise Invalid({"offered": [_("At least one reason stays on offer.")]}) from error
        raise Taken from error
