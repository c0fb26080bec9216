"""Telephone numbers, compared by what is known of each country's. They are kept as the shop wrote them and never shown
to a model."""

import re

from phonenumbers import MatchType, is_number_match

_SHAPE = re.compile(r"\+?[0-9 ()./-]{5,40}", re.ASCII)
_TAIL = 8
"""National and international spellings of a number agree in at least so many last digits."""


def phone_digits(text: str) -> str:
    """The digits of a number without what only dials out (00, the 0 of +44 (0)20): 7 to 15 of them, as in E.164.
    ValueError says what would be right."""
    digits = re.sub(r"\D", "", text.replace("(0)", ""))
    digits = digits.removeprefix("00")
    if not _SHAPE.fullmatch(text.strip()) or not 7 <= len(digits) <= 15:
        raise ValueError("must be a telephone number such as +44 20 7946 0958")
    return digits


def checked_phone(text: str) -> str:
    """The same text if it is a number; ValueError otherwise."""
    phone_digits(text)
    return text


def same_phone(one: str, other: str) -> bool:
    """Whether two numbers may be one, whichever of them was written without its country."""
    match = is_number_match(_with_country(one), _with_country(other))
    if match in (MatchType.EXACT_MATCH, MatchType.NSN_MATCH):
        return True
    # Without a country nothing says what belongs to the number, and who shares one with a customer must not slip by.
    return match != MatchType.NO_MATCH and _same_tail(one, other)


def _with_country(text: str) -> str:
    return re.sub(r"^\s*00", "+", text.replace("(0)", ""))


def _same_tail(one: str, other: str) -> bool:
    shorter, longer = sorted((phone_digits(one).lstrip("0"), phone_digits(other).lstrip("0")), key=len)
    return shorter == longer or (len(shorter) >= _TAIL and longer.endswith(shorter))
