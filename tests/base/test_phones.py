"""Telephone numbers: what is one, and when two are the same."""

import pytest

from base.phones import phone_digits, same_phone


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("+44 20 7946 0958", "442079460958"),
        ("0044 (0)20 7946-0958", "442079460958"),
        ("(020) 7946.0958", "02079460958"),
        ("555-0100", "5550100"),
    ],
)
def test_the_digits(text: str, digits: str) -> None:
    assert phone_digits(text) == digits


@pytest.mark.parametrize(
    "text", ["", "12345", "+1234567890123456", "call me", "٠١٢٣٤٥٦٧٨", "+44\x00207946", "44+20794600"]
)
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match="such as"):
        phone_digits(text)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("+44 20 7946 0958", "020 7946 0958", True),
        ("+44 20 7946 0958", "+44 20 7946 0959", False),
        ("555-0100", "+1 212 555-0100", False),
        ("555-0100", "5550100", True),
        ("+44 20 7946 0958", "0044 (0)20 7946-0958", True),
        ("+49 171 2345678", "0171 2345678", True),
        ("0049 30 123456", "030 123456", True),
        ("+49 171 2345678", "+43 171 2345678", False),
        ("+7 912 345-67-89", "8 (912) 345-67-89", True),  # Russia dials 8 where others dial 0
        ("+54 9 11 2345-6789", "011 15-2345-6789", True),  # Argentina moves the 9 of a mobile
        ("+297 560 1234", "560 1234", True),
        ("+442079460958", "+2079460958", False),  # the end of one is not the other where both name a country
        ("7946 0958", "+44 20 7946 0958", True),
        ("02079460958", "020 7946 0958", True),
    ],
)
def test_two_numbers(one: str, other: str, same: bool) -> None:
    assert same_phone(one, other) is same
    assert same_phone(other, one) is same
