"""Plot of values with their intervals in text: a row for each value, a logarithmic axis."""

from __future__ import annotations

import math

from interpulse.tables.tail_plot import LEAST_WIDTH, MOST_WIDTH, axis_text, round_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def interval_plot(rows: Sequence[tuple[str, float, float | None, float | None]], name: str, width: int) -> list[str]:
    """Lines of at most `width` columns; none where there is no room or nothing to draw.

    Args:
        rows: label, value, low and high end, all in us; a row without ends has no interval.
        name: what the axis shows.
        width: columns.
    """
    drawn = [(label, at, at if low is None else low, at if high is None else high) for label, at, low, high in rows]
    drawn = [row for row in drawn if row[2] > 0]
    if width < LEAST_WIDTH or not drawn:
        return []
    low, high = math.log10(min(row[2] for row in drawn)), math.log10(max(row[3] for row in drawn))
    if high - low < 1:
        # A decade at least, so that the axis has a number.
        low, high = (low + high - 1) / 2, (low + high + 1) / 2
    label_width = max(len(name), *(len(row[0]) for row in drawn)) + 2
    room = min(width, MOST_WIDTH) - label_width - len("500 us")

    def column(value: float) -> int:
        return round((math.log10(value) - low) / (high - low) * (room - 1))

    ticks = {column(value): axis_text(value) for value in round_values(low, high)}
    lines = []
    for label, value, least, most in drawn:
        cells = ["|" if at in ticks else " " for at in range(room)]
        first, last = column(least), column(most)
        for at in range(first, last + 1):
            cells[at] = "-"
        cells[column(value)] = "o"
        lines.append(f"{label:<{label_width}}{''.join(cells)}".rstrip())
    axis = f"{name:<{label_width}}"
    for at, text in ticks.items():
        axis = axis.ljust(label_width + at) if len(axis) <= label_width + at else f"{axis} "
        axis += text
    return [*lines, axis]
