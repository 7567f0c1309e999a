"""Section on latency distributions; every decade of the tail has the same width."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
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

_TICKS = {0.5: "50 %", 0.1: "90 %", 1e-2: "99 %", 1e-3: "99.9 %", 1e-4: "99.99 %", 1e-5: "99.999 %", 1e-6: "99.9999 %"}


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


def chart(report: Report, kind: str, *, height: int = 380) -> Chart | None:
    """The distribution of a kind of request; None where there was none."""
    lines = []
    rows: list[list[Any]] = []
    whole = True
    for index, series in enumerate(report.series):
        summaries = [raw.get("latency_us", {}).get(kind, {}) for raw in series.raws]
        summaries = [summary for summary in summaries if summary.get("count")]
        if not summaries:
            continue
        counts: Counter[float] = sum((counted(raw, kind) for raw in series.raws), Counter())
        most = max(summary["max"] for summary in summaries)
        whole &= bool(counts)
        points = distinct(curve(counts, most)) if counts else _of_percentiles(summaries)
        marks = list(_marks(summaries))
        lines.append((index, series, points, marks))
        rows += [[series.label, "curve", x, share, left, None, None, None] for x, share, left in points]
        rows += [
            [series.label, mark["name"], mark["x"], mark["share"], None, mark["low"], mark["high"], mark["few"]]
            for mark in marks
        ]
    if not lines:
        return None
    title = {"read": "Tail of reads", "write": "Tail of writes", "all": "Tail of all requests"}[kind]
    what = {"read": "reads", "write": "writes", "all": "reads and writes together"}[kind]
    about = (
        f"Share of {what} that took no longer; each decade of the tail has the same height. The axis leaves out the "
        "fastest thousandth. "
        "Rings are percentiles with their 95 % intervals; open ones rest on fewer than ten requests, as do dotted ends."
        + ("" if whole else " Where a result holds no histogram, lines join its percentiles: run with --report.")
    )
    columns = ("case", "what", "latency_us", "share_slower", "requests_slower", "low_us", "high_us", "few")
    return Chart(f"latency-{kind}", title, about, columns, rows, partial(_draw, lines, height=height))


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


_Line = tuple[int, "Series", list[tuple[float, float, int]], list[dict[str, Any]]]


def _draw(lines: Sequence[_Line], drawing: Drawing, *, height: int) -> figure:
    from bokeh.models import FixedTicker

    every = [point for _, _, points, _ in lines for point in points]
    least = min(share for _, share, _ in every if share) / 2 if any(share for _, share, _ in every) else 0.1
    # A few reads that the cache answers are orders of magnitude faster than all others: they would take half the width.
    begins = [next((x for x, share, _ in points if share < _BEGINS), points[0][0]) for _, _, points, _ in lines]
    ends = [min(begins) * 0.9, max(x for x, *_ in every) * 1.1]
    found = drawing.figure(
        "latency, µs",
        "requests as fast or faster",
        drawing.range(max(ends[0], 1e-3), ends[1]),
        drawing.range(1.15, least),
        height=height,
        x_axis_type="log",
        y_axis_type="log",
    )
    found.yaxis.ticker = FixedTicker(ticks=[*_TICKS])
    found.ygrid.ticker = found.yaxis.ticker
    found.yaxis.major_label_overrides = dict(_TICKS)
    logarithmic(found.xaxis)
    drawn = []
    for index, series, points, marks in lines:
        like = {"line_color": colour(index), "line_width": 2, "name": series.label}
        sure = [point for point in points if point[2] >= _FEW]
        rest = points[max(len(sure) - 1, 0) :]
        for part, stroke in ((sure, dash(index)), (rest, [2, 4])):
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
    drawing.legend(found, [Key(series.label, colour(k), dash(k)) for k, series, *_ in lines])
    return found
