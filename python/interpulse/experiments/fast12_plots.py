"""Plots of `fast12`, laid out as the paper's slides 5, 16 and 17, and the sweep of the traces' speed."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from interpulse.experiments.fast12_points import CELLS, SPEEDS, Measured, Point, points
from interpulse.plotting.plots import COLOURS, PUBLISHED, Plot, grouped, legend, panels
from interpulse.studies.context import Context
from interpulse.studies.published import Published, marked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from interpulse.runs.latency import Kind

LABELS = {
    "fifo": "FIFO",
    "rps": "RPS",
    "per": "PER",
    "pe0": "PE0",
    "ips": "PES_IPS",
    "ipc": "PES_IPC",
    "wser": "PES_IPC + WSER",
}


def all_plots(context: Context, measured: Measured, calibrated: float) -> list[Plot]:
    """Plots of a finished experiment."""
    groups = list(points(calibrated))
    expected = context.expected().rows
    printed = {base: expected[f"read_vs_{base}_ipc_mean"] for base in ("rps", "fifo")}

    def reads() -> Figure:
        figure, (motivation, result, difference) = panels(3, 1, width=8.4, height=2.6)
        _bars(motivation, measured, groups, ("fifo", "rps", "per", "pe0"), "fifo", "read")
        _bars(result, measured, groups, ("rps", "per", "pe0", "ipc"), "fifo", "read")
        _bars(difference, measured, groups, ("ipc", "ips"), "ipc", "read")
        motivation.set_title("the room for improvement (slide 5)")
        result.set(title="read latency (slide 16)", ylim=(0.0, 1.0))
        _level(result, 1.0, printed["fifo"], "PES_IPC, mean")
        difference.set(title="the two ways to suspend a program (slide 16)", ylim=(0.88, 1.17))
        for name in ("ips_over_ipc_min", "ips_over_ipc_max"):
            _level(difference, 0.0, expected[name], "PES_IPS, " + name.rpartition("_")[2])
        _cut(difference)
        return figure

    def writes() -> Figure:
        figure, (axis,) = panels(1, 1, width=8.4, height=2.8)
        _bars(axis, measured, groups, ("fifo", "rps", "ips", "ipc", "wser"), "fifo", "write")
        axis.set(title="write latency (slide 17; write-suspend-erase: JSA'14)", ylim=(0.6, 1.1))
        _level(axis, 1.0, expected["write_overhead_ipc_mean"], "PES_IPC, mean at most")
        _level(axis, 1.0, expected["jsa14_write_vs_fifo_mean"], "WSER, mean")
        _cut(axis)
        return figure

    def sweep() -> Figure:
        figure, axes = panels(1, 2, width=4.2, height=3.2)
        for axis, base in zip(axes, ("rps", "fifo"), strict=True):
            for cell, colour in zip(("", *CELLS), COLOURS, strict=False):
                at = [[point for point in points(speed) if cell in ("", point.cell)] for speed in SPEEDS]
                changes = [measured.mean_ratio(each, "ipc", base) for each in at]
                values = [100.0 * (fmean(each) - 1.0) for each in changes]
                axis.plot(SPEEDS, values, marker="o", markersize=3, color=colour, label=cell.upper() or "both")
            value = printed[base].number
            label = marked(f"published: {value:g} %", printed[base])
            axis.axhline(value, color=PUBLISHED, linestyle="--", linewidth=1.0, label=label)
            axis.axhspan(value - 5.0, value + 5.0, color=PUBLISHED, alpha=0.08, linewidth=0)
            axis.axvline(calibrated, color="#999999", linewidth=0.8, label="calibrated speed")
            axis.set_title(f"PES_IPC against {LABELS[base]}", pad=46)
            axis.set(xlabel="speed of the traces", ylabel="change of the mean read latency, %")
            legend(axis, columns=2)
        return figure

    return [
        Plot("read_latency", reads, "Read latency by trace and scheme, over that without suspension"),
        Plot("write_latency", writes, "Write latency by trace and scheme, over that without suspension"),
        Plot("speed", sweep, "Change of the mean read latency by the speed of the traces"),
    ]


def _level(axis: Axes, base: float, row: Published, what: str) -> None:
    """Line at a published figure of all workloads: a ratio, or a change in percent over `base`."""
    value = base + row.number / 100.0 if row.unit == "%" else row.number
    style = ("--", ":")[sum(str(line.get_label()).startswith("published") for line in axis.lines)]
    label = marked(f"published: {what}", row).replace(" (", "\n(")
    axis.axhline(value, color=PUBLISHED, linestyle=style, linewidth=1.0, label=label)
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _cut(axis: Axes) -> None:
    """Labels an axis that does not start at zero."""
    axis.set_ylabel(f"{axis.get_ylabel()} (axis cut)")


def _bars(
    axis: Axes, measured: Measured, groups: Sequence[Point], policies: Sequence[str], base: str, kind: Kind
) -> None:
    names = [f"{p.workload.upper()}\n{p.cell.upper()}" for p in groups]
    bars = {LABELS[each]: [fmean(measured.ratio(point, each, base, kind)) for point in groups] for each in policies}
    grouped(axis, names, bars, 0.8 / len(policies), [COLOURS[list(LABELS).index(each)] for each in policies])
    axis.set_ylabel(f"{kind} latency over {LABELS[base]}")
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
