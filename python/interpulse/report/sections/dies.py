"""Section on die utilisation: a map with a column for each channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse.report.charts import Drawing
from interpulse.report.elements import Chart, Section, prose
from interpulse.report.runs import Report

if TYPE_CHECKING:
    from bokeh.plotting import figure

MISSING = "This result holds nothing about single dies: run with --report, or with report.dies = true."

MOST = 8
"""Maps of so many cases at most."""

_USES = ("idle", "reading", "programming", "erasing", "suspended", "waiting_for_bus")


def section(report: Report) -> Section:
    """A map for each case."""
    charts = [
        _chart(k, series.label, series.first["dies"], report)
        for k, series in enumerate(report.series[:MOST])
        if any("time_share" in die for die in series.first.get("dies", ()))
    ]
    return Section("dies", "Dies", charts or [prose(MISSING, kind="note")])


def _chart(number: int, label: str, dies: Sequence[Mapping[str, Any]], report: Report) -> Chart:
    known = [die for die in dies if "time_share" in die]
    busy = [1 - die["time_share"]["idle"] for die in known]
    about = (
        f"Share of the window in which each die was not idle: {100 * min(busy):.1f} to {100 * max(busy):.1f} %. "
        "Dies of a channel stand in its column." + report.only_first()
    )
    rows = [[die["drive"], die["channel"], die["die"], *(die["time_share"][use] for use in _USES)] for die in known]
    columns = ("drive", "channel", "die", *_USES)
    return Chart(f"dies-{number + 1}", f"Die utilisation: {label}", about, columns, rows, partial(_draw, known))


def _draw(dies: Sequence[Mapping[str, Any]], drawing: Drawing) -> figure:
    several = max(die["drive"] for die in dies) > 0
    columns = [f"{die['drive']}/{die['channel']}" if several else str(die["channel"]) for die in dies]
    rows, seen = [], dict[str, int]()
    for column in columns:
        rows.append(str(seen.get(column, 0)))
        seen[column] = seen.get(column, 0) + 1
    data: dict[str, Any] = {
        "x": columns,
        "y": rows,
        "die": [die["die"] for die in dies],
        "busy": [100 * (1 - die["time_share"]["idle"]) for die in dies],
        **{use: [100 * die["time_share"][use] for die in dies] for use in _USES},
    }
    tips = [
        ("die", "@die"),
        ("busy", "@busy{0.0} %"),
        *((use.replace("_", " "), f"@{use}{{0.0}} %") for use in _USES[1:]),
    ]
    return heat(
        data,
        "busy",
        "busy, %",
        "drive/channel" if several else "channel",
        "die of the channel",
        tips,
        drawing,
        (0, 100),
    )


def heat(
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
    scale.title_text_color = scale.major_label_text_color = "#1a1a1a"
    found.add_layout(scale, "right")
    drawing.hover(found, tips, [fields])
    return found
