"""Plots of `characterize endurance`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from interpulse.characterize.aging import ECC_PER_KIB, mean_rber, worst
from interpulse.plotting.plots import COLOURS, Plot, breadth, legend, legend_outside, logarithmic, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NAMES = {"none": "read at once"}


def all_plots(
    operations: Sequence[dict[str, Any]], points: Sequence[dict[str, Any]], kept: Mapping[str, dict[str, float]]
) -> list[Plot]:
    """The plots of a finished characterization."""
    return [
        Plot("operations", lambda: _operations(operations), "Program and erase time over program/erase cycles"),
        Plot("errors", lambda: _errors(points, kept), "Raw bit errors and the worst codeword over cycles"),
    ]


def _operations(operations: Sequence[dict[str, Any]]) -> Figure:
    figure, axes = panels(1, 2)
    cycles = [row["cycles"] for row in operations]
    for axis, name, title in ((axes[0], "tprog", "program time, ms"), (axes[1], "tbers", "erase time, ms")):
        low, mean, high = ([row[f"{name}_{which}_us"] / 1e3 for row in operations] for which in ("min", "mean", "max"))
        axis.fill_between(cycles, low, high, color=COLOURS[0], alpha=0.2, linewidth=0, label="range")
        axis.plot(cycles, mean, color=COLOURS[0], marker="o", markersize=3, label="mean")
        axis.set(ylabel=title, xlabel="program/erase cycles", ylim=(0, None))
    legend(axes[0])
    return figure


def _errors(points: Sequence[dict[str, Any]], kept: Mapping[str, dict[str, float]]) -> Figure:
    """Error rate and worst codeword against wear: dashed with default reads, solid with calibrated ones."""
    figure, axes = panels(1, 2, height=3.4)
    for colour, (name, how) in enumerate(kept.items()):
        of = [p for p in points if (p["hours"], p["celsius"]) == (how["hours"], how["celsius"])]
        cycles = [p["cycles"] for p in of]
        for read, line in (("default", "--"), ("calibrated", "-")):
            label = _NAMES.get(name, name) if read == "calibrated" else None
            style: dict[str, Any] = {"color": COLOURS[colour], "linestyle": line, "label": label}
            # Equivalent pairs of time and temperature give identical curves.
            style["linewidth"] = breadth(colour, len(kept))
            axes[0].plot(cycles, [mean_rber(p, read) or nan for p in of], **style)
            axes[1].plot(cycles, [max(worst(p, read), 0.5) for p in of], **style)
    axes[1].axhline(ECC_PER_KIB, color="#222222", linewidth=0.9, linestyle=":")
    axes[0].set_ylabel("raw bit error rate (dashed: default reads)")
    axes[1].set_ylabel(f"errors of the worst KiB (dotted: ECC, {ECC_PER_KIB})")
    for axis in axes:
        axis.set_xlabel("program/erase cycles")
        logarithmic(axis, y=True)
    legend_outside(figure, axes[0])
    return figure
