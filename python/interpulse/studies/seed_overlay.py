"""Plots over several seeds: bars and curves at their means with intervals, or all curves.

It works on finished figures, so that plots need no code for seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from interpulse.plotting.plots import Plot
from interpulse.runs.estimate import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

T = TypeVar("T")

_INK = "#333333"
"""The colour of the intervals of bars."""


def overlay_seeds(plots: Sequence[Sequence[Plot]]) -> list[Plot]:
    """The plots of all seeds by their names. What cannot be laid over each other is that of the first seed."""
    by_name: dict[str, list[Plot]] = {}
    for each in plots:
        for plot in each:
            by_name.setdefault(plot.name, []).append(plot)
    return [_plot(name, same) for name, same in by_name.items()]


def _plot(name: str, same: Sequence[Plot]) -> Plot:
    return Plot(name, lambda: _laid([plot.draw() for plot in same]), same[0].title)


def _laid(figures: Sequence[Figure]) -> Figure:
    first = figures[0]
    panels = [figure.axes for figure in figures]
    if all(len(each) == len(first.axes) for each in panels):
        for axes in zip(*panels, strict=True):
            # Maps and filled bands have no mean that can be drawn.
            if not any(axis.images or axis.collections for axis in axes):
                # Collected before drawing, because the ends of intervals are lines too.
                bars, lines = [_bars(axis) for axis in axes], [list(axis.lines) for axis in axes]
                ends: list[Estimate] = []
                _each(bars, partial(_bar, axes[0], ends))
                _each(lines, partial(_line, axes[0], ends))
                _fit(axes[0], lines[0], ends)
    return first


def _each(found: Sequence[Sequence[T]], lay: Callable[[tuple[T, ...]], None]) -> None:
    """Lays what belongs together over each other, in the order of drawing; nothing where a seed drew more or less."""
    if all(len(each) == len(found[0]) for each in found):
        for same in zip(*found, strict=True):
            lay(same)


def _bars(axis: Axes) -> list[BarContainer]:
    """The groups of bars, but for those that show intervals of their own."""
    from matplotlib.container import BarContainer

    return [each for each in axis.containers if isinstance(each, BarContainer) and each.errorbar is None]


def _bar(axis: Axes, shown: list[Estimate], bars: Sequence[BarContainer]) -> None:
    """One group of bars: its lengths become means. What is shown upright is added to `shown`."""
    across = bars[0].orientation == "horizontal"
    if any(len(each.patches) != len(bars[0].patches) for each in bars):
        return
    places, ends = [], []
    for same in zip(*(each.patches for each in bars), strict=True):
        boxes = [(bar.get_x(), bar.get_width()) if across else (bar.get_y(), bar.get_height()) for bar in same]
        starts, tips = [box[0] for box in boxes], [sum(box) for box in boxes]
        first, start, tip = same[0], sum(starts) / len(starts), Estimate.of(tips)
        if across:
            first.set_x(start)
            first.set_width(tip.value - start)
            places.append(first.get_y() + first.get_height() / 2)
        else:
            first.set_y(start)
            first.set_height(tip.value - start)
            places.append(first.get_x() + first.get_width() / 2)
            shown.append(tip)
        ends.append(tip)
    _intervals(axis, places, ends, _INK, across=across)


def _line(axis: Axes, shown: list[Estimate], lines: Sequence[Line2D]) -> None:
    """One curve: means where all have the same places, else those of the other seeds as thin lines beside it."""
    first = lines[0]
    data: list[tuple[Any, Any]] = [line.get_data(orig=False) for line in lines]
    xs, ys = ([[float(value) for value in pair[k]] for pair in data] for k in (0, 1))
    if any(x != xs[0] for x in xs):
        like: dict[str, Any] = {key: getattr(first, f"get_{key}")() for key in _LIKE}
        for x, y in zip(xs[1:], ys[1:], strict=True):
            axis.plot(x, y, linewidth=0.6, alpha=0.6, label="_nolegend_", **like)
    elif any(y != ys[0] for y in ys):
        of = _mean_on_logarithmic if axis.get_yscale() == "log" else _mean
        means = [of(values) for values in zip(*ys, strict=True)]
        first.set_ydata([mean.value for mean in means])
        shown += means
        _intervals(axis, xs[0], means, first.get_color(), across=False)


def _mean(values: Sequence[float]) -> Estimate:
    """The mean of what all seeds have; not a number where one has none."""
    return Estimate(math.nan) if any(math.isnan(value) for value in values) else Estimate.of(values)


def _mean_on_logarithmic(values: Sequence[float]) -> Estimate:
    """A plot writes 0 as not a number where an axis has no place for it; in the mean it counts."""
    mean = Estimate.of([0.0 if math.isnan(value) else value for value in values])
    return mean if mean.value else Estimate(math.nan)


def _fit(axis: Axes, lines: Sequence[Line2D], shown: Sequence[Estimate]) -> None:
    """Moves the ends of an upright axis so far that no curve and no interval leaves its panel.

    The exception are lower ends of intervals on an axis that is logarithmic or begins at 0.
    """
    logarithmic, free, (bottom, top) = axis.get_yscale() == "log", axis.get_autoscaley_on(), axis.get_ylim()
    if not shown or (free and not logarithmic):
        return
    values = [float(y) for line in lines if line.get_transform() == axis.transData for y in _heights(line)]
    values = [value for value in [*values, *(end.value for end in shown)] if value > 0 or not logarithmic]
    if not (values := [value for value in values if math.isfinite(value)]):
        return
    low = min(values if logarithmic or bottom == 0 else [*values, *(e.low for e in shown if e.low is not None)])
    high = max([*values, *(end.high for end in shown if end.high is not None and math.isfinite(end.high))])
    room = (high / low) ** 0.05 if logarithmic else 0.05 * (high - low)
    below, above = (low / room, high * room) if logarithmic else (low - room, high + room)
    axis.set_ylim(below if free or low < bottom else bottom, above if free or high > top else top)


def _heights(line: Line2D) -> Any:  # noqa: ANN401 - as matplotlib
    return line.get_ydata(orig=False)


_LIKE = ("color", "linestyle", "drawstyle", "marker", "markersize", "transform")


def _intervals(axis: Axes, places: Sequence[float], ends: Sequence[Estimate], colour: Any, *, across: bool) -> None:  # noqa: ANN401 - as matplotlib
    """Draws the intervals that there are: a value that no seed moves has none, nor has one that is not finite."""
    shown = [
        (place, end.value, end.high - end.value)
        for place, end in zip(places, ends, strict=True)
        if end.high is not None and math.isfinite(end.high) and end.high > end.value
    ]
    if not shown:
        return
    at, values, halves = zip(*shown, strict=True)
    where: dict[str, Any] = {"x": values, "y": at, "xerr": halves} if across else {"x": at, "y": values, "yerr": halves}
    axis.errorbar(**where, fmt="none", ecolor=colour, elinewidth=0.8, capsize=1.5, label="_nolegend_")
