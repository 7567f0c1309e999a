"""Profile of a life on the page: its plot, its table, and the shading of time without power in all plots over age."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from interpulse.lifetime.profile import YEAR_DAYS
from interpulse.lifetime.result import Life
from interpulse.report.charts import COLOURS, GRID, MUTED, Drawing, Key, dash
from interpulse.report.elements import Chart, Section, table

if TYPE_CHECKING:
    from bokeh.plotting import figure

OFF = "without power"
COLUMNS = ("from_days", "to_days", "power", "temperature_c", "dwpd")


def section(life: Life) -> Section:
    """The profile: temperature and load over age, and a table of the periods."""
    rows = [[begin * YEAR_DAYS, end * YEAR_DAYS, *_of(life, k)] for k, begin, end in _spans(life)]
    about = "Temperature and drive writes per day; without power nothing is written."
    chart = Chart("profile", "Temperature, °C, and drive writes per day", about, COLUMNS, rows, partial(_draw, life))
    lines = [[f"{each.begin / YEAR_DAYS:.2f}", *each.cells] for each in life.periods]
    head = ["from, years", "power", "temperature, °C", "drive writes per day", "load"]
    return Section(
        "profile", "Profile", [chart, table("Periods", head, lines)], f"{len(life.periods)} periods", shares="life"
    )


def shade(life: Life, drawn: figure) -> list[Key]:
    """Shades time without power and marks other changes. Returns the entries of the legend."""
    from bokeh.models import BoxAnnotation, Span

    keys = []
    for k, begin, end in _spans(life):
        if not life.periods[k].power:
            box = BoxAnnotation(left=begin, right=end, fill_color=GRID, fill_alpha=0.8, level="underlay", name=OFF)
            drawn.add_layout(box)
            keys = [Key(OFF, MUTED, hatch=" ")]
        elif k:
            drawn.add_layout(
                Span(location=begin, dimension="height", line_color=MUTED, line_dash="dotted", level="underlay")
            )
    return keys


def _spans(life: Life) -> Iterator[tuple[int, float, float]]:
    """Number, begin and end of each period, in years."""
    if not life.periods:
        return
    begins = [each.begin / YEAR_DAYS for each in life.periods]
    yield from zip(range(len(begins)), begins, [*begins[1:], life.years], strict=True)


def _of(life: Life, k: int) -> list[str | float | None]:
    period = life.periods[k]
    return ["on" if period.power else "off", period.celsius, period.dwpd if period.power else 0.0]


def _draw(life: Life, drawing: Drawing) -> figure:
    warm = [each.celsius for each in life.periods if each.celsius is not None]
    rates: list[float | None] = [each.dwpd if each.power else 0.0 for each in life.periods]
    high = max([*warm, *(each or 0.0 for each in rates)]) * 1.1
    years = drawing.shared("age", 0, life.years * 1.02)
    drawn = drawing.figure("age, years", "°C; drive writes/day", years, drawing.range(min([0.0, *warm]), high))
    keys = shade(life, drawn)
    lines: Sequence[tuple[str, list[float | None]]] = (
        ("temperature, °C", [each.celsius for each in life.periods]),
        ("drive writes per day", rates),
    )
    for number, (name, values) in enumerate(lines):
        x: list[float] = []
        y: list[float] = []
        for (_, begin, end), value in zip(_spans(life), values, strict=True):
            x += [begin, end]
            y += [float("nan") if value is None else value] * 2
        drawn.line(x, y, line_width=2, line_color=COLOURS[number], line_dash=dash(number), name=name)
        keys.append(Key(name, COLOURS[number], dash(number)))
    drawing.legend(drawn, keys)
    return drawn
