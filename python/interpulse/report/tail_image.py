"""Plot of the tail of reads as an image file: the first plot of a page, drawn without a browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError
from interpulse.plotting import plots
from interpulse.report.charts import PAPER, colour, dash
from interpulse.report.sections.latency import TICKS, TITLES, X_AXIS, Y_AXIS, Line, ends, lines, parted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from interpulse.report.runs import Report

KIND = "read"

LEGEND_LETTERS = 96
"""Letters that a line of the legend has room for."""

_STROKES = {"solid": "-", "dashed": "--", "dotdash": "-.", "dotted": ":"}


def image(report: Report, form: str) -> bytes:
    """The plot as a file, `svg` or `png`: a line for each case, over all of its seeds.

    Raises:
        ConfigError: no case has reads, or Matplotlib is not installed.
    """
    of = lines(report, KIND)
    if not of:
        raise ConfigError("no case has reads: there is no tail to plot")
    [(_, content)] = plots.to_bytes(plots.Plot("tail", lambda: draw(of)), [form])
    return content


def is_whole(report: Report) -> bool:
    """Whether every line is that of a histogram, and none joins percentiles."""
    return all(line.whole for line in lines(report, KIND))


def draw(of: Sequence[Line]) -> Figure:
    """The figure, inside `plots.style`."""
    from matplotlib import rc_context
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    # A dollar in a case's name is no formula.
    with rc_context({"text.parse_math": False}):
        figure, (axis,) = plots.panels(1, 1, width=8.0, height=4.5)
        across, up = ends(of)
        axis.set(xlim=across, ylim=up, xlabel=X_AXIS, ylabel=Y_AXIS)
        plots.logarithmic(axis, x=True)
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(FixedLocator([share for share in TICKS if share > up[1]]))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda share, _: _named(share)))
        axis.yaxis.set_minor_locator(NullLocator())
        handles = [_line(axis, line, up[1]) for line in of]
        labels = [line.series.label for line in of]
        if len(of) == 1:
            axis.set_title(f"{TITLES[KIND]}: {labels[0]}", loc="left")
            return figure
        columns = max(1, min(len(labels), LEGEND_LETTERS // (max(map(len, labels)) + 8)))
        legend = {"title": TITLES[KIND], "title_fontsize": 10.0, "alignment": "left", "columnspacing": 1.5}
        figure.legend(handles, labels, loc="outside upper left", ncols=columns, **legend)
    return figure


def _named(share: float) -> str:
    return next((name for known, name in TICKS.items() if abs(known / share - 1) < 0.01), "")


def _line(axis: Axes, line: Line, least: float) -> Any:  # noqa: ANN401 - what the legend shows
    """Draws a case: its curve, percentiles and their intervals; returns the curve."""
    look: dict[str, Any] = {"color": colour(line.index), "linewidth": 1.6}
    # Between percentiles nothing is known: no step.
    joined = "steps-post" if line.whole else "default"
    handle: Any = None
    for part, stroke in zip(parted(line), (_STROKES[dash(line.index)], (0, (1, 2))), strict=True):
        shares = [max(share, least) for _, share, _ in part]
        [drawn] = axis.plot([x for x, *_ in part], shares, drawstyle=joined, linestyle=stroke, **look)
        handle = handle or drawn
    for mark in line.marks:
        if mark["low"] is not None:
            interval = {"color": look["color"], "alpha": 0.3, "linewidth": 5.0, "solid_capstyle": "butt"}
            axis.plot([mark["low"], mark["high"]], [mark["share"]] * 2, **interval)
        inside = PAPER if mark["few"] else look["color"]
        ring = {"markersize": 5.0, "markeredgecolor": look["color"], "markerfacecolor": inside, "zorder": 4}
        axis.plot([mark["x"]], [mark["share"]], "o", **ring)
    return handle
