"""Plots of `suspend-tlc-power`: the article's Figure 11, readings of its fall, and power over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from interpulse.experiments.suspend_tlc_plots import LABELS, changed, grouped, places
from interpulse.experiments.suspend_tlc_points import LIMITS, MIXES, Measured, Point
from interpulse.plotting.plots import COLOURS, PUBLISHED, legend, legend_outside, panels
from interpulse.runs.result import Result
from interpulse.studies.published import Published, marked

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def bars(measured: Measured, expected: Mapping[str, Published]) -> Figure:
    """Mean power of memory and bus per mix, one bar per limit, with the 1 ms peak of the memory."""
    figure, (left, right) = panels(1, 2)
    grouped(left, measured, core_w)
    grouped(right, measured, bus_mw)
    changes = [
        (left, core_w, Point(64, 25), expected["memory_power_up_w_qd64_25w"]),
        (left, core_w, Point(64, 75), expected["memory_power_up_w_qd64_75w"]),
        (right, bus_mw, Point(16, 75), expected["bus_power_up_mw_qd16_75w"]),
    ]
    label = marked("published change from no suspend on", *(change for *_, change in changes))
    for number, (axis, figure_of, mix, change) in enumerate(changes):
        changed(axis, measured, figure_of, mix, LIMITS[-1], change.number, "_nolegend_" if number else label)
    peaks = [
        (places(limit)[at], fmean(peak["window_mw"] / 1e3 for peak in _peaks(measured, mix.name(limit))))
        for at, mix in enumerate(MIXES)
        for limit in LIMITS
    ]
    left.plot(*zip(*peaks, strict=True), "_", color=PUBLISHED, markersize=7, label="largest 1 ms")
    left.set_ylabel("power of the memory, W")
    right.set_ylabel("power of the I/O bus, mW")
    legend_outside(figure, left, columns=3)
    return figure


def core_w(result: Result) -> float:
    """Mean power of the arrays."""
    return float(result.raw["power"]["mean_mw"]["nand_core"]) / 1e3


def bus_mw(result: Result) -> float:
    """Mean power of the buses."""
    return float(result.raw["power"]["mean_mw"]["io_bus"])


def _peaks(measured: Measured, name: str) -> list[dict[str, Any]]:
    return [result.raw["power"]["peak"] for result in measured[name]]


def readings(changes: Mapping[str, Sequence[float]], fall: Published) -> Figure:
    """Change at the article's inverted point by reading of "power", beside the published one."""
    figure, (axis,) = panels(1, 1, width=6.4, height=3.2)
    names = list(changes)[::-1]
    axis.barh(names, [fmean(changes[name]) for name in names], color=COLOURS[0])
    axis.axvline(fall.number, color=PUBLISHED, linestyle="--", label=marked("published", fall))
    axis.axvline(0, color=PUBLISHED, linewidth=0.8)
    axis.set_xlabel("change of the memory's power at QD64, 75W-25R, W")
    axis.grid(visible=False, axis="y")
    axis.legend()
    return figure


def over_time(measured: Measured) -> Figure:
    """Memory power in the first 100 ms from an empty cache."""
    figure, (axis,) = panels(1, 1, width=6.4)
    for index, limit in enumerate(LIMITS):
        series = measured[f"{Point(64, 75).name(limit)}_absorbed"][0].raw["power"]["over_time"]
        watts = [mw / 1e3 for mw in series["nand_core_mw"]]
        edges = [k * series["interval_us"] / 1e3 for k in range(len(watts) + 1)]
        axis.stairs(watts, edges, baseline=None, color=COLOURS[index], label=LABELS[limit])
    axis.set(xlabel="time from an empty cache at QD64, 75W-25R, ms", ylabel="power of the memory, W", ylim=(0, None))
    legend(axis)
    return figure
