"""Plots of `characterize retention`."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from interpulse.characterize.aging import CODEWORD, CYCLES, ECC_PER_KIB, PAGE_TYPES, ROOM_CELSIUS, mean_rber, worst
from interpulse.characterize.reprogram_plots import STATES
from interpulse.plotting.plots import COLOURS, Plot, legend, legend_outside, logarithmic, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WORN = 2000
"""Wear in plots of a single wear."""


def all_plots(
    aged: Sequence[dict[str, Any]], read: Sequence[dict[str, Any]], layered: Sequence[dict[str, Any]]
) -> list[Plot]:
    """Plots of a finished characterization."""
    room = [p for p in aged if p["celsius"] == ROOM_CELSIUS]
    return [
        Plot("rber", lambda: _rates(room), "Raw bit errors over time, page by page"),
        Plot("temperature", lambda: _temperature(aged), "Raw bit errors over time, by temperature"),
        Plot("worst", lambda: _worst(room), "Errors of the worst KiB over time"),
        Plot("thresholds", lambda: _thresholds(room), "Moves of the optimal read thresholds over time"),
        Plot("states", lambda: _states(room), "Moves and widths of the states over time"),
        Plot("read_disturb", lambda: _reads(read), "Bit errors by reads of the block"),
        Plot("layers", lambda: _layers(layered), "Raw bit errors by layer"),
    ]


def _days(axis: Axes) -> None:
    axis.set_xlabel("days since programming")
    logarithmic(axis, x=True)


def _line(axis: Axes, points: Sequence[dict[str, Any]], ys: Sequence[float], colour: int, label: str) -> None:
    axis.plot([p["hours"] / 24 for p in points], ys, color=COLOURS[colour], marker="o", markersize=3, label=label)


def _limit(axis: Axes, value: float) -> None:
    axis.axhline(value, color="#222222", linewidth=0.9, linestyle=":", label=f"ECC, {ECC_PER_KIB} per KiB")


def _rates(room: Sequence[dict[str, Any]]) -> Figure:
    """Error rate against time for default and calibrated reads, one panel per page type."""
    figure, axes = panels(1, 3, width=3.6, height=3.4)
    for axis, page in zip(axes, PAGE_TYPES, strict=True):
        for colour, cycles in enumerate(CYCLES):
            points = [p for p in room if p["cycles"] == cycles]
            for read, line in (("default", "--"), ("calibrated", "-")):
                ys = [_rate(p, page, read) for p in points]
                xs = [p["hours"] / 24 for p in points]
                label = f"{cycles} cycles" if read == "calibrated" else None
                axis.plot(xs, ys, color=COLOURS[colour], linestyle=line, label=label)
        _limit(axis, ECC_PER_KIB / CODEWORD)
        axis.set_title(f"{page} page")
        _days(axis)
        logarithmic(axis, y=True)
    axes[0].set_ylabel("raw bit error rate (dashed: default reads)")
    _one_scale(axes)
    legend_outside(figure, axes[0], columns=6)
    return figure


def _one_scale(axes: Sequence[Axes]) -> None:
    for axis in axes[1:]:
        axis.sharey(axes[0])


def _rate(point: dict[str, Any], page: str, read: str) -> float:
    """Replaces zero by NaN for a logarithmic axis."""
    rate = next(each["rber"] for each in point["rber"] if (each["page_type"], each["read"]) == (page, read))
    return float(rate) or nan


def _mean(point: dict[str, Any], read: str) -> float:
    return mean_rber(point, read) or nan


def _temperature(aged: Sequence[dict[str, Any]]) -> Figure:
    figure, (axis,) = panels(1, 1, width=6.0, height=3.6)
    for colour, celsius in enumerate(sorted({p["celsius"] for p in aged})):
        points = [p for p in aged if (p["celsius"], p["cycles"]) == (celsius, WORN)]
        _line(axis, points, [_mean(p, "calibrated") for p in points], colour, f"{celsius:g} °C")
    axis.set_ylabel(f"raw bit error rate, {WORN} cycles, calibrated")
    _days(axis)
    logarithmic(axis, y=True)
    legend(axis)
    return figure


def _worst(room: Sequence[dict[str, Any]]) -> Figure:
    figure, axes = panels(1, 2)
    for axis, read in zip(axes, ("default", "calibrated"), strict=True):
        for colour, cycles in enumerate(CYCLES):
            points = [p for p in room if p["cycles"] == cycles]
            _line(axis, points, [max(worst(p, read), 0.5) for p in points], colour, f"{cycles} cycles")
        _limit(axis, ECC_PER_KIB)
        axis.set_title(f"{read} reads")
        _days(axis)
        logarithmic(axis, y=True)
    axes[0].set_ylabel("errors of the worst KiB")
    _one_scale(axes)
    legend_outside(figure, axes[1], columns=6)
    return figure


def _thresholds(room: Sequence[dict[str, Any]]) -> Figure:
    figure, (axis,) = panels(1, 1, width=6.0, height=3.6)
    points = [p for p in room if p["cycles"] == WORN]
    for boundary in range(7):
        moved = [p["thresholds_steps"][boundary] - points[0]["thresholds_steps"][boundary] for p in points]
        _line(axis, points, moved, boundary, f"{STATES[boundary]}|{STATES[boundary + 1]}")
    axis.set_ylabel(f"optimal thresholds moved, steps, {WORN} cycles")
    _days(axis)
    legend(axis)
    return figure


def _states(room: Sequence[dict[str, Any]]) -> Figure:
    figure, axes = panels(1, 2)
    points = [p for p in room if p["cycles"] == WORN]
    for number, name in enumerate(STATES):
        means = [p["states"][number]["mean_steps"] - points[0]["states"][number]["mean_steps"] for p in points]
        _line(axes[0], points, means, number, name)
        if number > 0:
            _line(axes[1], points, [p["states"][number]["sd_steps"] for p in points], number, name)
    axes[0].set_ylabel(f"mean moved, steps, {WORN} cycles")
    axes[1].set_ylabel("standard deviation, steps")
    for axis in axes:
        _days(axis)
    legend(axes[0])
    return figure


def _reads(read: Sequence[dict[str, Any]]) -> Figure:
    figure, axes = panels(1, 2)
    for colour, cycles in enumerate(CYCLES):
        points = [p for p in read if p["cycles"] == cycles and p["reads"] > 0]
        xs = [p["reads"] for p in points]
        style: dict[str, Any] = {"color": COLOURS[colour], "marker": "o", "markersize": 3, "label": f"{cycles} cycles"}
        axes[0].plot(xs, [_mean(p, "default") for p in points], **style)
        axes[1].plot(xs, [max(worst(p, "default"), 0.5) for p in points], **style)
    _limit(axes[1], ECC_PER_KIB)
    axes[0].set_ylabel("raw bit error rate, default reads")
    axes[1].set_ylabel("errors of the worst KiB")
    for axis in axes:
        axis.set_xlabel("reads of the block, after a day")
        logarithmic(axis, x=True, y=True)
    legend_outside(figure, axes[1], columns=6)
    return figure


def _layers(layered: Sequence[dict[str, Any]]) -> Figure:
    figure, (axis,) = panels(1, 1, width=6.0, height=3.6)
    names = {-1.0: "bottom", 0.0: "middle", 1.0: "top"}
    for colour, (height, name) in enumerate(names.items()):
        points = [p for p in layered if p["height"] == height]
        _line(axis, points, [_mean(p, "calibrated") for p in points], colour, f"{name} of the stack")
    axis.set_ylabel(f"raw bit error rate, {WORN} cycles, calibrated")
    _days(axis)
    logarithmic(axis, y=True)
    legend(axis)
    return figure
