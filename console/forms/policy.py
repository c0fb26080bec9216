"""The common lines of a policy as fields of a form. What has no field stays as the edited version has it."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from approvals.policy.document import Json
from approvals.policy.simulation import MOST_DAYS
from approvals.policy.versions import MOST_CHARACTERS
from base.money import parse, written
from console.forms.fields import DIGEST, STALE, Form, Number, Pattern, Text, bounded

LINES = {
    "automatic_day": gettext_lazy("A day with no person"),
    "automatic_month": gettext_lazy("30 days with no person"),
    "two_people_day": gettext_lazy("A day above which two decide"),
    "call": gettext_lazy("One write with no person"),
    "order_day": gettext_lazy("One order in a day"),
    "method_day": gettext_lazy("One payment method in a day"),
    "conversation_day": gettext_lazy("One conversation in a day"),
}
REQUIRED_LINES = ("automatic_day", "automatic_month", "two_people_day")
ROLES = {"agent": gettext_lazy("Agents approve up to"), "lead": gettext_lazy("Leads approve up to")}
NUMBERS = {
    "most_open_requests": gettext_lazy("Open requests of one customer"),
    "expires_hours": gettext_lazy("Hours until a request expires"),
    "execute_hours": gettext_lazy("Hours within which an approval is carried out"),
    "sign_in.minutes": gettext_lazy("Minutes since the customer signed in"),
}
TOOL_CHOICES = (
    ("", gettext_lazy("By the lines")),
    ("ask", gettext_lazy("Always asks")),
    ("never", gettext_lazy("Never")),
)


class DocumentForm(Form):
    """A whole document as text."""

    document = Text(
        most=MOST_CHARACTERS, required=False, wrong=gettext_lazy("Give a document of at most 100,000 characters.")
    )


class BaseForm(Form):
    """The version that is edited; the one in force without a number."""

    base = Number(STALE, most=2**31 - 1, required=False)


class DaysForm(Form):
    """Of how many days the verdicts are taken again."""

    days = Number(bounded(gettext_noop("Simulate 1 to %(most)s days."), MOST_DAYS), least=1, most=MOST_DAYS)


class StepForm(Form):
    """How far a replay is, sealed."""

    state = Text(most=1_000_000, required=False)


class AgainstForm(Form):
    """With which definition one is compared."""

    against = Pattern(DIGEST, STALE)


class PinForm(Form):
    """Why new conversations begin with a definition, and the number of the choice that the page showed."""

    seen = Number(STALE, most=2**31 - 2, required=False)
    reason = Text(
        most=1_000,
        wrong=gettext_lazy("Give a reason of at most 1,000 characters."),
        label=gettext_lazy("Why new conversations should begin with this one"),
        help_text=gettext_lazy("Those that have begun keep theirs."),
    )


@dataclass(slots=True)
class Field:
    """One field: its path in the document, which is also its name, what it says, and what is wrong with it."""

    name: str
    label: str
    value: str
    required: bool = False
    fault: str = ""


class PolicyForm:
    """A document as fields. Amounts are typed as money (50.00), an empty field means no line."""

    def __init__(self, document: Json, typed: Mapping[str, str] | None) -> None:
        self._document, self._typed = document, typed
        self.faults: dict[str, str] = {}
        """What is wrong and has no field."""
        self.currencies = {currency: self._amounts(currency) for currency in document["lines"]}
        self.numbers = [self._number(name, str(label)) for name, label in NUMBERS.items()]
        self.tools = [self._tool(name) for name in import_string(settings.POLICY_TOOLS)()]
        self.tool_choices = TOOL_CHOICES

    def fields(self) -> list[Field]:
        return [*(field for fields in self.currencies.values() for field in fields), *self.numbers, *self.tools]

    def _amounts(self, currency: str) -> list[Field]:
        lines = [
            self._field(f"lines.{currency}.{name}", str(label), currency, required=name in REQUIRED_LINES)
            for name, label in LINES.items()
        ]
        return lines + [
            self._field(f"approve_up_to.{role}.{currency}", str(label), currency) for role, label in ROLES.items()
        ]

    def _field(self, name: str, label: str, currency: str, *, required: bool = False) -> Field:
        minor = _get(self._document, name)
        value = "" if minor is None else written(minor, currency)
        return Field(name, label, self._value(name, value), required)

    def _number(self, name: str, label: str) -> Field:
        value = _get(self._document, name)
        return Field(name, label, self._value(name, "" if value is None else str(value)), name != "sign_in.minutes")

    def _tool(self, name: str) -> Field:
        return Field(f"tools.{name}", name, self._value(f"tools.{name}", self._document["tools"].get(name, "")))

    def _value(self, name: str, now: str) -> str:
        return now if self._typed is None else self._typed.get(name, "").strip()

    def document(self) -> Json:
        """The edited version with what was typed. A field that cannot be read is put as text, which the document's
        own check then refuses by its path."""
        found = copy.deepcopy(self._document)
        for currency, fields in self.currencies.items():
            for field in fields:
                _set(found, field.name, _minor(field.value, currency))
        for field in self.numbers:
            plain = field.value.isascii() and field.value.isdigit() and len(field.value) < 12
            _set(found, field.name, int(field.value) if plain else field.value or None)
        for field in self.tools:
            _set(found, field.name, field.value or None)
        for part in (found["tools"], *found["approve_up_to"].values()):
            for name in [name for name, value in part.items() if value is None]:
                del part[name]
        found["approve_up_to"] = {role: lines for role, lines in found["approve_up_to"].items() if lines}
        return found

    def put(self, faults: Mapping[str, str]) -> None:
        """Say what is wrong beside the field that it is about; the rest is kept in `faults`."""
        fields = {field.name: field for field in self.fields()}
        for path, fault in faults.items():
            field = fields.get(path)
            if field is None:
                self.faults[path] = fault
            elif field.required and not field.value:
                field.fault = _("Fill this in.")
            else:
                field.fault = _words(field, fault)


def _words(field: Field, fault: str) -> str:
    """What could not be read as an amount or a number is text in the document; the schema's words for it say little."""
    amount = field.name.startswith(("lines.", "approve_up_to."))
    if "valid integer" not in fault:
        unit = _("In minor units.")
        return f"{fault} {unit}" if amount and "At most" in fault else fault
    return _("Give an amount such as 50.00.") if amount else _("Give a whole number.")


def _minor(text: str, currency: str) -> int | str | None:
    if not text:
        return None
    try:
        return parse(text, currency)
    except ValueError:
        return text


def _get(document: Json, path: str) -> Any:
    found: Any = document
    for part in path.split("."):
        found = (found or {}).get(part)
    return found


def _set(document: Json, path: str, value: Any) -> None:
    *parts, last = path.split(".")
    here = document
    for part in parts:
        here = here.setdefault(part, {})
    here[last] = value
