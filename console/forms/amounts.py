"""What people type into the console's forms."""

from approvals import errors
from base.money import parse


def amount_of(text: str, verdict: str, currency: str) -> int | None:
    """A lower amount as people write it, in minor units; None when the field is empty or the verdict a denial."""
    if verdict != "approve" or not text.strip():
        return None
    try:
        return parse(text, currency)
    except ValueError as error:
        raise errors.Invalid({"amount_minor": [str(error)]}) from error
