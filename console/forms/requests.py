"""Forms about requests: deciding, one by one and several at once, and all that one does besides."""

import datetime as dt
import re
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from approvals.decisions import deciding, reopening, undo
from approvals.models import CardView, Decision, Question
from approvals.people.shifts import SNOOZES
from console.forms.amounts import amount_of
from console.forms.fields import (
    DIGEST,
    REFERENCE,
    STALE,
    Choice,
    Colleague,
    Form,
    Number,
    Pattern,
    Pressed,
    Several,
    Text,
    bounded,
)

_SIX_DIGITS = 999_999
_MOST_SEALED = 1_000_000
_MOST_ASSERTION = 50_000
_REASON = _("Choose one of the reasons.")
_VERDICT = _("Send approve or deny.")
_ITEM = re.compile(rf"({REFERENCE}) ({DIGEST})")


class AmountForm(Form):
    """A lower amount and what the customer is told, as far as they are typed."""

    amount = Text(most=20, required=False)
    customer_message = Text(most=deciding.MOST_TEXT, required=False)


class ChallengeForm(AmountForm):
    """What a passkey would sign."""

    verdict = Choice(Decision.Verdict.choices, _VERDICT, required=False)
    digest = Pattern(DIGEST, STALE, required=False)


class DecisionForm(ChallengeForm):
    """A verdict with all that belongs to it."""

    reason_code = Choice(Decision.Reason.choices, _REASON, required=False)
    note = Text(most=deciding.MOST_TEXT, required=False)
    shown = Text(most=_MOST_SEALED, required=False)
    nonce = Text(most=200, required=False)
    assertion = Text(most=_MOST_ASSERTION, required=False)

    def amount_minor(self, currency: str) -> int | None:
        """The lower amount in minor units. Raises errors.Invalid."""
        return amount_of(self.cleaned_data["amount"], self.cleaned_data["verdict"], currency)


class ReadingForm(Form):
    """Which card came into view, and for how long."""

    card = Choice(CardView.Card.choices, STALE)
    seconds = Number(STALE, most=_SIX_DIGITS)


class AssignForm(Form):
    """Take it, or give it back; from the queue or from its own page."""

    release = Pressed()
    source = Choice([("queue", "")], STALE, required=False)

    def add_prefix(self, field_name: str) -> str:
        return "from" if field_name == "source" else super().add_prefix(field_name)


class GiveForm(Form):
    """To whom."""

    to = Colleague()


class SnoozeForm(Form):
    """For how long, or have it back."""

    wake = Pressed()
    how_long = Choice([(name, name) for name in SNOOZES], _("Choose for how long."), required=False)

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if not (given.get("wake") or given.get("how_long") or self.errors):
            self.add_error("how_long", _("Choose for how long."))
        return given


class AskForm(Form):
    """One of the fixed questions."""

    code = Choice(Question.Code.choices, _("Choose one of the questions."))


class ReopenForm(Form):
    """Why what was denied may be asked for again."""

    reason = Text(
        most=reopening.MOST_TEXT,
        wrong=bounded(gettext_noop("Say why, in at most %(most)s characters."), reopening.MOST_TEXT),
        label=_("Why it may be asked for again"),
        help_text=_("The customer is told that they can ask once more. People decide that afresh."),
    )


class MistakeForm(Form):
    """What went wrong."""

    text = Text(
        most=undo.MOST_TEXT,
        wrong=bounded(gettext_noop("Say what went wrong, in at most %(most)s characters."), undo.MOST_TEXT),
        label=_("What went wrong"),
        help_text=_("A lead looks after it. Money that has not been sent is recalled."),
    )


class TaskForm(Form):
    """What was done about a task."""

    task = Number(_("There is no such task."))
    outcome = Text(
        most=undo.MOST_TEXT,
        wrong=bounded(gettext_noop("Say what was done, in at most %(most)s characters."), undo.MOST_TEXT),
        label=_("What was done"),
    )


def _item(text: str) -> tuple[str, str]:
    found = _ITEM.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return found[1], found[2]


def _row(text: str) -> tuple[str, str]:
    reference, _tilde, seal = text.partition("~")
    if not re.fullmatch(REFERENCE, reference):
        raise ValueError(text)
    return reference, seal


class PulseForm(Form):
    """The rows on screen, each with the seal that was shown, and since when."""

    since = Text(most=59)
    row = Several(_row, _("There is no such request."))

    def clean_since(self) -> dt.datetime:
        """An address's plus is a blank."""
        moment = parse_datetime(self.cleaned_data["since"].replace(" ", "+"))
        if moment is None or moment.tzinfo is None:
            raise ValidationError(STALE)
        return moment


class SeveralForm(Form):
    """Chosen requests, each with the digest that was shown, and what to do with them."""

    item = Several(_item, _("There is no such request."))
    deed = Choice([(name, name) for name in ("approve", "deny", "give")], _("Choose what to do with them."))


class DenySeveralForm(Form):
    """Why all of them are denied."""

    reason_code = Choice(Decision.Reason.choices, _("A denial needs a reason: choose one."))
    customer_message = Text(most=deciding.MOST_TEXT, required=False)
