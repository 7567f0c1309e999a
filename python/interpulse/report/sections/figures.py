"""Section on figures: every figure of every case with its ratios and intervals, as a table and plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse.report import rounding
from interpulse.report.charts import MUTED, PAPER, Drawing, Key, colour, logarithmic
from interpulse.report.elements import Chart, Html, Section, prose, table
from interpulse.report.runs import Pair, Report, Series
from interpulse.runs.comparison import SHORTER, Row, figures
from interpulse.runs.estimate import Estimate
from interpulse.runs.latency import UNSURE
from interpulse.tables.format import short_figure

if TYPE_CHECKING:
    from bokeh.plotting import figure

_NONE = "-"

_MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle")


def section(report: Report) -> Section:
    """One table; then a plot of ratios for each pair."""
    parts: list[Chart | Html] = []
    if len(report.sides) > 1:
        places = [[side, ", ".join(run.place for run in runs)] for side, runs in report.sides.items()]
        parts.append(table("What was compared", ["side", "results"], places, figures=False))
    parts.append(_table(report))
    if pairs := [pair for pair in report.pairs if _known(pair)]:
        parts.append(_chart(pairs))
    # The head of the page already names interrupted runs.
    every = (note for found in report.comparisons for note in found.notes)
    if notes := [note for note in every if note not in report.notes and not note.endswith(SHORTER)]:
        parts.append(prose(*dict.fromkeys(f"{note}." for note in notes), kind="note"))
    brief = "throughput, every percentile, write amplification, suspensions, power"
    return Section("figures", "Every figure", parts, brief if not report.pairs else f"{brief}; ratios with intervals")


def _table(report: Report) -> Html:
    """A row for each figure: the cases, then what each pair changes."""
    several = len(report.pairs) > 1
    head = ["figure", *(series.label for series in report.series)]
    head += [f"{pair.after.label} / {pair.before.label}" if several else "ratio" for pair in report.pairs]
    by_figure = [{row.figure: row for row in pair.rows} for pair in report.pairs]
    rows = []
    for name, unit, read in figures():
        cells = [figure_text(series, name, read) for series in report.series]
        if any(cell != _NONE for cell in cells):
            ratios = [_ratio(of.get(name)) for of in by_figure]
            rows.append([f"{name}, {_print(unit)}" if unit else name, *cells, *ratios])
    return table("Every figure of every case", head, rows)


def _print(unit: str) -> str:
    return unit.replace("us", "µs").replace("uJ", "µJ")


def _ratio(row: Row | None) -> str:
    """A ratio, its interval and whether that leaves out 1."""
    if row is None or row.ratio is None:
        return _NONE
    if row.low is None or row.high is None:
        return f"{row.ratio:.2f}" if 0.1 <= row.ratio < 100 else f"{row.ratio:.3g}"
    differs = " differs" if row.differs else ""
    known = rounding.known(row.ratio, row.low, row.high)
    return f"{known} ({rounding.interval(row.ratio, row.low, row.high)}){differs}"


def figure_text(series: Series, name: str, read: Callable[[Mapping[str, Any]], float | None]) -> str:
    """A figure with what is known of its chance; a dash where there is none."""
    known = [value for value in map(read, series.raws) if value is not None]
    if len(known) < len(series.raws) or not known:
        return _NONE
    kind, _, measure = name.partition(" ")
    summaries = [raw.get("latency_us", {}).get(kind, {}) for raw in series.raws]
    mark = UNSURE if any(measure in summary.get("few", ()) for summary in summaries) else ""
    of = Estimate.of(known)
    low, high = of.low, of.high
    if len(known) == 1:
        low, high = summaries[0].get("interval", {}).get(measure, (None, None))
    if low is None or high is None:
        return f"{mark}{short_figure(of.value)}"
    return f"{mark}{rounding.known(of.value, low, high)} ({rounding.interval(of.value, low, high)})"


def _known(pair: Pair) -> list[Row]:
    return [row for row in pair.rows if row.ratio is not None]


def _chart(pairs: Sequence[Pair]) -> Chart:
    one, many = pairs[0], len(pairs) > 1
    sure = one.rows[0].pairs > 1
    chance = (
        f"Geometric means over {one.rows[0].pairs} paired seeds with their 95 % interval; filled where that leaves "
        "out 1."
        if sure
        else "One seed: no interval, and no telling a difference from chance."
    )
    of = (
        "each case over those of the first"
        if many
        else f"\u201c{one.after.label}\u201d over \u201c{one.before.label}\u201d"
    )
    about = f"Figures of {of}, as ratios; 1 is no difference. {chance}"
    columns = ("compared", "figure", "unit", "one", "other", "ratio", "low", "high")
    rows = [
        [_name(pair), row.figure, row.unit, row.a, row.b, row.ratio, row.low, row.high]
        for pair in pairs
        for row in _known(pair)
    ]
    return Chart("ratio-1", "Ratios of all figures", about, columns, rows, partial(_draw, pairs))


def _name(pair: Pair) -> str:
    return f"{pair.after.label} / {pair.before.label}"


def _interval(row: Row) -> str:
    if row.ratio is None or row.low is None or row.high is None:
        return _NONE
    return rounding.interval(row.ratio, row.low, row.high)


def _draw(pairs: Sequence[Pair], drawing: Drawing) -> figure:
    from bokeh.models import ColumnDataSource, Span

    names = list(dict.fromkeys(row.figure for pair in pairs for row in _known(pair)))
    every = [row for pair in pairs for row in _known(pair)]
    ends = [end for row in every for end in (row.low or row.ratio, row.high or row.ratio) if end]
    reach = max(1.05, *(max(end, 1 / end) for end in ends))
    found = drawing.figure(
        _name(pairs[0]) if len(pairs) == 1 else "ratio",
        "",
        drawing.range(reach**-1.1, reach**1.1),
        names[::-1],
        height=90 + round((14 + 4 * len(pairs)) * len(names)),
        x_axis_type="log",
    )
    logarithmic(found.xaxis)
    found.add_layout(Span(location=1, dimension="height", line_color=MUTED, line_dash="dashed"))
    drawn, keys = [], []
    for index, pair in enumerate(pairs):
        rows, ink = _known(pair), colour(index + 1 if len(pairs) > 1 else 0)
        # Beside each other, the first at the top.
        offset = 0.6 * (0.5 - (index + 0.5) / len(pairs))
        data: dict[str, Any] = {
            "y": [(row.figure, offset) for row in rows],
            "figure": [row.figure for row in rows],
            "compared": [_name(pair)] * len(rows),
            "ratio": [row.ratio for row in rows],
            "low": [row.low or row.ratio for row in rows],
            "high": [row.high or row.ratio for row in rows],
            "interval": [_interval(row) for row in rows],
            "fill": [ink if row.differs else PAPER for row in rows],
        }
        source = ColumnDataSource(data)
        like = {"line_color": ink, "line_width": 2, "name": _name(pair)}
        found.segment("low", "y", "high", "y", source=source, **like)
        look = {"marker": _MARKERS[index % len(_MARKERS)], "size": 8, "fill_color": "fill"}
        drawn.append(found.scatter("ratio", "y", source=source, **look, **like))
        keys.append(Key(_name(pair), ink, "solid"))
    tips = [("", "@compared"), ("figure", "@figure"), ("ratio", "@ratio{0.0000}"), ("95 % interval", "@interval")]
    drawing.hover(found, tips, drawn)
    drawing.legend(found, keys)
    return found
