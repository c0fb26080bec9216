"""Charts that the server draws: bars by day in an SVG, with the same numbers in a table behind them."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

SLOT, BAR, HEIGHT = 10, 8, 100


@dataclass(frozen=True, slots=True)
class Bar:
    """One series of one day, in the units of the drawing; whole numbers, which no language writes with a comma."""

    x: int
    y: int
    height: int
    series: int


@dataclass(frozen=True, slots=True)
class Chart:
    """What the template draws: `rows` are the days with their numbers as people read them."""

    key: str
    title: str
    columns: tuple[str, ...]
    rows: list[tuple[dt.date, list[str]]]
    bars: list[Bar]
    width: int
    highest: str
    total: str


def draw(
    key: str, title: str, columns: tuple[str, ...], days: Mapping[dt.date, Sequence[int]], show: Callable[[int], str]
) -> Chart:
    """Bars whose series stand on each other; `days` holds one number per series, oldest day first."""
    highest = max((sum(numbers) for numbers in days.values()), default=0)
    return Chart(
        key=key,
        title=title,
        columns=columns,
        rows=[(day, [show(number) for number in numbers]) for day, numbers in days.items()],
        bars=[bar for place, numbers in enumerate(days.values()) for bar in _stack(place, numbers, highest)],
        width=len(days) * SLOT,
        highest=show(highest),
        total=show(sum(sum(numbers) for numbers in days.values())),
    )


def _stack(place: int, numbers: Sequence[int], highest: int) -> list[Bar]:
    bars, foot = [], HEIGHT
    for series, number in enumerate(numbers):
        height = round(number * HEIGHT / highest) if highest else 0
        if number and not height:
            height = 1  # what is there is seen
        foot -= height
        bars.append(Bar(x=place * SLOT + 1, y=max(foot, 0), height=height, series=series))
    return bars
