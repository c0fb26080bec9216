"""Amounts as the payment provider counts them, which is not always ISO 4217's minor unit.

Source: docs.stripe.com/currencies, "Zero-decimal currencies", "Three-decimal currencies" and "Special cases".
"""

from dataclasses import dataclass

from base.money import digits_of, show

ZERO = frozenset([
    "BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF",
])  # fmt: skip
"""Counted in whole units."""
HUNDREDTHS_OF_WHOLE = frozenset(["ISK", "UGX"])
"""Counted in hundredths for the sake of older callers, and only whole units are taken."""
TENS_OF_THOUSANDTHS = frozenset(["BHD", "JOD", "KWD", "OMR", "TND"])
"""Counted in thousandths, of which the last digit has to be 0."""


class NotPayable(ValueError):
    """An amount that the provider cannot move; the sentence names the nearest ones that it can."""


@dataclass(frozen=True, slots=True)
class Unit:
    """`digits` decimal places in what the provider is told; every amount is a multiple of `step` of these."""

    digits: int
    step: int


def unit_of(currency: str) -> Unit:
    """How the provider counts a currency."""
    if currency in ZERO:
        return Unit(0, 1)
    if currency in HUNDREDTHS_OF_WHOLE:
        return Unit(2, 100)
    return Unit(3, 10) if currency in TENS_OF_THOUSANDTHS else Unit(2, 1)


def to_provider(amount_minor: int, currency: str) -> int:
    """An amount in ISO minor units as the provider is told it. Raises NotPayable: nothing is rounded silently, so what
    people were told is what is sent."""
    unit = unit_of(currency)
    told, rest = divmod(amount_minor * _tenfold(unit.digits), _tenfold(digits_of(currency)))
    if rest or told % unit.step:
        raise NotPayable(_nearest(amount_minor, currency))
    return told


def from_provider(told: int, currency: str) -> int:
    """What the provider reports, in ISO minor units; a part of one, which no call of ours makes, is rounded down."""
    return told * _tenfold(digits_of(currency)) // _tenfold(unit_of(currency).digits)


def smallest_of(currency: str) -> int:
    """The smallest amount that the provider moves, in ISO minor units, and what every amount is a multiple of."""
    unit = unit_of(currency)
    return max(1, unit.step * _tenfold(digits_of(currency)) // _tenfold(unit.digits))


def _tenfold(digits: int) -> int:
    return int(10**digits)


def _nearest(amount_minor: int, currency: str) -> str:
    step = smallest_of(currency)
    below = amount_minor // step * step
    return (
        f"{show(amount_minor, currency)} cannot be paid: {show(below, currency)} or {show(below + step, currency)} can."
    )
