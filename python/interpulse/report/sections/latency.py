"""Section on latency distributions; every decade of the tail has the same width."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse.report.charts import PAPER, Drawing, Key, colour, dash, logarithmic
from interpulse.report.elements import Chart, Html, Section, prose
from interpulse.report.runs import Report, Series
from interpulse.runs.estimate import Estimate
from interpulse.runs.latency import KINDS
from interpulse.runs.result import PERCENTILES

if TYPE_CHECKING:
    from bokeh.plotting import figure

_FEW = 10
"""Beyond a percentile lie at least so many requests, or it is an anecdote."""

_NEAR = 0.008
"""Points of a curve that are nearer than this, in decades of the share beyond, are not drawn one by one."""

_SHARES = {percent: 1 - percent / 100 for percent in PERCENTILES if percent < 100}

_BEGINS = 0.999
"""The axis begins where so many are left: the fastest thousandth may lie beside it."""

TICKS = {0.5: "50 %", 0.1: "90 %", 1e-2: "99 %", 1e-3: "99.9 %", 1e-4: "99.99 %", 1e-5: "99.999 %", 1e-6: "99.9999 %"}

TITLES = {"read": "Tail of reads", "write": "Tail of writes", "all": "Tail of all requests"}

X_AXIS, Y_AXIS = "latency, µs", "requests as fast or faster"

NO_HISTOGRAM = "Where a result holds no histogram, lines join its percentiles: run with --report"


def section(report: Report) -> Section:
    """A chart for each kind of request that there was, but for the one on the first screen."""
    kinds = [kind for kind in KINDS if any(has(series, kind) for series in report.series)]
    charts: list[Chart | Html] = [found for kind in kinds[1:] if (found := chart(report, kind)) is not None]
    parts = charts or [prose("There was one kind of request: its latency is above.")]
    return Section("latency", "Latency", parts, "writes, and all requests together")


def has(series: Series, kind: str) -> bool:
    """Whether requests of this kind were completed."""
    return bool(series.first.get("latency_us", {}).get(kind, {}).get("count"))


def counted(raw: Mapping[str, Any], kind: str) -> Counter[float]:
    """Requests by the largest latency that their bucket counts, in us; empty where the result has no histograms."""
    histograms = raw.get("histogram_us", {})
    found: Counter[float] = Counter()
    for each in ("read", "write") if kind == "all" else (kind,):
        for end, count in histograms.get(each, ()):
            found[end] += count
    return found


def curve(counts: Mapping[float, int], most: float) -> list[tuple[float, float, int]]:
    """Latency in us, the share of requests that were slower, and how many: from all to none, which is at `most`."""
    total = sum(counts.values())
    left = total
    points = [(min(*counts, most), 1.0, total)]
    for end in sorted(counts):
        left -= counts[end]
        points.append((min(end, most), left / total, left))
    return points


def distinct(points: Sequence[tuple[float, float, int]]) -> list[tuple[float, float, int]]:
    """The points of a curve that are distinct on paper; the first and the last ones stay."""
    kept: list[tuple[float, float, int]] = []
    for point in points:
        if not kept or not point[1] or math.log10(kept[-1][1]) - math.log10(point[1]) >= _NEAR:
            kept.append(point)
    return kept


@dataclass(frozen=True)
class Line:
    """Distribution of a case, over all of its seeds."""

    index: int
    """Of the case, for its look."""
    series: Series
    points: list[tuple[float, float, int]]
    marks: list[dict[str, Any]]
    """Percentiles."""
    whole: bool
    """Whether the points are those of a histogram."""


def lines(report: Report, kind: str) -> list[Line]:
    """The distributions of a kind of request, without cases that had none."""
    found = []
    for index, series in enumerate(report.series):
        summaries = [raw.get("latency_us", {}).get(kind, {}) for raw in series.raws]
        summaries = [summary for summary in summaries if summary.get("count")]
        if not summaries:
            continue
        counts: Counter[float] = sum((counted(raw, kind) for raw in series.raws), Counter())
        most = max(summary["max"] for summary in summaries)
        points = distinct(curve(counts, most)) if counts else _of_percentiles(summaries)
        found.append(Line(index, series, points, list(_marks(summaries)), bool(counts)))
    return found


def chart(report: Report, kind: str, *, height: int = 380) -> Chart | None:
    """The distribution of a kind of request; None where there was none."""
    drawn = lines(report, kind)
    if not drawn:
        return None
    rows: list[list[Any]] = []
    for line in drawn:
        label = line.series.label
        rows += [[label, "curve", x, share, left, None, None, None] for x, share, left in line.points]
        rows += [
            [label, mark["name"], mark["x"], mark["share"], None, mark["low"], mark["high"], mark["few"]]
            for mark in line.marks
        ]
    what = {"read": "reads", "write": "writes", "all": "reads and writes together"}[kind]
    about = (
        f"Share of {what} that took no longer; each decade of the tail has the same height. The axis leaves out the "
        "fastest thousandth. "
        "Rings are percentiles with their 95 % intervals; open ones rest on fewer than ten requests, as do dotted ends."
        + ("" if all(line.whole for line in drawn) else f" {NO_HISTOGRAM}.")
    )
    columns = ("case", "what", "latency_us", "share_slower", "requests_slower", "low_us", "high_us", "few")
    return Chart(f"latency-{kind}", TITLES[kind], about, columns, rows, partial(_draw, drawn, height=height))


def _of_percentiles(summaries: Sequence[Mapping[str, Any]]) -> list[tuple[float, float, int]]:
    """Where there is no histogram: the percentiles, of several seeds their means."""
    total = sum(int(summary["count"]) for summary in summaries)
    points = [
        (sum(summary[PERCENTILES[percent]] for summary in summaries) / len(summaries), share, round(share * total))
        for percent, share in _SHARES.items()
        if share * total >= 1
    ]
    return [*points, (max(summary["max"] for summary in summaries), 0.0, 0)]


def _marks(summaries: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The percentiles with what is known of their chance: over seeds, or within the only run."""
    for percent, share in _SHARES.items():
        name = PERCENTILES[percent]
        values = [summary[name] for summary in summaries]
        mean = Estimate.of(values)
        low, high = mean.low, mean.high
        if len(values) == 1:
            low, high = summaries[0].get("interval", {}).get(name, (None, None))
        few = any(name in summary.get("few", ()) for summary in summaries)
        if share * sum(summary["count"] for summary in summaries) >= 1:
            yield {"name": name, "x": mean.value, "share": share, "low": low, "high": high, "few": few}


def ends(of: Sequence[Line]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Both ends of the axis of latency, and of that of the share beyond."""
    every = [point for line in of for point in line.points]
    least = min(share for _, share, _ in every if share) / 2 if any(share for _, share, _ in every) else 0.1
    # A few reads that the cache answers are orders of magnitude faster than all others: they would take half the width.
    begins = [next((x for x, share, _ in line.points if share < _BEGINS), line.points[0][0]) for line in of]
    return (max(min(begins) * 0.9, 1e-3), max(x for x, *_ in every) * 1.1), (1.15, least)


def parted(line: Line) -> tuple[list[tuple[float, float, int]], list[tuple[float, float, int]]]:
    """The points of a line, and those at its end beyond which there are few requests."""
    sure = [point for point in line.points if point[2] >= _FEW]
    return sure, line.points[max(len(sure) - 1, 0) :]


def _draw(of: Sequence[Line], drawing: Drawing, *, height: int) -> figure:
    from bokeh.models import FixedTicker

    across, up = ends(of)
    least = up[1]
    found = drawing.figure(
        X_AXIS,
        Y_AXIS,
        drawing.range(*across),
        drawing.range(*up),
        height=height,
        x_axis_type="log",
        y_axis_type="log",
    )
    found.yaxis.ticker = FixedTicker(ticks=[*TICKS])
    found.ygrid.ticker = found.yaxis.ticker
    found.yaxis.major_label_overrides = dict(TICKS)
    logarithmic(found.xaxis)
    drawn = []
    for line in of:
        index, series, marks = line.index, line.series, line.marks
        like = {"line_color": colour(index), "line_width": 2, "name": series.label}
        for part, stroke in zip(parted(line), (dash(index), [2, 4]), strict=True):
            source = {
                "x": [x for x, _, _ in part],
                "y": [max(share, least) for _, share, _ in part],
                "left": [left for _, _, left in part],
                "at": [100 * (1 - share) for _, share, _ in part],
                "case": [series.label] * len(part),
            }
            drawn.append(found.step("x", "y", source=source, mode="after", line_dash=stroke, **like))
        lows, highs, shares = ([m[key] for m in marks if m["low"] is not None] for key in ("low", "high", "share"))
        found.segment(lows, shares, highs, shares, line_alpha=0.35, **like | {"line_width": 7})
        found.scatter(
            [mark["x"] for mark in marks],
            [mark["share"] for mark in marks],
            size=7,
            fill_color=[PAPER if mark["few"] else colour(index) for mark in marks],
            **like | {"line_width": 1.5},
        )
    tips = [
        ("case", "@case"),
        ("latency", "@x{0,0.0} µs"),
        ("as fast or faster", "@at{0.0000} %"),
        ("slower", "@left{0,0}"),
    ]
    drawing.hover(found, tips, drawn)
    drawing.legend(found, [Key(line.series.label, colour(line.index), dash(line.index)) for line in of])
    return found
