"""What model calls cost: the provider's list prices, in dollars per million tokens."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens."""

    input: float
    write_5m: float
    write_1h: float
    read: float
    output: float


PRICES = {
    "claude-opus-5-5": Price(4, 5, 8, 0.20, 20),
    "claude-opus-5": Price(5, 6.25, 10, 0.50, 25),
    "claude-opus-4-8": Price(5, 6.25, 10, 0.50, 25),
    "claude-sonnet-5-5": Price(2, 2.50, 4, 0.10, 10),
}
HAIKU_SHORT, HAIKU_LONG = Price(0.10, 0.125, 0.20, 0.01, 0.50), Price(0.50, 0.625, 1, 0.05, 2.50)
HAIKU_LONG_ABOVE = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one reply. `input_total` is what was sent, cached or not."""

    input: int = 0
    write_5m: int = 0
    write_1h: int = 0
    read: int = 0
    output: int = 0

    @property
    def input_total(self) -> int:
        return self.input + self.write_5m + self.write_1h + self.read


CHARACTERS_PER_TOKEN = 4


def asking_microcents(model: str) -> float:
    """What a token of a request costs at most, for one that was never answered: the length of a long prompt."""
    return _price_of(model, Usage(input=HAIKU_LONG_ABOVE + 1)).input * 100


def cost_microcents(model: str, usage: Usage) -> int:
    """Millionths of a US cent; a model without a listed price counts as the dearest, so limits fail closed."""
    price = _price_of(model, usage)
    dollars_times_million = (
        usage.input * price.input
        + usage.write_5m * price.write_5m
        + usage.write_1h * price.write_1h
        + usage.read * price.read
        + usage.output * price.output
    )
    return round(dollars_times_million * 100)


def _price_of(model: str, usage: Usage) -> Price:
    if model.startswith("claude-haiku-5-5"):
        return HAIKU_LONG if usage.input_total > HAIKU_LONG_ABOVE else HAIKU_SHORT
    named = (price for name, price in PRICES.items() if model == name or model.startswith(f"{name}-2"))
    return next(named, max(PRICES.values(), key=lambda price: price.output))
