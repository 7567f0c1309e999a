"""Section on wear: program/erase cycles by die and block group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse.report.charts import INK, Drawing
from interpulse.report.elements import Chart, Section, prose
from interpulse.report.runs import Report
from interpulse.report.sections.dies import MISSING, MOST

if TYPE_CHECKING:
    from bokeh.plotting import figure


def section(report: Report) -> Section:
    """A map for each case."""
    charts = [
        _chart(k, series.label, series.first["dies"], report)
        for k, series in enumerate(report.series[:MOST])
        if series.first.get("dies")
    ]
    cycles = [
        at for series in report.series[:MOST] for die in series.first.get("dies", ()) for at in die["cycles"]["max"]
    ]
    brief = f"at most {max(cycles):,} program/erase cycles" if cycles else "unknown"
    return Section("wear", "Wear", charts or [prose(MISSING, kind="note")], brief)


def _chart(number: int, label: str, dies: Sequence[Mapping[str, Any]], report: Report) -> Chart:
    group = dies[0]["cycles"]["blocks"]
    rows = [
        [die["drive"], die["die"], k * group, mean, most]
        for die in dies
        for k, (mean, most) in enumerate(zip(die["cycles"]["mean"], die["cycles"]["max"], strict=True))
    ]
    least, most = min(row[3] for row in rows), max(row[4] for row in rows)
    neighbours = "of each block" if group == 1 else f"in the mean of {group} neighbouring blocks of each lane"
    about = (
        f"Program/erase cycles {neighbours}, preconditioning included: from {least:.3g} in the least worn field to "
        f"{most} of the most worn block.{report.only_first()}"
    )
    columns = ("drive", "die", "first_block", "mean_cycles", "max_cycles")
    return Chart(f"wear-{number + 1}", f"Wear: {label}", about, columns, rows, partial(_draw, rows))


def _draw(rows: Sequence[Sequence[Any]], drawing: Drawing) -> figure:
    several = max(row[0] for row in rows) > 0
    data = {
        "x": [f"{row[0]}/{row[1]}" if several else str(row[1]) for row in rows],
        "y": [str(row[2]) for row in rows],
        "mean": [row[3] for row in rows],
        "most": [row[4] for row in rows],
    }
    tips = [("die", "@x"), ("from block", "@y"), ("mean cycles", "@mean{0,0.00}"), ("most", "@most{0,0}")]
    return _heat(data, "mean", "P/E cycles", "drive/die" if several else "die", "first block", tips, drawing)


def _heat(
    data: Mapping[str, Sequence[Any]],
    value: str,
    unit: str,
    x: str,
    y: str,
    tips: Sequence[tuple[str, str]],
    drawing: Drawing,
    ends: tuple[float, float] | None = None,
) -> figure:
    """A map of coloured fields with its scale.

    Args:
        data: columns of equal length; `x` and `y` are the categories of a field.
        value: the column that is shown as colour.
        unit: what the scale is called.
        x: the name of the axis.
        y: as `x`.
        tips: what is said of the field below the pointer.
        drawing: of the page.
        ends: of the scale; what is there unless given.
    """
    from bokeh.models import BasicTicker, ColorBar, LinearColorMapper
    from bokeh.palettes import Cividis256

    across, down = list(dict.fromkeys(data["x"])), list(dict.fromkeys(data["y"]))
    low, high = ends or (min(data[value]), max(data[value]))
    pad = 0.5 if low == high else 0
    mapper = LinearColorMapper(palette=Cividis256, low=low - pad, high=high + pad)
    found = drawing.figure(
        x, y, across, down[::-1], height=110 + max(90, min(24 * len(down), 420)), crisp=len(data["x"]) <= 600
    )
    filling = {"field": value, "transform": mapper}
    fields = found.rect("x", "y", 0.96, 0.96, source=dict(data), line_color=None, fill_color=filling)
    for axis, names in ((found.xaxis, across), (found.yaxis, down)):
        # More names than there is room for hide each other.
        if len(names) > 24:
            step = -(-len(names) // 16)
            axis.major_label_overrides = {name: "" for k, name in enumerate(names) if k % step}
    for grid in (*found.xgrid, *found.ygrid):
        grid.grid_line_color = None
    scale = ColorBar(
        color_mapper=mapper, title=unit, ticker=BasicTicker(desired_num_ticks=5), width=12, background_fill_color=None
    )
    scale.title_text_color = scale.major_label_text_color = INK
    found.add_layout(scale, "right")
    drawing.hover(found, tips, [fields])
    return found
