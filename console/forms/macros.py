"""Forms of ready-made messages and of reasons."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from approvals.decisions import reasons
from approvals.models import MOST_TEXT, MacroEdit
from console.forms.fields import STALE, Choice, Form, Number, Pressed, Text, bounded
from console.templatetags.macros import staff_words

_MOST_VERSION = 2**31 - 1


class Offered(Form):
    """Words that are on offer or withdrawn."""

    offered = Pressed()

    @property
    def offers(self) -> bool:
        """Whether the box is ticked."""
        return self["offered"].value() not in (None, False)


class MacroForm(Offered):
    """A message with the variables that it is filled from."""

    version = Number(STALE, most=_MOST_VERSION)
    name = Text(most=60, wrong=_("Give a name of at most 60 characters."), label=_("Name"))
    use = Choice(MacroEdit.Use.choices, _("Choose one of the verdicts."), label=_("For which verdict"))
    reason_code = Choice(
        [],
        _("Choose one of the reasons."),
        required=False,
        label=_("Reason"),
        help_text=_("Chosen with the message, where none is chosen yet."),
    )
    text = Text(
        most=MOST_TEXT, wrong=bounded(gettext_noop("Write something, in at most %(most)s characters."), MOST_TEXT),
        label=_("Text"), help_text=_("Variables:"), widget=forms.Textarea({"rows": 8}),
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = self.fields["reason_code"]
        assert isinstance(chosen, Choice)
        chosen.choices = [("", _("None")), *((edit.code, staff_words(edit.label)) for edit in reasons.latest())]


class ReasonForm(Offered):
    """The words of a reason code."""

    version = Number(STALE, most=_MOST_VERSION)
    label = Text(most=60, wrong=_("Give a label of at most 60 characters."), label=_("Label"))
    help = Text(
        most=300, required=False, wrong=_("At most 300 characters."), label=_("Help"),
        help_text=_("When it is right to choose it."), widget=forms.Textarea({"rows": 3}),
    )  # fmt: skip
