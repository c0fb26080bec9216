"""E-mail addresses that a mail server takes."""

import unicodedata

from django.core.exceptions import ValidationError
from django.core.validators import validate_email


def checked_email(text: str) -> str:
    """The same text if it is an address; ValueError otherwise. No control character, and none that turns the direction
    of writing: such a domain is shown as another than it is."""
    try:
        validate_email(text)
    except ValidationError as error:
        raise ValueError("must be an e-mail address such as ada@example.com") from error
    if any(unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") for each in text):
        raise ValueError("must not hold characters that cannot be seen")
    return text
