"""Plots of `suspend-tlc`, laid out as the article's Figures 10, 12 and 13."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from interpulse.experiments.suspend_tlc_points import CDF, HEADLINE, LIMITS, MIXES, Measured, Point
from interpulse.plotting import plots
from interpulse.plotting.plots import COLOURS, Plot, breadth, legend, legend_outside, logarithmic, mark, panels
from interpulse.runs.result import Result
from interpulse.studies.context import Context
from interpulse.studies.outcome import Curve
from interpulse.studies.published import Published, marked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from interpulse.runs.latency import Kind

LABELS = {0: "no suspend", 5: "at most 5", 10: "at most 10"}
WIDTH = 0.27


def all_plots(context: Context, measured: Measured) -> list[Plot]:
    """Plots of a finished experiment."""
    expected = context.expected().rows
    gain, base = (expected[f"{name}_qd64_25w"].number for name in ("iops_gain", "iops_none"))
    cut, before = (expected[f"mean_latency_{name}_us_qd64_25w"].number for name in ("gain", "none"))
    label = marked("published", expected["iops_none_qd64_25w"]) + marked(", gain", expected["iops_gain_qd64_25w"])
    return [
        Plot(
            "bandwidth_and_latency",
            lambda: _bars(measured, (base, base + gain), (before, before - cut), label),
            "Throughput and mean latency by limit",
        ),
        Plot("qos", lambda: _qos(measured, expected), "99.99th percentiles of all requests and of reads, by limit"),
        Plot("latency_cdf", lambda: _cdf(measured), "Share of requests above a latency"),
    ]


def cdf(measured: Measured) -> Curve:
    """Latency distributions of Figure 12: share of requests above each bucket's upper end."""
    lines = [
        (limit, kind, upper_us, above)
        for limit in LIMITS
        for kind in _KINDS
        for upper_us, above in _survival(measured, limit, kind)
    ]
    return Curve("latency_cdf", ("max_suspends", "kind", "latency_us", "share_above"), lines)


_KINDS = {"read": ("read",), "write": ("write",), "all": ("read", "write")}
"""Panels of the distribution, with the histograms that each sums."""


def _survival(measured: Measured, limit: int, kind: str) -> list[tuple[float, float]]:
    """Latencies and the share of slower requests, over all repetitions."""
    counts: Counter[float] = Counter()
    for result in measured[CDF.name(limit)]:
        for part in _KINDS[kind]:
            for upper_us, count in result.raw["histogram_us"][part]:
                counts[upper_us] += count
    left = total = counts.total()
    points = []
    for upper_us in sorted(counts):
        left -= counts[upper_us]
        points.append((upper_us, left / total))
    return points


def _bars(measured: Measured, kiops: tuple[float, float], mean_us: tuple[float, float], label: str) -> Figure:
    figure, (left, right) = panels(1, 2)
    grouped(left, measured, lambda result: result.iops / 1e3)
    grouped(right, measured, lambda result: result.latency_us["all"]["mean"])
    left.set_ylabel("thousand requests per second")
    right.set_ylabel("mean latency, us")
    for axis, values in ((left, kiops), (right, mean_us)):
        at = MIXES.index(HEADLINE)
        mark(axis, [at - WIDTH, at + WIDTH], values, label)
    legend(left, columns=2)
    return figure


def _qos(measured: Measured, expected: Mapping[str, Published]) -> Figure:
    figure, (left, right) = panels(1, 2)
    panes: tuple[tuple[Axes, Kind, str], ...] = ((left, "all", "total"), (right, "read", "read"))
    gains = {name: expected[f"{name}_p99.99_gain_us_qd64_25w"] for _, _, name in panes}
    for axis, kind, name in panes:
        figure_of = partial(_tail_ms, kind)
        grouped(axis, measured, figure_of)
        label = marked("published gain from no suspend on", *gains.values())
        changed(axis, measured, figure_of, HEADLINE, 5, -gains[name].number / 1e3, label)
    left.set_ylabel("99.99 % of all requests within, ms")
    right.set_ylabel("99.99 % of reads within, ms")
    legend_outside(figure, left)
    return figure


def _tail_ms(kind: Kind, result: Result) -> float:
    return result.percentile(kind, 99.99) / 1e3


def changed(
    axis: Axes,
    measured: Measured,
    figure_of: Callable[[Result], float],
    mix: Point,
    limit: int,
    change: float,
    label: str,
) -> None:
    """Marks a published change against no suspension, relative to ours, at the corresponding bar."""
    base = fmean(figure_of(result) for result in measured[mix.name(0)])
    mark(axis, [places(limit)[MIXES.index(mix)]], [base + change], label)


def places(limit: int) -> list[float]:
    """Positions of the bars of a limit."""
    return plots.places(LIMITS.index(limit), len(LIMITS), len(MIXES), WIDTH)


def grouped(axis: Axes, measured: Measured, figure_of: Callable[[Result], float]) -> None:
    """Bars, grouped by mix and queue depth, one per limit."""
    names = [f"QD{mix.depth}\n{mix.writes}W-{100 - mix.writes}R" for mix in MIXES]
    bars = {
        LABELS[limit]: [fmean(figure_of(result) for result in measured[mix.name(limit)]) for mix in MIXES]
        for limit in LIMITS
    }
    plots.grouped(axis, names, bars, WIDTH)
    axis.tick_params(axis="x", labelsize=7)


def _cdf(measured: Measured) -> Figure:
    figure, axes = panels(1, 3, width=3.4)
    for axis, kind in zip(axes, _KINDS, strict=True):
        for index, limit in enumerate(LIMITS):
            # The end of the tail has few requests; the article's axis ends before.
            points = [(upper_us, above) for upper_us, above in _survival(measured, limit, kind) if above > 1e-5]
            wide = breadth(index, len(LIMITS))
            axis.plot(*zip(*points, strict=True), color=COLOURS[index], linewidth=wide, label=LABELS[limit])
        logarithmic(axis, x=True, y=True)
        axis.set(title={"read": "reads", "write": "writes", "all": "all requests"}[kind], xlabel="latency, us")
    axes[0].set_ylabel("share of requests above")
    legend_outside(figure, axes[0])
    return figure
