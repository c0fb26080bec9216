"""Small charts as SVG, drawn by the server; the numbers stand in a table beside each."""

import datetime as dt
from dataclasses import dataclass

WIDTH, HEIGHT, BASE = 640, 120, 100


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar in the chart's own units, and what it stands for."""

    x: float
    y: float
    width: float
    height: float
    kind: str


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two bars for each day."""

    bars: list[Bar]
    most: int
    first: str
    last: str
    width: int = WIDTH
    height: int = HEIGHT
    base: int = BASE


def _bar(place: int, side: int, slot: float, part: float) -> Bar:
    tall = part * (BASE - 10)
    return Bar(place * slot + slot * (0.1 + 0.4 * side), BASE - tall, slot * 0.38, tall, ("before", "after")[side])


def pairs_by_day(by_day: dict[str, list[int]], last: dt.date, days: int) -> Pairs:
    """Days without an entry are there with no bars, so that equal distances are equal times."""
    names = [f"{last - dt.timedelta(days=back):%Y-%m-%d}" for back in reversed(range(days + 1))]
    most = max([number for pair in by_day.values() for number in pair], default=0)
    bars = [
        _bar(place, side, WIDTH / len(names), by_day.get(name, [0, 0])[side] / (most or 1))
        for place, name in enumerate(names)
        for side in (0, 1)
    ]
    return Pairs(bars=bars, most=most, first=names[0], last=names[-1])
