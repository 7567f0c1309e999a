"""Plots of `characterize suspend`, as the article's Figures 3 and 6 to 9."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from interpulse.characterize.rber import Errors
from interpulse.characterize.suspend_point import Point
from interpulse.plotting.plots import COLOURS, Plot, legend, legend_outside, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Statistic = Callable[[Sequence[float]], float]


def all_plots(
    points: Sequence[Point],
    tpgm_us: float,
    word_lines: Sequence[dict[str, Any]],
    errors: Errors,
    trace: dict[str, Any],
) -> list[Plot]:
    """Plots of a finished characterization."""

    def suspends(point: Point) -> list[float]:
        return [float(count) for count in point.suspends()]

    def entries(point: Point) -> list[float]:
        return [us / tpgm_us * 100 for us in point.teps_us()]

    def totals(point: Point) -> list[float]:
        return [each["tpgms_us"] / tpgm_us for each in point.word_lines]

    shown: list[tuple[str, Callable[[Point], list[float]], str, str, tuple[int, int]]] = [
        ("suspends", suspends, "suspends of a program", "most", (1, 0)),
        ("teps", entries, "time to enter suspension, % of $t_{PGM}$", "worst", (1, 1)),
        ("tpgms", totals, "program time, in $t_{PGM}$", "worst", (2, 2)),
    ]
    captions = {
        "suspends": "Suspends of a program by both delays and page type",
        "teps": "Time to enter suspension by both delays and page type",
        "tpgms": "Program time with suspension by both delays and page type",
    }
    maps = [
        Plot(name, _maps(points, figures, title, most, digits), captions[name])
        for name, figures, title, most, digits in shown
    ]
    return [
        *maps,
        Plot("tpgm", lambda: _word_lines(word_lines, tpgm_us), "Program time of the word lines"),
        Plot("rber", lambda: _rber(errors), "Bit errors without and with suspension"),
        Plot("trace", lambda: _trace(trace), "Current and pulses of one suspended program"),
    ]


def _maps(
    points: Sequence[Point], figures: Callable[[Point], list[float]], title: str, most: str, digits: tuple[int, int]
) -> Callable[[], Figure]:
    """Two heat maps over both delays and all page types: mean and maximum over word lines."""

    def draw() -> Figure:
        figure, axes = panels(1, 2, width=4.4, height=3.9)
        both: tuple[tuple[str, Statistic], ...] = (("mean", fmean), (most, max))
        for axis, (name, statistic), decimals in zip(axes, both, digits, strict=True):
            _map(figure, axis, _cells(points, figures, statistic), decimals)
            axis.set_title(f"{title}: {name}")
        axes[0].set_ylabel("Delay2, % of $t_{PGM}$")
        return figure

    return draw


def _cells(
    points: Sequence[Point], figures: Callable[[Point], list[float]], statistic: Statistic
) -> dict[tuple[float, float], float]:
    places: dict[tuple[float, float], list[float]] = {}
    for point in points:
        places.setdefault((point.delay1, point.delay2), []).extend(figures(point))
    return {place: statistic(values) for place, values in places.items() if values}


def _map(figure: Figure, axis: Axes, cells: dict[tuple[float, float], float], digits: int) -> None:
    tenths = range(1, 11)
    values = [[cells.get((d1 / 10, d2 / 10), float("nan")) for d1 in tenths] for d2 in tenths]
    image = axis.imshow(values, origin="lower", cmap="viridis", extent=(5, 105, 5, 105), aspect="auto")
    figure.colorbar(image, ax=axis, shrink=0.85)
    axis.set_xlabel("Delay1, % of $t_{PGM}$")
    axis.set_xticks(range(10, 101, 10))
    axis.set_yticks(range(10, 101, 10))
    axis.grid(visible=False)
    low, high = min(cells.values(), default=0.0), max(cells.values(), default=0.0)
    for (delay1, delay2), value in cells.items():
        dark = value < (low + high) / 2
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6, "color": "white" if dark else "black"}
        axis.text(delay1 * 100, delay2 * 100, f"{value:.{digits}f}", **style)


def _word_lines(word_lines: Sequence[dict[str, Any]], tpgm_us: float) -> Figure:
    figure, (axis,) = panels(1, 1, width=7.0)
    axis.bar(
        [each["word_line"] for each in word_lines], [each["tpgm_us"] / 1e3 for each in word_lines], color=COLOURS[0]
    )
    axis.axhline(tpgm_us / 1e3, color=COLOURS[1], linewidth=1.0, label="mean")
    least = min(each["tpgm_us"] for each in word_lines) / 1e3
    # The axis is cut to show the differences; its label says so.
    axis.set(ylim=(0.9 * least, None), xlabel="word line", ylabel="program time, ms (axis cut)")
    axis.grid(visible=False, axis="x")
    legend(axis)
    return figure


def _rber(errors: Errors) -> Figure:
    figure, axes = panels(1, 2)
    pages = list(dict.fromkeys(row["page_type"] for row in errors.rows))
    for axis, block in zip(axes, ("suspended", "untouched"), strict=True):
        for index, (when, shift) in enumerate((("before", -0.2), ("after", 0.2))):
            rows = [row for row in errors.rows if (row["block"], row["when"], row["read"]) == (block, when, "default")]
            heights = [row["rber"] for row in rows]
            low = [row["rber"] - (row["rber"] if row["ci_low"] is None else row["ci_low"]) for row in rows]
            high = [(row["rber"] if row["ci_high"] is None else row["ci_high"]) - row["rber"] for row in rows]
            places = [pages.index(row["page_type"]) + shift for row in rows]
            axis.bar(
                places, heights, 0.38, yerr=[low, high], color=COLOURS[index], label=when, error_kw={"linewidth": 1.0}
            )
        axis.set_xticks(range(len(pages)), pages)
        axis.set(title=f"{block} block", ylim=(0, None))
        axis.grid(visible=False, axis="x")
    # One scale for comparison.
    most = max(axis.get_ylim()[1] for axis in axes)
    for axis in axes:
        axis.set_ylim(0, most)
        axis.ticklabel_format(axis="y", style="plain", useOffset=False)
    axes[0].set_ylabel("raw bit error rate, default reads")
    legend_outside(figure, axes[0])
    return figure


def _trace(trace: dict[str, Any]) -> Figure:
    """Supply current as steps, die states as colours."""
    figure, (axis,) = panels(1, 1, width=8.4)
    kinds = list(dict.fromkeys(what for _, _, what, _ in trace["phases"]))
    for from_us, to_us, what, current_ma in trace["phases"]:
        colour = COLOURS[kinds.index(what) % len(COLOURS)]
        axis.fill_between([from_us / 1e3, to_us / 1e3], [current_ma] * 2, color=colour, linewidth=0, alpha=0.8)
    for kind in kinds:
        axis.fill_between([], [], color=COLOURS[kinds.index(kind) % len(COLOURS)], linewidth=0, alpha=0.8, label=kind)
    edges = [trace["phases"][0][0], *(to_us for _, to_us, _, _ in trace["phases"])]
    axis.stairs([each[3] for each in trace["phases"]], [edge / 1e3 for edge in edges], color="#222222", linewidth=0.7)
    axis.set(xlabel="ms from the confirm command", ylabel="supply current, mA", ylim=(0, None))
    axis.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(kinds), borderaxespad=0.2, columnspacing=1.0)
    return figure
