"""Do plots show what they should: numbers that can be read, legends that hide nothing, no lines that are no data?"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from interpulse.characterize import endurance_plots, retention_plots
from interpulse.characterize.aging import CYCLES, PAGE_TYPES, ROOM_CELSIUS
from interpulse.cli import power
from interpulse.experiments import atc19, atc19_act, ressd, ressd_plots
from interpulse.experiments.registry import find
from interpulse.plotting.plots import breadth, legend, logarithmic, panels, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

HOURS = (1, 24, 720, 8760)


def point(cycles: int, hours: float, celsius: float) -> dict[str, Any]:
    """An aged word line as the tester measures it."""
    rate = 1e-5 * (1 + cycles / 100) * (1 + hours / 10)
    reads = ("default", "calibrated")
    of = {"rber": rate, "errors_per_kib_max": int(1 + rate * 1e4)}
    rber = [{"page_type": page, "read": read, **of} for page in PAGE_TYPES for read in reads]
    return {"cycles": cycles, "hours": hours, "celsius": celsius, "rber": rber}


def drawn(figure: Figure) -> Any:  # noqa: ANN401 - a renderer
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    return canvas.get_renderer()


def labels_are_apart(axis: Axes, renderer: Any) -> None:  # noqa: ANN401 - a renderer
    for side in (axis.xaxis, axis.yaxis):
        low, high = sorted(side.get_view_interval())
        ticks = [(at, label) for at, label in zip(side.get_ticklocs(), side.get_ticklabels(), strict=True)]
        boxes = [label.get_window_extent(renderer) for at, label in ticks if low <= at <= high and label.get_text()]
        for one, other in pairwise(boxes):
            assert not one.overlaps(other), f"labels of {axis.get_xlabel()} or {axis.get_ylabel()} collide"


def legends_hide_nothing(figure: Figure, renderer: Any) -> None:  # noqa: ANN401 - a renderer
    legends = [*figure.legends, *(axis.legend_ for axis in figure.axes if axis.legend_ is not None)]
    assert legends
    for each in legends:
        box = each.get_window_extent(renderer)
        assert all(not box.overlaps(axis.bbox.padded(-2)) for axis in figure.axes)
        assert box.x0 >= 0, "nor is it cut off"
        assert box.x1 <= figure.bbox.x1


def test_errors_over_wear() -> None:
    kept = {"none": (0, 25), "1 day": (24, 25), "a year": (8760, 30), "3 months": (2160, 40)}
    points = [point(cycles, *how) for how in kept.values() for cycles in (0, 1000, 5000, 15000)]
    how = {name: {"hours": float(hours), "celsius": float(celsius)} for name, (hours, celsius) in kept.items()}
    with style():
        figure = endurance_plots._errors(points, how)
        renderer = drawn(figure)
    legends_hide_nothing(figure, renderer)
    for axis in figure.axes:
        labels_are_apart(axis, renderer)
        widths = [line.get_linewidth() for line in axis.get_lines()[:8]]
        assert all(one != other for one, other in zip(widths[::2], widths[2::2], strict=False)), "a curve below another"


def test_errors_over_time() -> None:
    room = [point(cycles, hours, ROOM_CELSIUS) for cycles in CYCLES for hours in HOURS]
    with style():
        figure = retention_plots._rates(room)
        renderer = drawn(figure)
    legends_hide_nothing(figure, renderer)
    assert len({axis.get_ylim() for axis in figure.axes}) == 1, "panels that are compared have one scale"
    for axis in figure.axes:
        labels_are_apart(axis, renderer)


@pytest.mark.parametrize("low", [1.0, 40.0])
@pytest.mark.parametrize("high", [9e2, 5e4, 2e6, 3e7, 1e9])
def test_logarithmic_labels_are_apart(low: float, high: float) -> None:
    with style():
        figure, (axis,) = panels(1, 1)
        axis.plot([low, high], [1e-5, 1.0], label="a")
        logarithmic(axis, x=True, y=True)
        legend(axis)
        labels_are_apart(axis, drawn(figure))


def test_power_over_time_has_no_fall_that_is_not_measured() -> None:
    over_time = {"interval_us": 1000.0, "nand_core_mw": [400.0, 500.0], "io_bus_mw": [100.0, 100.0]}
    with style():
        figure = power._draw([{"case": "x", "power": {"over_time": over_time}}])
        drawn(figure)
    (patch,) = figure.axes[0].patches
    vertices: Any = patch.get_path().vertices
    heights = {round(float(y), 9) for _, y in vertices}
    assert heights == {0.5, 0.6}


def test_breadth() -> None:
    widths = [breadth(index, 4) for index in range(4)]
    assert all(one != other for one, other in pairwise(widths))
    assert widths[2] > widths[3]


def points(line: Line2D) -> list[tuple[float, float]]:
    """What a line goes through."""
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]


def published(axis: Axes) -> dict[str, list[tuple[float, float]]]:
    """The marks of a panel whose name in a legend says that they are published."""
    named = {str(line.get_label()): points(line) for line in axis.lines}
    return {label: marks for label, marks in named.items() if label.startswith("published")}


@pytest.mark.parametrize("name", ["fig11", "fig12", "fig13", "fig14", "fig15", "fig16"])
def test_published_means_stand_beside_the_bars_of_the_mean(name: str) -> None:
    volumes = tuple(ressd.VOLUMES)
    means = ressd._means(name, find("ressd").context().expected())
    series = {label: [0.5] * len(volumes) for label in ("more of ours", *means)}
    with style():
        figure = ressd_plots.draw_volumes("a title", volumes, series, means)
        renderer = drawn(figure)
    legends_hide_nothing(figure, renderer)
    (axis,) = figure.axes
    ((label, marks),) = published(axis).items()
    assert label.startswith("published mean (")
    bars = [cast("BarContainer", container).patches[-1] for container in axis.containers[1:]]
    assert [x for x, _ in marks] == pytest.approx([bar.get_x() + bar.get_width() / 2 for bar in bars])
    for (_, y), row in zip(marks, means.values(), strict=True):
        assert row.value is not None
        assert y == pytest.approx(row.value / 100 if row.name.startswith("ppc") else 1 + row.value / 100)


def test_published_tails_are_marked_where_the_curves_are() -> None:
    falling = [[10.0 * 2**k, 10 ** (10 - k)] for k in range(11)]
    panes = {kind: dict.fromkeys(atc19.SCHEMES, falling) for kind in ("read", "write")}
    expected = find("atc19-tpcc").context().expected().rows
    with style():
        figure = atc19._draw("a title", panes, expected)
        renderer = drawn(figure)
    legends_hide_nothing(figure, renderer)
    read, write = figure.axes
    (marks,) = [points(line) for line in read.lines if line.get_marker() == "D" and points(line)]
    assert sorted(marks) == [(1000.0, 1e-4), (1000.0, 1e-4), (5000.0, 1e-4)]
    assert [points(line)[0][0] for line in write.lines if line.get_linestyle() == ":"] == [88_000.0]
    (legend,) = figure.legends
    shown = [text.get_text() for text in legend.get_texts()]
    assert "published: 99.99 % of reads (assumed, by-construction)" in shown
    assert "published: longest write, T-ES (assumed)" in shown


def test_published_loads_stand_on_the_bars_of_their_design() -> None:
    expected = find("atc19-act").context().expected().rows
    with style():
        figure = atc19_act._draw_loads({"act_x_baseline": 12.0, "act_x_tes": 30.0}, expected)
        renderer = drawn(figure)
    legends_hide_nothing(figure, renderer)
    ((_, marks),) = published(figure.axes[0]).items()
    names = [scheme.key for scheme in atc19.SCHEMES]
    places = {(round(x), y) for x, y in marks}
    assert (names.index("baseline"), 14.0) in places
    assert (names.index("tes"), 30.0) in places
    assert len(marks) == sum(row.value is not None for name, row in expected.items() if name.startswith("act_x_"))
