"""What the decision form offers to write and to choose."""

from typing import TypedDict

from django import template

from approvals import macros, reasons
from approvals.models import MacroEdit, ReasonEdit, Request

register = template.Library()


class Offer(TypedDict):
    """A macro and what it says of one request."""

    macro: MacroEdit
    text: str


@register.simple_tag
def macros_for(request: Request, uses: str) -> list[Offer]:
    """The macros on offer for some verdicts (words with blanks between), filled for a request."""
    values = macros.values_for(request)
    return [{"macro": edit, "text": macros.filled(edit.text, values)} for edit in macros.offered(*uses.split())]


@register.simple_tag
def reasons_on_offer() -> list[ReasonEdit]:
    """The reason codes that the console lets people choose, with their words."""
    return reasons.offered()


@register.filter
def reason_label(code: str) -> str:
    """A reason code in the words that leads gave it."""
    return reasons.label_of(code)
