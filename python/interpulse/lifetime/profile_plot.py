"""Profile of a life on the page: its plot, its table, and the shading of time without power in all plots over age."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from interpulse.lifetime.profile import YEAR_DAYS
from interpulse.lifetime.result import Life
from interpulse.report.charts import COLOURS, HEIGHT, MUTED, Drawing, Key
from interpulse.report.elements import Chart, Section, table

if TYPE_CHECKING:
    from bokeh.plotting import figure

OFF = "without power"
GREY = COLOURS[6]


def section(life: Life) -> Section:
    """The profile: temperature and load over age, and a table of the periods."""
    warm = [each.celsius for each in life.periods]
    writes = [each.dwpd if each.power else 0.0 for each in life.periods]
    charts = [
        _chart(life, "temperature", "Temperature, °C", "Temperature of the drive, with and without power.", warm),
        _chart(life, "load", "Drive writes per day", "Host writes per day, in capacities.", writes),
    ]
    lines = [[f"{each.begin / YEAR_DAYS:.2f}", *each.cells] for each in life.periods]
    head = ["from, years", "power", "temperature, °C", "drive writes per day", "load"]
    shown = [chart for chart in charts if any(row[-1] is not None for row in chart.rows)]
    brief = f"{len(life.periods)} periods"
    return Section("profile", "Profile", [*shown, table("Periods", head, lines)], brief, shares="life")


def _chart(life: Life, name: str, title: str, about: str, values: Sequence[float | None]) -> Chart:
    spans = list(_spans(life))
    power = ["on" if each.power else "off" for each in life.periods]
    rows = [
        [begin * YEAR_DAYS, end * YEAR_DAYS, power[k], value]
        for (k, begin, end), value in zip(spans, values, strict=True)
    ]
    columns = ("from_days", "to_days", "power", name)
    return Chart(f"profile-{name}", title, about, columns, rows, partial(_draw, life, title, values))


def shade(life: Life, drawn: figure) -> list[Key]:
    """Shades time without power and marks other changes. Returns the entries of the legend."""
    from bokeh.models import BoxAnnotation, Span

    keys = []
    for k, begin, end in _spans(life):
        if not life.periods[k].power:
            box = BoxAnnotation(left=begin, right=end, fill_color=GREY, fill_alpha=0.2, level="underlay", name=OFF)
            drawn.add_layout(box)
            keys = [Key(OFF, GREY, hatch=" ")]
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


def _draw(life: Life, title: str, values: Sequence[float | None], drawing: Drawing) -> figure:
    known = [0.0, *(each for each in values if each is not None)]
    years = drawing.shared("age", 0, life.years * 1.02)
    drawn = drawing.figure(
        "age, years",
        title.partition(", ")[2] or "DWPD",
        years,
        drawing.range(min(known), max(known) * 1.1),
        height=HEIGHT // 2,
    )
    keys = shade(life, drawn)
    x: list[float] = []
    y: list[float] = []
    for (_, begin, end), value in zip(_spans(life), values, strict=True):
        x += [begin, end]
        y += [float("nan") if value is None else value] * 2
    drawn.line(x, y, line_width=2, line_color=COLOURS[0], name=title)
    drawing.legend(drawn, keys)
    return drawn
