"""Forms about customers: notes, flags and clearing a colleague."""

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from approvals.casefile import flags, notes
from console.forms.fields import STALE, Form, Number, Text, bounded

MOST_REASON = 1_000


class NoteForm(Form):
    """A note for colleagues."""

    ids = "note-%s"
    text = Text(
        most=notes.MOST_TEXT,
        wrong=bounded(gettext_noop("Write something, in at most %(most)s characters."), notes.MOST_TEXT),
        label=_("Note"),
        widget=forms.Textarea({"rows": 3}),
    )


class FlagForm(Form):
    """A warning."""

    ids = "flag-%s"
    reason = Text(
        most=flags.MOST_REASON,
        wrong=bounded(gettext_noop("Say why, in at most %(most)s characters."), flags.MOST_REASON),
        label=_("Why"),
    )


class ClearFlagForm(Form):
    """Which warning is taken off."""

    clear = Number(_("That flag was taken off before."), required=False)


class ClearanceForm(Form):
    """Whom a lead clears for which customer, and why."""

    customer = Text(most=200, wrong=STALE)
    staff = Text(most=150, wrong=STALE)
    reason = Text(
        most=MOST_REASON, wrong=_("Give a reason of at most 1,000 characters."), label=_("Why that is chance")
    )
