"""Page about a life: tails, write amplification, errors, bad blocks and power by age."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse.lifetime import profile_plot
from interpulse.lifetime.profile import YEAR_DAYS
from interpulse.lifetime.result import FIGURES, Life, Lifetime
from interpulse.lifetime.sentences import sentences
from interpulse.report.charts import Drawing, Key, colour, dash, logarithmic
from interpulse.report.elements import Chart, Html, Section, micro, prose, table
from interpulse.report.page import render
from interpulse.tables.format import short_figure

if TYPE_CHECKING:
    from bokeh.plotting import figure

NAME = "life.html"

_MOST_COLUMNS = 10


@dataclass(frozen=True)
class _Plot:
    """A plot over age: its figures by the name in the legend."""

    name: str
    title: str
    about: str
    figures: dict[str, str]
    log: bool = False
    scale: float = 1.0


_TAILS = _Plot(
    "reads",
    "Read latency, µs",
    "Latency of reads in the window at each age, logarithmic.",
    {"p99": "read_p99_us", "p99.9": "read_p99_9_us", "p99.99": "read_p99_99_us"},
    log=True,
)
_OTHERS = (
    _Plot(
        "writes",
        "Write latency, µs",
        "Latency of writes, logarithmic.",
        {"p99": "write_p99_us", "p99.9": "write_p99_9_us"},
        log=True,
    ),
    _Plot("waf", "Write amplification", "Units programmed per unit that the host wrote.", {"": "waf"}),
    _Plot("retries", "Retried reads, %", "Page reads that needed retry steps.", {"": "retried_share"}, scale=100),
    _Plot(
        "rber",
        "Raw bit error rate",
        "Errors per bit before correction, logarithmic.",
        {"": "raw_bit_error_rate"},
        log=True,
    ),
    _Plot("bad", "Bad blocks", "Super blocks that have failed, of the drives that live.", {"": "bad_blocks"}),
    _Plot(
        "suspends",
        "Suspensions",
        "Suspended programs and erases in the window.",
        {"programs": "program_suspends", "erases": "erase_suspends"},
    ),
    _Plot("refresh", "Blocks rewritten", "Blocks that refresh and read reclaim rewrote in the window.",
          {"refresh": "refreshed_blocks", "read reclaim": "reclaimed_blocks"}),
    _Plot("power", "Power, mW", "Mean power of the drive in the window.", {"": "power_mw"}),
)  # fmt: skip


def page(life: Life, title: str) -> bytes:
    """The page as a file. Raises ConfigError if Bokeh is not installed."""
    about = f"{life.years:g} years at {life.dwpd:g} drive writes per day; {life.seeds} seeds; bars are 95 % intervals"
    others = [chart for plot in _OTHERS if (chart := _chart(plot, life)) is not None]
    sections = [
        _answer(life),
        *([profile_plot.section(life)] if life.periods else []),
        Section("figures", "More by age", others, f"{len(others)} plots", shares="life"),
        *(_table(number, each) for number, each in enumerate(life.cases, start=1)),
        Section("method", "How to read it", [_method()]),
    ]
    notes = [f"{each.case}: {note}" for each in life.cases for note in each.notes]
    return render(title, about, sections, notes)


def _answer(life: Life) -> Section:
    lines = [f"<li>{html.escape(micro(line))}.</li>" for each in life.cases for line in sentences(each, life)]
    parts: list[Chart | Html] = [Html(f'<ul class="answer">{"".join(lines)}</ul>')]
    if (chart := _chart(_TAILS, life)) is not None:
        parts.append(chart)
    return Section("life", "Life", parts, folds=False)


def _chart(plot: _Plot, life: Life) -> Chart | None:
    """A plot with its numbers; None if no window has such a figure other than zero."""
    lines = [
        (number, each, legend, key)
        for number, each in enumerate(life.cases)
        for legend, key in plot.figures.items()
        if any(any(age.values.get(key, ())) for age in each.ages)
    ]
    if not lines:
        return None
    rows = []
    for _, each, _, key in lines:
        for age in each.ages:
            if (mean := age.estimate(key)) is not None:
                rows.append([each.case, key, age.day, age.cycles, mean.value, mean.low, mean.high])
    columns = ("case", "figure", "age_days", "cycles", "mean", "low", "high")
    return Chart(plot.name, plot.title, plot.about, columns, rows, partial(_draw, plot, lines, life))


def _draw(plot: _Plot, lines: Sequence[tuple[int, Lifetime, str, str]], life: Life, drawing: Drawing) -> figure:
    means = {
        (number, key): [(age.day / YEAR_DAYS, mean) for age in each.ages if (mean := age.estimate(key)) is not None]
        for number, each, _, key in lines
    }
    ends = [
        plot.scale * value
        for points in means.values()
        for _, mean in points
        for value in (mean.value, mean.high if mean.high is not None else mean.value)
        if value > 0
    ]
    high = max(ends)
    span = drawing.range(min(ends) / 1.5, high * 1.3) if plot.log else drawing.range(0, high * 1.08)
    scale: dict[str, Any] = {"y_axis_type": "log"} if plot.log else {}
    years = drawing.shared("age", 0, life.years * 1.02)
    drawn = drawing.figure("age, years", plot.title, years, span, **scale)
    if plot.log and min(ends) > 0.1:
        logarithmic(drawn.yaxis)
    keys, dots = profile_plot.shade(life, drawn), []
    several = len(plot.figures) > 1
    for number, each, legend, key in lines:
        order = list(plot.figures.values()).index(key)
        name = f"{each.case}: {legend}" if several else each.case
        stroke = dash(order if several else number)
        points = [(x, mean) for x, mean in means[number, key] if not plot.log or mean.value > 0]
        like = {"line_color": colour(number), "name": name}
        x, y = [x for x, _ in points], [plot.scale * mean.value for _, mean in points]
        drawn.line(x, y, line_width=2, line_dash=stroke, **like)
        sure = [(x, mean) for x, mean in points if mean.low is not None and mean.high is not None]
        least = span.start
        drawn.segment(
            [x for x, _ in sure],
            [max(least, plot.scale * (mean.low or 0.0)) for _, mean in sure],
            [x for x, _ in sure],
            [plot.scale * (mean.high or 0.0) for _, mean in sure],
            line_width=2,
            **like,
        )
        source = {"x": x, "y": y, "what": [name] * len(x)}
        dots.append(drawn.scatter("x", "y", source=source, size=6, fill_color=colour(number), **like))
        keys.append(Key(name, colour(number), stroke))
    drawing.hover(drawn, [("", "@what"), ("age", "@x{0.00} years"), ("value", "@y{0,0.0[0000]}")], dots)
    drawing.legend(drawn, keys)
    return drawn


def _table(number: int, each: Lifetime) -> Section:
    shown = [name for name in FIGURES if any(any(age.values.get(name, ())) for age in each.ages)]
    charts = []
    for first in range(0, len(shown), _MOST_COLUMNS):
        names = shown[first : first + _MOST_COLUMNS]
        head = ["age, years", "cycles", "drives", *(name.replace("_", " ") for name in names)]
        lines = []
        for age in each.ages:
            means = [age.estimate(name) for name in names]
            cells = ["-" if mean is None else short_figure(mean.value) for mean in means]
            lines.append([f"{age.day / YEAR_DAYS:.2f}", f"{age.cycles:,.0f}", str(len(age.seeds)), *cells])
        charts.append(table(f"{each.case}: means over the seeds at each age", head, lines))
    return Section(f"windows-{number}", f"Windows of {each.case}", charts, f"{len(each.ages)} windows")


def _method() -> Html:
    return prose(
        "At each age the load of the configuration runs in a window of full simulation. Between windows the wear of "
        "every block, the blocks that failed, and the ages and reads of the data are sampled from the rates that the "
        "last window measured: docs/LIFE.md.",
        "Each seed is one drive with its own endurances. A drive ends when a lane has no reserved block left for one "
        "that failed, or when a read of the host is uncorrectable; later windows are of the other drives.",
    )
