"""Money as people read and write it."""

import pytest

from base.money import parse, show


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (1_200, "GBP", "£12.00"),
        (500, "JPY", "¥500"),
        (1_250, "KWD", "1.250 KWD"),
        (123_456_789, "USD", "$1,234,567.89"),
        (-5, "EUR", "-€0.05"),
        (0, "CHF", "0.00 CHF"),
    ],
)
def test_shown(minor: int, currency: str, text: str) -> None:
    assert show(minor, currency) == text


@pytest.mark.parametrize(
    ("text", "currency", "minor"),
    [
        ("12", "GBP", 1_200), ("12.5", "GBP", 1_250), (" £1,250.05 ", "GBP", 125_005), ("500", "JPY", 500),
        ("1.25", "KWD", 1_250), ("0", "GBP", 0),
    ],
)  # fmt: skip
def test_written(text: str, currency: str, minor: int) -> None:
    assert parse(text, currency) == minor


@pytest.mark.parametrize(
    ("text", "currency"),
    [("60 pounds", "GBP"), ("1.005", "GBP"), ("5.0", "JPY"), ("-1", "GBP"), ("NaN", "GBP"), ("1e3", "GBP"),
     ("１２", "GBP"), ("", "GBP"), ("9" * 13, "GBP")],
)  # fmt: skip
def test_what_is_no_amount_says_what_would_be(text: str, currency: str) -> None:
    with pytest.raises(ValueError, match="Give an amount such as"):
        parse(text, currency)
