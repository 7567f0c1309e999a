"""Plot of latency percentiles in text: a row for each percentile, a letter for each series, a logarithmic axis."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Marks of the series, in order."""

LEAST_WIDTH = 60
"""No plot is drawn in fewer columns."""

MOST_WIDTH = 100

_UNITS = ((1e6, "s"), (1e3, "ms"), (1.0, "us"), (1e-3, "ns"))
"""Units of the axis, in us."""


def tail_plot(series: Sequence[Mapping[str, float]], rows: Sequence[str], width: int) -> list[str]:
    """Lines of at most `width` columns; none where there is no room or nothing to draw.

    `series` are latencies in us by percentile, such as `p99.9`. A letter lies where its latency does; letters at the
    same place follow each other to the right.
    """
    drawn = [name for name in rows if any(of.get(name, 0) > 0 for of in series)]
    if width < LEAST_WIDTH or not drawn or len(series) > len(LETTERS):
        return []
    values = [of[name] for of in series for name in drawn if of.get(name, 0) > 0]
    low, high = math.log10(min(values)), math.log10(max(values))
    if high - low < 1:
        # A decade at least, so that the axis has a number.
        low, high = (low + high - 1) / 2, (low + high + 1) / 2
    label = max(map(len, drawn)) + 2
    # The last number of the axis and letters side by side need columns too.
    behind = max(len(series), 6)
    room = min(width, MOST_WIDTH) - label - behind

    def column(value: float) -> int:
        return round((math.log10(value) - low) / (high - low) * (room - 1))

    ticks = {column(value): axis_text(value) for value in round_values(low, high)}
    lines = []
    for name in drawn:
        cells = ["|" if at in ticks else " " for at in range(room + behind)]
        taken: set[int] = set()
        for letter, of in zip(LETTERS, series, strict=False):
            if of.get(name, 0) > 0:
                at = column(of[name])
                while at in taken:
                    at += 1
                taken.add(at)
                cells[at] = letter
        lines.append(f"{name:<{label}}{''.join(cells)}".rstrip())
    axis = " " * label
    for at, text in ticks.items():
        axis = axis.ljust(label + at) if len(axis) <= label + at else f"{axis} "
        axis += text
    return [*lines, axis]


def round_values(low: float, high: float) -> list[float]:
    """Powers of ten in a range of exponents; in one of less than two decades their doubles and fives too."""
    steps = (1, 2, 5) if high - low < 2 else (1,)
    values = [step * 10.0**decade for decade in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    return [value for value in values if low <= math.log10(value) <= high]


def axis_text(us: float) -> str:
    """A number of the axis with its unit: 500 us."""
    size, unit = next(each for each in _UNITS if us >= each[0] * (1 - 1e-9))
    return f"{us / size:g} {unit}"
