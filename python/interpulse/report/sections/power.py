"""Section on power: energy by operation, means, peaks, and power over time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse.report.charts import PAPER, Drawing, Key, colour, dash, hatch, stacked
from interpulse.report.elements import Chart, Html, Section, prose, table
from interpulse.report.runs import Report
from interpulse.tables.format import number

if TYPE_CHECKING:
    from bokeh.plotting import figure

_ROWS = {
    "mean power of the arrays (VDDcore), mW": ("mean_mw", "nand_core"),
    "mean power of the buses (VDDQ), mW": ("mean_mw", "io_bus"),
    "power of the controller, mW": ("mean_mw", "controller"),
    "power of the DRAM, mW": ("mean_mw", "dram"),
    "mean power in all, mW": ("mean_mw", "total"),
    "largest mean of a short window, mW": ("peak", "window_mw"),
    "largest current of the arrays, mA": ("peak", "instant_ma"),
    "energy per request, µJ": ("per_request_uj", "total"),
    "waits for the power budget": ("budget", "waits"),
    "longest wait for the power budget, µs": ("budget", "longest_us"),
}


def section(report: Report) -> Section | None:
    """A chart and a table; None where no result knows its power."""
    powers = [
        (k, series.label, series.first["power"]) for k, series in enumerate(report.series) if series.first.get("power")
    ]
    if not powers:
        return None
    parts: list[Chart | Html] = []
    spent = [
        (label, name, of["total_uj"], of.get("count"))
        for _, label, power in powers
        for name, of in power["by_operation"].items()
    ]
    requests = {series.label: series.first["host_requests"] for series in report.series}
    rows = [[label, name, total, count, total / (requests[label] or 1)] for label, name, total, count in spent]
    parts.append(
        Chart(
            "power-operations",
            "Energy for each request",
            "Energy of the flash for each host request, in µJ, by what it was spent on." + report.only_first(),
            ("case", "operation", "energy_uj", "operations", "per_request_uj"),
            rows,
            partial(_draw, rows),
        )
    )
    followed = [(k, label, power["over_time"]) for k, label, power in powers if "over_time" in power]
    if followed:
        parts.append(_over_time(followed, report))
    else:
        parts.append(prose("Power over time and its peak were not followed: power.trace = true does.", kind="note"))
    cells = []
    for label, (group, name) in _ROWS.items():
        values = [power.get(group, {}).get(name) for _, _, power in powers]
        if any(value is not None for value in values):
            cells.append([label, *(number(value, 3) for value in values)])
    parts.append(table("Power and energy", ["figure", *(label for _, label, _ in powers)], cells))
    means = [power["mean_mw"]["total"] for *_, power in powers]
    least, most = (f"{end(means):,.0f}" for end in (min, max))
    return Section("power", "Power", parts, f"{least if least == most else f'{least} to {most}'} mW in the mean")


def _draw(rows: Sequence[Sequence[Any]], drawing: Drawing) -> figure:
    cases = list(dict.fromkeys(row[0] for row in rows))
    names = list(dict.fromkeys(row[1] for row in rows))
    each = {(row[0], row[1]): row[4] for row in rows}
    most = max(sum(each.get((case, name), 0) for name in names) for case in cases)
    found = drawing.figure(
        "energy for each request, µJ", "", drawing.range(0, 1.05 * most or 1), cases[::-1], height=130 + 40 * len(cases)
    )
    found.ygrid.grid_line_color = None
    layers = (
        (Key(name.replace("_", " "), colour(k), hatch=hatch(k)), [each.get((case, name), 0.0) for case in cases])
        for k, name in enumerate(names)
    )
    bars, keys = [], []
    for key, values, left, right in stacked(layers):
        data = {"case": cases, "left": left, "right": right, "value": values, "name": [key.label] * len(cases)}
        like = {"line_color": PAPER, **key.filling}
        bars.append(found.hbar("case", left="left", right="right", height=0.7, source=data, **like))
        keys.append(key)
    drawing.hover(found, [("case", "@case"), ("for", "@name"), ("energy", "@value{0.000} µJ")], bars)
    drawing.legend(found, keys)
    return found


def _over_time(followed: Sequence[tuple[int, str, Any]], report: Report) -> Chart:
    rows = []
    for _, label, of in followed:
        step = of["interval_us"]
        pairs = zip(of["nand_core_mw"], of["io_bus_mw"], strict=True)
        rows += [[label, k * step, (k + 1) * step, core, bus] for k, (core, bus) in enumerate(pairs)]
    about = "Mean power of the flash in equal intervals of the window: arrays and buses together." + report.only_first()
    columns = ("case", "from_us", "to_us", "nand_core_mw", "io_bus_mw")
    return Chart("power-over-time", "Power over time", about, columns, rows, partial(_line, followed))


def _line(followed: Sequence[tuple[int, str, Any]], drawing: Drawing) -> figure:
    curves = [
        (k, label, of["interval_us"] / 1e3, [a + b for a, b in zip(of["nand_core_mw"], of["io_bus_mw"], strict=True)])
        for k, label, of in followed
    ]
    end = max(step * len(values) for _, _, step, values in curves)
    high = max((max(values, default=0) for *_, values in curves), default=1)
    found = drawing.figure(
        "time in the window, ms", "power, mW", drawing.range(0, end), drawing.range(0, 1.08 * high or 1)
    )
    lines = []
    for index, label, step, values in curves:
        data = {"x": [(k + 0.5) * step for k in range(len(values))], "y": values, "case": [label] * len(values)}
        like = {"line_color": colour(index), "line_dash": dash(index), "line_width": 1.5, "name": label}
        lines.append(found.step("x", "y", source=data, mode="center", **like))
    drawing.hover(found, [("case", "@case"), ("at", "@x{0.000} ms"), ("power", "@y{0,0.0} mW")], lines)
    drawing.legend(found, [Key(label, colour(k), dash(k)) for k, label, *_ in curves])
    return found
