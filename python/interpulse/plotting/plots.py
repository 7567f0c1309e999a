"""Style, axes and files of plots; equal figures give equal bytes."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interpulse.configuration.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#1b6ca8", "#d1495b", "#edae49", "#3b8f5a", "#6a4c93", "#7d7d7d", "#00798c", "#b56576")
"""In the order of use; distinct in print and for most colour-blind readers."""

PUBLISHED = "#222222"
"""The colour of what a paper printed."""

_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "interpulse",
    "font.size": 9.0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "axes.titlesize": 10.0,
    "xtick.minor.visible": False,
    "figure.dpi": 100.0,
    "savefig.dpi": 150.0,
}


def need_matplotlib() -> None:
    """Raises ConfigError where Matplotlib is not installed."""
    require("matplotlib", "plot", "a plot")


@contextmanager
def style() -> Iterator[None]:
    """The common style inside the context, whatever the user's settings of Matplotlib are.

    Raises:
        ConfigError: Matplotlib is not installed.
    """
    need_matplotlib()
    from matplotlib import rc_context, rcdefaults

    with rc_context():
        rcdefaults()
        with rc_context(_STYLE):
            yield


def panels(rows: int, columns: int, *, width: float = 4.2, height: float = 3.0) -> tuple[Figure, list[Axes]]:
    """A figure of panels, `width` by `height` inches each, in reading order. No window system is needed."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = [axis for row in figure.subplots(rows, columns, squeeze=False) for axis in row]
    for axis in axes:
        # Few enough that long numbers do not run into each other.
        axis.xaxis.set_major_locator(MaxNLocator(max(4, int(1.3 * width)), steps=[1, 2, 5, 10]))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    return figure, axes


def legend_outside(figure: Figure, axis: Axes, columns: int = 4, *, below: bool = False) -> None:
    """The legend of one panel, above the figure and its titles (or below it), where it hides nothing."""
    figure.legend(
        *axis.get_legend_handles_labels(),
        loc="outside lower left" if below else "outside upper left",
        ncols=columns,
        columnspacing=1.0,
    )


def mark(axis: Axes, places: Sequence[float], values: Sequence[float], label: str) -> None:
    """Marks published values in front of everything else."""
    diamond: dict[str, Any] = {"markersize": 5.5, "markeredgecolor": "white", "markeredgewidth": 0.7}
    axis.plot(places, values, "D", color=PUBLISHED, zorder=5, label=label, **diamond)


def places(index: int, bars: int, groups: int, width: float) -> list[float]:
    """Positions of the `index`-th bar of each group; groups are at 0, 1, 2."""
    return [at + (index - (bars - 1) / 2) * width for at in range(groups)]


def grouped(
    axis: Axes,
    groups: Sequence[str],
    bars: Mapping[str, Sequence[float]],
    width: float,
    colours: Sequence[str] = COLOURS,
) -> None:
    """Bars side by side in named groups: by their labels, the height of each in every group."""
    for index, (label, heights) in enumerate(bars.items()):
        axis.bar(places(index, len(bars), len(groups), width), heights, width, color=colours[index], label=label)
    axis.set_xticks(range(len(groups)), groups)
    axis.grid(visible=False, axis="x")


def breadth(index: int, count: int) -> float:
    """How wide the line of a curve is that the next may lie on: every second one is wide, and shows below the next."""
    return 1.2 + 1.8 * ((count - 1 - index) % 2)


def legend(axis: Axes, columns: int = 4) -> None:
    """A legend above the panel, where it hides nothing."""
    axis.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, borderaxespad=0.2, columnspacing=1.0)


def logarithmic(axis: Axes, *, x: bool = False, y: bool = False) -> None:
    """Makes axes logarithmic with plain numbers on them: 200, 500, 1,000."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    for wanted, set_scale, ticks in ((x, axis.set_xscale, axis.xaxis), (y, axis.set_yscale, axis.yaxis)):
        if wanted:
            set_scale("log")
            low, high = ticks.get_view_interval()
            # Labels beside each other need more room than labels above each other.
            fine = high < (100 if ticks.axis_name == "x" else 1000) * low
            coarse = ticks.axis_name == "x" and high >= max(1e6, 1e4 * low)
            subs = (1.0, 2.0, 5.0) if fine else (1.0,)
            ticks.set_major_locator(LogLocator(subs=subs, numticks=4 if coarse else None))
            ticks.set_minor_locator(NullLocator())
            ticks.set_major_formatter(FuncFormatter(lambda value, _: _plain(value)))


def _plain(value: float) -> str:
    """The number without an exponent."""
    return f"{value:,.0f}" if value >= 1 else f"{value:.9f}".rstrip("0")


@dataclass(frozen=True)
class Plot:
    """A plot: written as NAME.png and NAME.svg."""

    name: str
    draw: Callable[[], Figure]
    """Called only where a plot is written."""
    title: str = ""
    """What it shows, in a line; otherwise its name in words."""

    @property
    def caption(self) -> str:
        """The title, or the name in words."""
        return self.title or self.name.replace("_", " ").capitalize()


def to_bytes(plot: Plot, forms: Sequence[str] = ("png", "svg")) -> Iterator[tuple[str, bytes]]:
    """The plot as files, without dates or versions in them: pairs of form (`png` or `svg`) and content."""
    with style():
        figure = plot.draw()
        for form in forms:
            nothing = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[form]
            file = io.BytesIO()
            figure.savefig(file, format=form, metadata=nothing)
            yield form, file.getvalue()
