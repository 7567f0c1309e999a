"""Plots of `characterize reprogram`, as the paper's Figures 5 and 6, and how page errors are spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from interpulse.plotting.plots import COLOURS, Plot, legend, logarithmic, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


STATES = ("ER", "P1", "P2", "P3", "P4", "P5", "P6", "P7")


def all_plots(histograms: Sequence[dict[str, Any]], errors: Mapping[str, Mapping[str, Sequence[int]]]) -> list[Plot]:
    """Plots of a finished characterization; page errors by read levels and scheme."""
    return [
        Plot("histograms", lambda: _histograms(histograms), "Cells by threshold voltage, state by state"),
        Plot("pages", lambda: _pages(errors), "Errors of pages: the share with as many or more"),
    ]


def _histograms(histograms: Sequence[dict[str, Any]]) -> Figure:
    """Cells by threshold voltage, one panel per scheme and one line per state."""
    figure, axes = panels(len(histograms), 1, width=8.0, height=2.2)
    for axis, each in zip(axes, histograms, strict=True):
        for k, counts in enumerate(each["states"]):
            points = [(each["from"] + each["bin"] * (n + 0.5), count) for n, count in enumerate(counts) if count]
            colour = COLOURS[k % len(COLOURS)]
            axis.plot([v for v, _ in points], [n for _, n in points], color=colour, label=STATES[k])
        logarithmic(axis, y=True)
        axis.set_ylabel(f"cells, {each['name']}")
    low, high = min(axis.get_xlim()[0] for axis in axes), max(axis.get_xlim()[1] for axis in axes)
    for axis in axes:
        axis.set_xlim(low, high)
    axes[-1].set_xlabel("threshold voltage, steps")
    legend(axes[0], columns=8)
    return figure


def _pages(errors: Mapping[str, Mapping[str, Sequence[int]]]) -> Figure:
    figure, axes = panels(1, 2, width=4.6)
    for axis, (read, schemes) in zip(axes, errors.items(), strict=True):
        for colour, (name, of) in enumerate(schemes.items()):
            worst_first = sorted(of, reverse=True)
            shares = [(k + 1) / len(of) for k in range(len(of))]
            axis.plot([max(n, 0.5) for n in worst_first], shares, color=COLOURS[colour], label=name)
        logarithmic(axis, x=True, y=True)
        axis.set(xlabel=f"errors of a page, {read} reads", ylabel="share of pages with as many or more")
    legend(axes[0], columns=3)
    return figure
