"""Macros: ready-made messages for customers, filled by the server from a closed list of variables.

A macro is its newest edit. Editing, withdrawing and bringing back are new rows with author and time; two people who
edit the same version at once meet in a unique constraint, and the second is told.
"""

import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from approvals.errors import DecisionError, Forbidden, Invalid, grouped
from approvals.models import MOST_TEXT, Decision, MacroEdit, Request, Staff
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base.access import ADMIN, LEAD
from base.money import show
from base.names import role_name
from ledger.access.staff import as_staff
from ledger.models import Customer

EDITS_MACROS = (LEAD, ADMIN)
VARIABLES = {
    "customer_name": "the customer's name",
    "order_id": "the order's number",
    "amount": "the amount that was asked for",
    "reference": "the request's reference",
    "shop": "the shop's name",
}
_VARIABLE = re.compile(r"\{([^{}]*)\}")


def latest() -> list[MacroEdit]:
    """The newest edit of every macro, withdrawn ones too, by use and name."""
    newest = MacroEdit.objects.order_by("macro", "-version").distinct("macro").select_related("author")
    return sorted(newest, key=lambda edit: (MacroEdit.Use.values.index(edit.use), edit.name.casefold()))


def offered(*uses: str) -> list[MacroEdit]:
    """What the console offers for some verdicts."""
    return [edit for edit in latest() if edit.offered and edit.use in uses]


def history(macro: int) -> list[MacroEdit]:
    """Every edit of one macro, newest first; empty where there is none."""
    return list(MacroEdit.objects.filter(macro=macro).select_related("author").order_by("-version"))


def values_for(request: Request) -> dict[str, str]:
    """What the variables stand for in a request. A name or an order that the request lacks is a plain word."""
    name = request.preview.get("customer_name") or as_staff(lambda: _name_of(request.customer_id))
    return {
        "customer_name": name or "customer",
        "order_id": request.order_id or str(request.preview.get("order_id") or "in question"),
        "amount": show(request.amount_minor, request.currency) if request.currency else "what you asked for",
        "reference": request.reference,
        "shop": settings.PLACET.notify.shop,
    }


def _name_of(customer_id: str) -> str | None:
    return Customer.objects.filter(pk=customer_id).values_list("name", flat=True).first()


def fill(macro: MacroEdit, request: Request) -> str:
    """The macro's text for a request: plain text, in which nothing is escaped."""
    return filled(macro.text, values_for(request))


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with its variables replaced, once: a value that looks like a variable stays as it is."""
    return _VARIABLE.sub(lambda found: values[found[1]], text)


def save(*, staff: Staff, macro: int | None, version: int, fields: Mapping[str, Any]) -> MacroEdit:
    """A new macro, or the next version of one where `version` is still its newest. `fields` are name, use,
    reason_code, text and offered. Raises Forbidden, Invalid or Taken."""
    require_editor(staff)
    clean = {name: value.strip() if isinstance(value, str) else value for name, value in fields.items()}
    with transaction.atomic():
        made = MacroEdit(macro=macro or _next_number(), version=version, author=staff, **clean)
        _check(made)
        if macro and not MacroEdit.objects.filter(macro=macro, version=version - 1).exists():
            raise Invalid({"text": [_("There is no such macro.")]})
        _insert(made)
        said = {"name": made.name, "use": made.use, "text": made.text, "offered": made.offered}
        event = NewEvent(kind=Kind.POLICY, decision="edited")
        actor = Actor(kind="staff", id=staff.username)
        record(actor, event, what=f"macro {made.macro}", version=version, reason=made.reason_code, **said)
    return made


def require_editor(staff: Staff) -> None:
    """Only these roles change macros and the words of reasons; one person is enough."""
    if staff.role not in EDITS_MACROS or not staff.is_active:
        raise Forbidden(
            "role",
            _("The role %(role)s edits no macros or reasons; leads and administrators do.")
            % {"role": role_name(staff.role)},
        )


def _next_number() -> int:
    """Two new macros at once get the same number; the unique constraint refuses the second."""
    return int(MacroEdit.objects.aggregate(last=Max("macro"))["last"] or 0) + 1


def _insert(made: MacroEdit) -> None:
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError as error:
        raise Taken from error


class Taken(DecisionError):
    """Somebody else saved the same version first."""

    def __init__(self) -> None:
        super().__init__(_("Nothing was saved: a colleague edited this at the same time. Read what they wrote."))


def _check(made: MacroEdit) -> None:
    faults: dict[str, list[str]] = {}
    if not made.name or len(made.name) > 60:
        faults["name"] = [_("Give a name of at most 60 characters.")]
    elif any(edit.macro != made.macro and edit.name.casefold() == made.name.casefold() for edit in latest()):
        faults["name"] = [_("Another macro has this name.")]
    if made.use not in MacroEdit.Use.values:
        faults["use"] = [_("Choose one of: %(codes)s.") % {"codes": ", ".join(MacroEdit.Use.values)}]
    if made.reason_code and made.reason_code not in Decision.Reason.values:
        faults["reason_code"] = [_("Choose one of: %(codes)s.") % {"codes": ", ".join(Decision.Reason.values)}]
    if fault := fault_in(made.text):
        faults["text"] = [fault]
    if faults:
        raise Invalid(faults)


def fault_in(text: str) -> str:
    """What is wrong in a macro's text, as a sentence; empty where nothing is."""
    allowed = ", ".join(f"{{{name}}}" for name in VARIABLES)
    if not text or len(text) > MOST_TEXT:
        return _("Write something, in at most %(most)s characters.") % {"most": grouped(MOST_TEXT)}
    if unknown := [name for name in _VARIABLE.findall(text) if name not in VARIABLES]:
        return _("There is no variable {%(what)s}. There are: %(allowed)s.") % {
            "what": unknown[0][:40],
            "allowed": allowed,
        }
    if re.search(r"[{}]", _VARIABLE.sub("", text)):
        return _("A brace stands alone: braces are for variables only. There are: %(allowed)s.") % {"allowed": allowed}
    return ""
