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
    width: int
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
    """Empty where the series are compared, as their sum says nothing."""


def draw(
    key: str,
    title: str,
    columns: tuple[str, ...],
    days: Mapping[dt.date, Sequence[int]],
    show: Callable[[int], str],
    *,
    compared: bool = False,
) -> Chart:
    """Bars whose series stand on each other, or beside each other where they are `compared`; `days` holds one number
    per series, oldest day first."""
    highest = max((max(numbers) if compared else sum(numbers) for numbers in days.values()), default=0)
    stand = _beside if compared else _stack
    return Chart(
        key=key,
        title=title,
        columns=columns,
        rows=[(day, [show(number) for number in numbers]) for day, numbers in days.items()],
        bars=[bar for place, numbers in enumerate(days.values()) for bar in stand(place * SLOT + 1, numbers, highest)],
        width=len(days) * SLOT,
        highest=show(highest),
        total="" if compared else show(sum(sum(numbers) for numbers in days.values())),
    )


def _stack(left: int, numbers: Sequence[int], highest: int) -> list[Bar]:
    bars, foot = [], HEIGHT
    for series, number in enumerate(numbers):
        height = _height(number, highest)
        foot -= height
        bars.append(Bar(x=left, y=max(foot, 0), width=BAR, height=height, series=series))
    return bars


def _beside(left: int, numbers: Sequence[int], highest: int) -> list[Bar]:
    width = BAR // len(numbers)
    heights = [_height(number, highest) for number in numbers]
    return [Bar(left + place * width, HEIGHT - tall, width, tall, place) for place, tall in enumerate(heights)]


def _height(number: int, highest: int) -> int:
    """What is there is seen."""
    return max(1, round(number * HEIGHT / highest)) if number else 0
