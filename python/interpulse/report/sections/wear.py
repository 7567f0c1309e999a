"""Section on wear: program/erase cycles by die and block group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse.report.charts import Drawing
from interpulse.report.elements import Chart, Section, prose
from interpulse.report.runs import Report
from interpulse.report.sections.dies import MISSING, MOST, heat

if TYPE_CHECKING:
    from bokeh.plotting import figure


def section(report: Report) -> Section:
    """A map for each case."""
    charts = [
        _chart(k, series.label, series.first["dies"], report)
        for k, series in enumerate(report.series[:MOST])
        if series.first.get("dies")
    ]
    return Section("wear", "Wear", charts or [prose(MISSING, kind="note")])


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
    return heat(data, "mean", "P/E cycles", "drive/die" if several else "die", "first block", tips, drawing)
