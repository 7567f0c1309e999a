"""Section on differences: ratios with intervals, as a plot and a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from interpulse.report.charts import COLOURS, INK, MUTED, Drawing, logarithmic
from interpulse.report.elements import Chart, Html, Section, prose, table
from interpulse.report.runs import Report
from interpulse.runs.comparison import SHORTER, Comparison, Row
from interpulse.tables.format import short_figure

if TYPE_CHECKING:
    from bokeh.plotting import figure

_NONE = "-"


def section(report: Report) -> Section | None:
    """A chart and a table for each pair; None with nothing to compare."""
    if not report.comparisons:
        return None
    parts: list[Chart | Html] = []
    if len(report.sides) > 1:
        places = [[side, ", ".join(run.place for run in runs)] for side, runs in report.sides.items()]
        parts.append(table("What was compared", ["side", "results"], places, figures=False))
    for number, found in enumerate(report.comparisons):
        parts += _parts(number, found, [*report.sides], report)
    return Section("comparison", "Comparison", parts)


def _parts(number: int, found: Comparison, sides: Sequence[str], report: Report) -> Iterator[Chart | Html]:
    second = sides[number + 1] if len(sides) > 1 else ""
    for case in dict.fromkeys(row.case for row in found.rows):
        rows = [row for row in found.rows if row.case == case]
        before, _, after = case.partition(" -> ")
        one, other = (before, after or before) if not second else (sides[0], second)
        title = f"{other} over {one}" + (f", {case}" if second and len({row.case for row in found.rows}) > 1 else "")
        name = f"ratio-{number + 1}" + (f"-{_index(found, case)}" if second else "")
        known = [row for row in rows if row.ratio is not None]
        several = rows[0].pairs > 1
        if known:
            yield Chart(
                name,
                title,
                f"Each figure of {other} divided by that of {one}, on a logarithmic axis; 1 is no difference. "
                + (
                    f"Geometric means over {rows[0].pairs} paired seeds with their 95 % interval; filled where the "
                    "interval leaves out 1."
                    if several
                    else "One seed: no interval, and no telling a difference from chance."
                ),
                ("figure", "unit", "one", "other", "ratio", "low", "high"),
                [[row.figure, row.unit, row.a, row.b, row.ratio, row.low, row.high] for row in known],
                partial(_draw, known, f"{other} / {one}"),
            )
        heads = ["figure", one, other, "ratio", *["95 % interval", "differs"] * several]
        yield table(f"Figures: {title}", heads, [_cells(row, several=several) for row in rows])
    seen = [[each.key, each.a or "not there", each.b or "not there", each.case] for each in found.differences]
    if seen:
        yield table("What differs in the configuration", ["setting", "before", "after", "case"], seen, figures=False)
    elif not any("does not hold its configuration" in note for note in found.notes):
        yield prose("The configurations are the same.")
    # The head of the page already names interrupted runs.
    if notes := [note for note in found.notes if note not in report.notes and not note.endswith(SHORTER)]:
        yield prose(*(f"{note}." for note in notes), kind="note")


def _index(found: Comparison, case: str) -> int:
    return [*dict.fromkeys(row.case for row in found.rows)].index(case) + 1


def _cells(row: Row, *, several: bool) -> list[str]:
    ratio = _NONE if row.ratio is None else f"{row.ratio:.4g}"
    interval = _NONE if row.low is None or row.high is None else f"{row.low:.4g} .. {row.high:.4g}"
    name = f"{row.figure}, {row.unit}" if row.unit else row.figure
    return [name, short_figure(row.a), short_figure(row.b), ratio, *[interval, "yes" if row.differs else ""] * several]


def _draw(rows: Sequence[Row], label: str, drawing: Drawing) -> figure:
    from bokeh.models import ColumnDataSource, Span

    names = [row.figure for row in rows]
    ratios = [row.ratio or 1.0 for row in rows]
    lows = [row.low or ratio for row, ratio in zip(rows, ratios, strict=True)]
    highs = [row.high or ratio for row, ratio in zip(rows, ratios, strict=True)]
    reach = max(1.05, *(max(high, 1 / low) for low, high in zip(lows, highs, strict=True)))
    found = drawing.figure(
        label,
        "",
        drawing.range(reach**-1.1, reach**1.1),
        names[::-1],
        height=90 + 18 * len(rows),
        x_axis_type="log",
    )
    logarithmic(found.xaxis)
    found.add_layout(Span(location=1, dimension="height", line_color=MUTED, line_dash="dashed"))
    data = {
        "figure": names,
        "ratio": ratios,
        "low": lows,
        "high": highs,
        "interval": [_cells(row, several=True)[4] for row in rows],
        "fill": [COLOURS[0] if row.differs else "#ffffff" for row in rows],
    }
    source = ColumnDataSource(data)
    found.segment("low", "figure", "high", "figure", source=source, line_color=INK, line_width=2)
    like = {"size": 9, "line_color": COLOURS[0], "line_width": 2, "fill_color": "fill"}
    points = found.scatter("ratio", "figure", source=source, **like)
    drawing.hover(found, [("figure", "@figure"), ("ratio", "@ratio{0.0000}"), ("95 % interval", "@interval")], [points])
    return found
