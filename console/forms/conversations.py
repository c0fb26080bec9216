"""Forms about conversations and turns."""

from django.utils.translation import gettext_lazy as _

from agents.chat import lists
from agents.chat.api_shapes import MOST_CHARACTERS
from console.forms.fields import STALE, Choice, Form, Text


class SearchForm(Form):
    """Which conversations are looked for: a tab, and a customer, a reference or an id."""

    state = Choice([(tab, tab) for tab in lists.TABS], STALE, required=False)
    q = Text(most=200, required=False)


class TakeForm(Form):
    """From whom a lead takes it, as the page showed it."""

    instead_of = Text(most=150, required=False)


class SayForm(Form):
    """A message under the limits that customers have too; the same `client_id` again is the same message."""

    client_id = Text(most=100, wrong=STALE)
    text = Text(most=MOST_CHARACTERS)


class SteerForm(Form):
    """What is done with a turn."""

    deed = Choice([("retry", ""), ("end", "")], _("Choose to try the turn again or to end it."))
