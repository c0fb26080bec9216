"""What the decision form offers to write and to choose."""

from typing import TypedDict

from django import template
from django.utils.translation import gettext, gettext_noop

from approvals.decisions import macros, reasons
from approvals.models import MacroEdit, ReasonEdit, Request

register = template.Library()
# What comes with Placet, for the catalogues of other languages. The texts to customers stay as they are.
SHIPPED = (
    gettext_noop("Refund on its way"), gettext_noop("Part of it agreed"), gettext_noop("More evidence needed"),
    gettext_noop("Refunded before"), gettext_noop("Outside our policy"), gettext_noop("A photo, please"),
    gettext_noop("Duplicate"), gettext_noop("The same was refunded or asked for before."),
    gettext_noop("Not eligible"), gettext_noop("This order or this item cannot have it."),
    gettext_noop("Evidence missing"), gettext_noop("It may be right, but nothing shows it yet."),
    gettext_noop("Suspected fraud"), gettext_noop("Say why in the note; flag the customer if others should know."),
    gettext_noop("Against our policy"), gettext_noop("The rules of the shop do not allow it."),
    gettext_noop("Goodwill"), gettext_noop("Not owed, given to keep the customer's trust."),
    gettext_noop("Other"), gettext_noop("Say in the note what it was."),
)  # fmt: skip


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
    return staff_words(reasons.label_of(code))


@register.filter
def staff_words(text: str) -> str:
    """A name, label or help for staff: what came with Placet in the reader's language, what leads wrote as they did."""
    return gettext(text) if text else ""
