"""Money as people read and write it."""

import pytest
from django.utils.translation import override

from base.money import MAX_MINOR, parse, show, told, written


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
        ("1.25", "KWD", 1_250), ("0", "GBP", 0), ("1.25 KWD", "KWD", 1_250), ("5.40 €", "EUR", 540),
    ],
)  # fmt: skip
def test_written(text: str, currency: str, minor: int) -> None:
    assert parse(text, currency) == minor


@pytest.mark.parametrize(
    ("text", "currency"),
    [("60 pounds", "GBP"), ("1.005", "GBP"), ("5.0", "JPY"), ("-1", "GBP"), ("NaN", "GBP"), ("1e3", "GBP"),
     ("１２", "GBP"), ("", "GBP"), ("9" * 13, "GBP"), ("12,50", "GBP"), ("1.250,50", "GBP")],
)  # fmt: skip
def test_what_is_no_amount_says_what_would_be(text: str, currency: str) -> None:
    with pytest.raises(ValueError, match="Give an amount such as"):
        parse(text, currency)


def test_a_reader_of_german_reads_and_writes_german() -> None:
    with override("de"):
        assert told(123_456_789, "EUR") == "1.234.567,89\xa0€"
        assert (told(1_250, "KWD"), told(500, "JPY")) == ("1,250 KWD", "500\xa0¥")
        assert show(1_200, "GBP") == "£12.00", "what is kept or sent stays English"
        assert (parse("12,50", "GBP"), parse("1.250,5 €", "EUR"), parse("1.250", "GBP")) == (1_250, 125_050, 125_000)
        with pytest.raises(ValueError, match="Geben Sie einen Betrag wie 12,50"):
            parse("12.50", "GBP")


@pytest.mark.parametrize("language", ["en-gb", "de"])
@pytest.mark.parametrize("currency", ["GBP", "JPY", "KWD", "CHF", "HUF"])
@pytest.mark.parametrize("minor", [0, 1, 1_250, 123_456_789, MAX_MINOR - 1])
def test_what_is_shown_can_be_typed(language: str, currency: str, minor: int) -> None:
    with override(language):
        assert parse(told(minor, currency), currency) == minor
        assert parse(written(minor, currency), currency) == minor
