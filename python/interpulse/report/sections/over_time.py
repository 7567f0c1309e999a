"""Section on the measurement window, batch by batch; all charts share one zoom."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse.report.charts import PAPER, Drawing, Key, colour, dash, logarithmic, stacked
from interpulse.report.elements import Chart, Section, prose
from interpulse.report.runs import Report
from interpulse.runs.comparison import number_at

if TYPE_CHECKING:
    from bokeh.plotting import figure

MISSING = "This result holds no batches of its window: run with --report, or with report.batches = true."

WINDOW = "window"
"""The name of the range that all charts over time share."""

_FEW = 10
_USES = ("reading", "programming", "erasing", "suspended", "waiting_for_bus", "idle")
_MOST_STACKS = 6
"""More cases than this would be a wall of stacks: the others are in the CSV of those that are shown."""

Line = tuple[int, str, "Sequence[Mapping[str, Any]]"]


def lines(report: Report) -> list[Line]:
    """The batches of each case that has them, with its number and label; of several seeds the first."""
    found = [(k, series.label, series.first.get("batches", ())) for k, series in enumerate(report.series)]
    return [line for line in found if line[2]]


def section(report: Report) -> Section | None:
    """Throughput, latency, and what the dies did."""
    found = lines(report)
    if not found:
        return Section("over-time", "Over time", [prose(MISSING, kind="note")])
    about = (
        "Each step is a batch of as many requests. Drag over this chart to see only a part of the window in all charts "
        "over time; the buttons do the same." + report.only_first()
    )
    charts = [
        Chart(
            "over-time-brush",
            "Requests per second: the whole window",
            about,
            ("case", "from_s", "to_s", "iops"),
            [[label, *_span(b), _iops(b)] for _, label, batches in found for b in batches],
            partial(_brush, found),
        ),
        over_time(
            "over-time-iops", "Requests per second", "Requests completed per simulated second.", found, iops=_iops
        ),
    ]
    for kind in ("read", "write"):
        if any(batch[f"{kind}_us"]["count"] for _, _, batches in found for batch in batches):
            charts.append(_latency(kind, found))
    if any("waf" in batch for _, _, batches in found for batch in batches):
        what = "Pages programmed per page that the host wrote."
        charts.append(
            over_time("over-time-waf", "Write amplification", what, found, waf=lambda batch: batch.get("waf"))
        )
    charts += [_uses(k, label, batches) for k, label, batches in found[:_MOST_STACKS]]
    return Section("over-time", "Over time", charts, _brief(found))


def _brief(found: Sequence[Line]) -> str:
    _, _, batches = found[0]
    return f"{len(batches)} batches in {batches[-1]['end_s']:.3g} s"


def _span(batch: Mapping[str, Any]) -> tuple[float, float]:
    return batch["end_s"] - batch["length_s"], batch["end_s"]


def _iops(batch: Mapping[str, Any]) -> float | None:
    return batch["host_requests"] / batch["length_s"] if batch["length_s"] else None


def over_time(
    name: str, title: str, about: str, found: Sequence[Line], **figures: Callable[[Mapping[str, Any]], float | None]
) -> Chart:
    """A chart of figures of each batch, as steps; each figure has strokes of its own.

    Args:
        name: of the chart.
        title: its heading.
        about: what it shows.
        found: the batches.
        figures: what is read of a batch, by the name that it has in the CSV file.
    """
    rows = [[label, *_span(b), *(read(b) for read in figures.values())] for _, label, batches in found for b in batches]
    columns = ("case", "from_s", "to_s", *figures)
    return Chart(name, title, about, columns, rows, partial(_steps, found, figures, title))


def _latency(kind: str, found: Sequence[Line]) -> Chart:
    """The median and a high percentile of each batch."""

    def read(name: str, batch: Mapping[str, Any]) -> float | None:
        value: float | None = batch[f"{kind}_us"].get(name)
        return value

    about = (
        f"Median and 99th percentile of the {kind}s of each batch, in µs on a logarithmic axis. "
        f"An open ring marks a batch beyond whose p99 fewer than ten {kind}s lie."
    )
    figures = {f"{name}_us": partial(read, name) for name in ("p50", "p99")}
    rows = [
        [label, *_span(b), b[f"{kind}_us"]["count"], *(of(b) for of in figures.values())]
        for _, label, batches in found
        for b in batches
    ]
    title = f"{kind.capitalize()} latency, µs"
    few: Callable[[Mapping[str, Any]], bool] = lambda batch: batch[f"{kind}_us"]["count"] < 100 * _FEW  # noqa: E731
    draw = partial(_steps, found, figures, title, few=few, log=True)
    columns = ("case", "from_s", "to_s", f"{kind}s", *figures)
    return Chart(f"over-time-{kind}", title, about, columns, rows, draw)


def _window(found: Sequence[Line], drawing: Drawing) -> Any:  # noqa: ANN401 - a range
    return drawing.shared(WINDOW, 0, max(batches[-1]["end_s"] for _, _, batches in found))


def _steps(
    found: Sequence[Line],
    figures: Mapping[str, Callable[[Mapping[str, Any]], float | None]],
    title: str,
    drawing: Drawing,
    *,
    few: Callable[[Mapping[str, Any]], bool] = lambda _: False,
    log: bool = False,
) -> figure:
    values = [v for _, _, batches in found for b in batches for read in figures.values() if (v := read(b)) is not None]
    low, high = min(values, default=0.0), max(values, default=1.0)
    span = drawing.range(low / 1.3 if low > 0 else 0.1, high * 1.3) if log else drawing.range(0, high * 1.08 or 1)
    more: dict[str, Any] = {"y_axis_type": "log"} if log else {}
    drawn = drawing.figure("time in the window, s", title, _window(found, drawing), span, **more)
    if log:
        logarithmic(drawn.yaxis)
    else:
        from bokeh.models import NumeralTickFormatter

        drawn.yaxis.formatter = NumeralTickFormatter(format="0,0.[000]")
    points, keys = [], []
    for index, label, batches in found:
        for number, (name, read) in enumerate(figures.items()):
            known = [(batch, value) for batch in batches if (value := read(batch)) is not None]
            shown = name.removesuffix("_us").replace("_", " ")
            legend = label if len(figures) == 1 else f"{label}: {shown}"
            edges = [_span(known[0][0])[0], *(batch["end_s"] for batch, _ in known)] if known else []
            ends = [known[0][1], *(value for _, value in known)] if known else []
            stroke = dash(number if len(figures) > 1 else index)
            like = {"line_color": colour(index), "name": legend}
            drawn.step(edges, ends, mode="before", line_width=2, line_dash=stroke, **like)
            tail = few if name == "p99_us" else lambda _: False
            source = {
                "x": [sum(_span(batch)) / 2 for batch, _ in known],
                "y": [value for _, value in known],
                "what": [legend] * len(known),
                "from": [_span(batch)[0] for batch, _ in known],
                "to": [batch["end_s"] for batch, _ in known],
                "fill": [PAPER if tail(batch) else colour(index) for batch, _ in known],
            }
            keys.append(Key(legend, colour(index), stroke))
            points.append(drawn.scatter("x", "y", source=source, size=6, fill_color="fill", **like))
    drawing.hover(
        drawn, [("", "@what"), ("value", "@y{0,0.0[00]}"), ("from", "@from{0.0000} s"), ("to", "@to{0.0000} s")], points
    )
    drawing.legend(drawn, keys)
    return drawn


def _brush(found: Sequence[Line], drawing: Drawing) -> figure:
    from bokeh.models import BoxSelectTool, CustomJS, NumeralTickFormatter, RangeTool

    high = max((_iops(b) or 0 for _, _, batches in found for b in batches), default=1)
    end = max(batches[-1]["end_s"] for _, _, batches in found)
    drawn = drawing.figure(
        "time in the window, s", "1/s", drawing.range(0, end), drawing.range(0, 1.1 * high or 1), height=150
    )
    drawn.yaxis.formatter = NumeralTickFormatter(format="0.[0]a")
    drawn.yaxis.ticker.desired_num_ticks = 3
    for index, _, batches in found:
        edges, values = [0.0, *(b["end_s"] for b in batches)], [_iops(b) or 0.0 for b in batches]
        drawn.step(
            edges, [values[0], *values], mode="before", line_color=colour(index), line_width=1.5, line_dash=dash(index)
        )
    window = _window(found, drawing)
    # A box that could be dragged about would be in the way of the next one.
    shown = RangeTool(x_range=window, x_interaction=False)
    shown.overlay.fill_color = colour(0)
    shown.overlay.fill_alpha = 0.15
    select = BoxSelectTool(dimensions="width", persistent=False)
    drawn.tools = [shown, select]
    drawn.toolbar.active_drag = select
    code = "if (cb_obj.final) window.setv({start: cb_obj.geometry.x0, end: cb_obj.geometry.x1})"
    drawn.js_on_event("selectiongeometry", CustomJS(args={"window": window}, code=code))
    return drawn


def _uses(index: int, label: str, batches: Sequence[Mapping[str, Any]]) -> Chart:
    """What the dies did with their time, as a stack."""
    rows = [[*_span(b), *(b["time_share"][use] for use in _USES)] for b in batches]
    return Chart(
        f"over-time-dies-{index + 1}",
        f"Time of all dies: {label}",
        "Shares of the time of all dies in each batch; what is missing to 100 % is idle.",
        ("from_s", "to_s", *_USES),
        rows,
        partial(_stack, [(index, label, batches)]),
    )


def _stack(found: Sequence[Line], drawing: Drawing) -> figure:
    _, _, batches = found[0]
    drawn = drawing.figure(
        "time in the window, s", "die time, %", _window(found, drawing), drawing.range(0, 100), height=220
    )
    layers = (
        (
            Key(use.replace("_", " "), colour(number), hatch=" /"[number % 2]),
            [100 * b["time_share"][use] for b in batches],
        )
        for number, use in enumerate(_USES[:-1])
    )
    bars, keys = [], []
    for key, shares, bottom, top in stacked(layers):
        data: dict[str, Any] = {
            "left": [_span(batch)[0] for batch in batches],
            "right": [batch["end_s"] for batch in batches],
            "bottom": bottom,
            "top": top,
            "share": shares,
            "use": [key.label] * len(batches),
        }
        like = {"line_color": None, "hatch_alpha": 0.5, **key.filling}
        bars.append(drawn.quad("left", "right", "top", "bottom", source=data, **like))
        keys.append(key)
    drawing.hover(drawn, [("", "@use"), ("share", "@share{0.0} %"), ("from", "@left{0.0000} s")], bars)
    drawing.legend(drawn, keys)
    return drawn


def per_second(name: str, batch: Mapping[str, Any]) -> float | None:
    """How often something happened per simulated second of a batch; `a.b` is `b` in `a`."""
    value = number_at(name.split("."), batch)
    return value / batch["length_s"] if value is not None and batch["length_s"] else None
