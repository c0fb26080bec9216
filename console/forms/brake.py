"""The form of the brake."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from agents.tools.registry import tools
from approvals import brakes
from console.forms.fields import Choice, Form, Pressed, Text, bounded

ALL_WRITES, ANSWERS = "writes", "answers"


def _what() -> list[tuple[str, str]]:
    return [(name, name) for name in (ALL_WRITES, ANSWERS, *tools())]


class BrakeForm(Form):
    """What is stopped or let go, and why."""

    what = Choice(_what, _("Choose what to stop."))
    reason = Text(
        most=brakes.MOST_REASON,
        wrong=bounded(gettext_noop("Give a reason of at most %(most)s characters."), brakes.MOST_REASON),
        label=_("Why"),
    )
    release = Pressed()
