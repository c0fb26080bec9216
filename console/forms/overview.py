"""The form of the overview's sample."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from approvals.decisions.spot_checks import MOST_TEXT
from approvals.models import SpotCheck
from console.forms.fields import STALE, Choice, Form, Pattern, Text, bounded

_WRONG = bounded(gettext_noop("Choose fine or wrong, and write at most %(most)s characters."), MOST_TEXT)


class SpotCheckForm(Form):
    """What one found in an execution, and the day of the sample to go back to."""

    reference = Pattern("T-[0-9A-HJKMNP-TV-Z]{6,10}", _("There is no such automatic execution."))
    outcome = Choice(SpotCheck.Outcome.choices, _WRONG)
    note = Text(most=MOST_TEXT, required=False, wrong=_WRONG)
    day = Pattern(r"\d{4}-\d\d-\d\d", STALE, required=False)
