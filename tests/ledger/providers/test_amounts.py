"""What is sent is what people were told, in the provider's own units."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from base.money import digits_of
from ledger.providers.amounts import (
    HUNDREDTHS_OF_WHOLE,
    TENS_OF_THOUSANDTHS,
    ZERO,
    NotPayable,
    from_provider,
    smallest_of,
    to_provider,
    unit_of,
)  # fmt: skip

CURRENCIES = sorted({*ZERO, *HUNDREDTHS_OF_WHOLE, *TENS_OF_THOUSANDTHS, "EUR", "GBP", "USD", "HUF", "TWD", "MRU"})


@pytest.mark.parametrize(
    ("amount_minor", "currency", "told"),
    [
        (1_200, "GBP", 1_200),
        (500, "JPY", 500),
        (500_00, "MGA", 500),  # ISO 4217 counts ariary in hundredths, the provider whole ones
        (5, "ISK", 500),
        (40, "UGX", 4_000),
        (5_120, "KWD", 5_120),
        (12_340, "TND", 12_340),
    ],
)
def test_each_kind_of_currency(amount_minor: int, currency: str, told: int) -> None:
    assert to_provider(amount_minor, currency) == told
    assert from_provider(told, currency) == amount_minor


@pytest.mark.parametrize(("amount_minor", "currency"), [(12_345, "KWD"), (500_01, "MGA"), (1, "OMR")])
def test_what_cannot_be_paid_is_refused_and_never_rounded(amount_minor: int, currency: str) -> None:
    with pytest.raises(NotPayable, match=r"cannot be paid: .+ or .+ can\."):
        to_provider(amount_minor, currency)


@pytest.mark.parametrize("currency", CURRENCIES)
@given(times=st.integers(min_value=1, max_value=10**9))
def test_every_multiple_of_the_smallest_amount_arrives_as_it_left(currency: str, times: int) -> None:
    amount_minor = times * smallest_of(currency)
    told = to_provider(amount_minor, currency)
    assert told % unit_of(currency).step == 0
    assert from_provider(told, currency) == amount_minor
    assert told * 10 ** digits_of(currency) == amount_minor * 10 ** unit_of(currency).digits


@pytest.mark.parametrize("currency", CURRENCIES)
def test_nothing_between_two_multiples_is_paid(currency: str) -> None:
    step = smallest_of(currency)
    for amount_minor in range(step + 1, 2 * step):
        with pytest.raises(NotPayable):
            to_provider(amount_minor, currency)
