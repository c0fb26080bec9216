"""The form of one parked item."""

from agents.work_lists import LISTS
from console.forms.fields import STALE, Choice, Form, Text


class RetryForm(Form):
    """Which item of which list is tried again."""

    list = Choice([(name, name) for name in LISTS], STALE)
    key = Text(most=240, wrong=STALE, strip=False)
