"""Section on die utilisation: a point for each die, all cases in one plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse.report.charts import Drawing, Key, colour
from interpulse.report.elements import Chart, Section, prose
from interpulse.report.runs import Report

if TYPE_CHECKING:
    from bokeh.plotting import figure

MISSING = "This result holds nothing about single dies: run with --report, or with report.dies = true."

MOST = 8
"""So many cases at most."""

_USES = ("idle", "reading", "programming", "erasing", "suspended", "waiting_for_bus")

_MARKERS = ("circle", "square", "triangle", "diamond", "inverted_triangle", "plus", "x", "star")
"""So that cases differ in black and white too."""

Line = tuple[int, str, "Sequence[Mapping[str, Any]]"]


def section(report: Report) -> Section:
    """One plot; where nothing is known of dies, why."""
    found: list[Line] = [
        (k, series.label, [die for die in series.first.get("dies", ()) if "time_share" in die])
        for k, series in enumerate(report.series[:MOST])
    ]
    found = [line for line in found if line[2]]
    if not found:
        return Section("dies", "Dies", [prose(MISSING, kind="note")], "unknown")
    every = [_busy(die) for *_, dies in found for die in dies]
    spread = f"{min(every):.0f} to {max(every):.0f} % busy"
    about = (
        "Share of the window in which each die was not idle, die by die; dies of a channel are neighbours. A die apart "
        "from the others has more work than they." + report.only_first()
    )
    rows = [
        [label, die["drive"], die["channel"], die["die"], *(die["time_share"][use] for use in _USES)]
        for _, label, dies in found
        for die in dies
    ]
    columns = ("case", "drive", "channel", "die", *_USES)
    chart = Chart("dies", "Die utilisation", about, columns, rows, partial(_draw, found))
    return Section("dies", "Dies", [chart], spread)


def _busy(die: Mapping[str, Any]) -> float:
    return 100.0 * (1.0 - float(die["time_share"]["idle"]))


def _draw(found: Sequence[Line], drawing: Drawing) -> figure:
    from bokeh.models import BasicTicker

    most = max(len(dies) for *_, dies in found)
    high = max(_busy(die) for *_, dies in found for die in dies)
    drawn = drawing.figure(
        "die, channel by channel",
        "busy, %",
        drawing.range(-0.6, most - 0.4),
        drawing.range(0, min(100, 1.15 * high or 1)),
    )
    drawn.xaxis.ticker = BasicTicker(min_interval=1, desired_num_ticks=16)
    points, keys = [], []
    for index, label, dies in found:
        order = sorted(dies, key=lambda die: (die["drive"], die["channel"], die["die"]))
        data: dict[str, Any] = {
            "x": [*range(len(order))],
            "busy": [_busy(die) for die in order],
            "case": [label] * len(order),
            "die": [f"drive {die['drive']}, channel {die['channel']}, die {die['die']}" for die in order],
            **{use: [100 * die["time_share"][use] for die in order] for use in _USES},
        }
        look = {"marker": _MARKERS[index % len(_MARKERS)], "size": 9 if most <= 64 else 5, "fill_alpha": 0.7}
        drawn.scatter("x", "busy", source=data, color=colour(index), line_width=1.5, name=label, **look)
        # A pointer finds a field more easily than a point.
        unseen = {"fill_alpha": 0.0, "line_alpha": 0.0, "name": label}
        points.append(drawn.vbar("x", top="busy", bottom=0, width=0.8, source=data, **unseen))
        keys.append(Key(label, colour(index), hatch=" "))
    tips = [("case", "@case"), ("die", "@die"), ("busy", "@busy{0.0} %")]
    tips += [(use.replace("_", " "), f"@{use}{{0.0}} %") for use in _USES[1:]]
    drawing.hover(drawn, tips, points)
    drawing.legend(drawn, keys)
    return drawn
