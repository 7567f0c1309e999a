"""Timing diagrams of a single die."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

from interpulse.flash.die import PULSES, READING, Die, Phase, Timeline
from interpulse.plotting import plots
from interpulse.plotting.plots import COLOURS, Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, RED, AMBER, GREEN, PURPLE, GREY, TEAL, ROSE = COLOURS

SHOWN = {
    "load": ("page load", "#b9b9b9"),
    "pulse": ("pulse", BLUE),
    "reset": ("voltage reset", TEAL),
    "verify": ("verify", AMBER),
    "ramp": ("ramp: no progress", ROSE),
    "discharge": ("discharge", PURPLE),
    "entry": ("entry", RED),
    "hold": ("held", "#dddddd"),
    "reload": ("buffer reload", GREY),
    "resume": ("resume", TEAL),
    "command": ("command", "#444444"),
    "sense": ("sensing", GREEN),
    "predict": ("prediction", "#f2d94e"),
    "out": ("data out", "#8fc7a4"),
}
"""The name and the colour of each kind of phase, in the order of the legend."""

_TITLE = 132
"""Characters of a line of the title."""

_ZOOM = 0.4
"""The first suspension gets a panel of its own if it takes less of the whole than this."""


@dataclass(frozen=True)
class _Bar:
    lane: str
    phase: Phase


def draw(die: Die, timeline: Timeline) -> Figure:
    """The whole operation, and below it the first suspension larger if it would be hard to see."""
    from matplotlib.figure import Figure

    bars = _bars(timeline)
    used = {"reads", *(bar.lane for bar in bars)}
    lanes: list[str] = [lane for lane in ("erase", "program", "suspension", "reads") if lane in used]
    end = max([phase.to_ns for phase in timeline.phases] + [read.done_ns or 0 for read in timeline.reads] + [1])
    window = _first_suspension(timeline)
    zoomed = window is not None and window[1] - window[0] < _ZOOM * end
    rows = 2 if zoomed else 1
    figure = Figure(figsize=(9.6, 0.9 + rows * (0.75 + 0.42 * len(lanes))), layout="constrained")
    axes = figure.subplots(rows, 1, squeeze=False)[:, 0]
    _panel(axes[0], bars, lanes, timeline, die, (-0.005 * end, 1.01 * end))
    if window is not None and zoomed:
        for edge in window:
            axes[0].axvline(edge / 1000, color="#888888", linewidth=0.7, linestyle=":")
        _panel(axes[1], bars, lanes, timeline, die, window)
        axes[1].set_title("the first suspension, larger (dotted above)", loc="left", fontsize=8.5, color="#555555")
    axes[-1].set_xlabel("time since the operation arrived, us")
    _legend(figure, bars)
    sets = "".join(f", {key} = {value}" for key, value in die.sets)
    title = fill(f"{die.scheme}: {die.operation} on a die of {die.part}{sets}", _TITLE)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10.5)
    return figure


def _bars(timeline: Timeline) -> list[_Bar]:
    """Every phase with the lane it belongs to."""
    bars = []
    for phase, after in zip(timeline.phases, [*timeline.phases[1:], None], strict=True):
        if phase.what in ("idle", "bus"):
            continue
        is_read = phase.what in READING or (phase.what == "command" and after is not None and after.what in READING)
        in_train = phase.what in PULSES or phase.what in ("load", "ramp", "command")
        lane = "reads" if is_read else (phase.operation or "reads").removeprefix("gc-") if in_train else "suspension"
        bars.append(_Bar(lane, phase))
    return bars


def _first_suspension(timeline: Timeline) -> tuple[float, float] | None:
    """The time around the first suspension, from shortly before its read to shortly after the train resumes."""
    phases = timeline.phases
    for k in range(1, len(phases)):
        if phases[k - 1].what in PULSES and phases[k].what not in PULSES and phases[k].operation is not None:
            back = next((later for later in phases[k:] if later.what in PULSES or later.what == "ramp"), None)
            if back is None:
                return None
            earlier = [read.arrived_ns for read in timeline.reads if read.arrived_ns <= phases[k].from_ns]
            start = max(earlier, default=phases[k].from_ns)
            again = [p.to_ns for p in phases if p.again and p.from_ns >= back.from_ns]
            length = back.from_ns - start
            # What is done again belongs into the picture if it fits.
            stop = max([back.from_ns, *(to for to in again[:2] if to - start < 3 * length)])
            margin = 0.12 * (stop - start)
            return start - margin, stop + margin
    return None


def _panel(
    axis: Axes, bars: list[_Bar], lanes: list[str], timeline: Timeline, die: Die, window: tuple[float, float]
) -> None:
    from matplotlib.ticker import FuncFormatter

    low, high = window
    axis.set(xlim=(low / 1000, high / 1000), ylim=(len(lanes) - 0.4, -0.75))
    axis.set_yticks(range(len(lanes)), lanes)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}" if value < 1e5 else f"{value:,.0f}"))
    for bar in bars:
        phase = bar.phase
        if phase.to_ns > low and phase.from_ns < high:
            _box(axis, lanes.index(bar.lane), phase, window)
    row = lanes.index("reads")
    for read in timeline.reads:
        if low <= read.arrived_ns <= high:
            axis.plot([read.arrived_ns / 1000], [row - 0.42], marker="v", markersize=5, color="black", clip_on=False)
        done = high if read.done_ns is None else read.done_ns
        axis.plot([read.arrived_ns / 1000, done / 1000], [row, row], color="black", linewidth=1.0, zorder=1)
        _say_wait(axis, row, read.arrived_ns, done - die.read_alone_ns, window)


def _box(axis: Axes, row: int, phase: Phase, window: tuple[float, float]) -> None:
    colour = SHOWN[phase.what][1]
    # A white edge would hide what is thin; an edge of its own colour keeps it in sight.
    thin = phase.length_ns < 0.006 * (window[1] - window[0])
    style: dict[str, Any] = {"facecolor": colour, "edgecolor": colour if thin else "white", "linewidth": 0.6}
    if phase.again:
        style |= {"hatch": "//////", "edgecolor": "white", "linewidth": 0.0}
    if phase.running_on:
        style |= {"edgecolor": "black", "linewidth": 1.1}
    axis.barh(row, phase.length_ns / 1000, left=phase.from_ns / 1000, height=0.62, zorder=3, **style)
    shown = min(phase.to_ns, window[1]) - max(phase.from_ns, window[0])
    if shown == phase.length_ns and shown > 0.075 * (window[1] - window[0]):
        dark = phase.what in ("pulse", "entry", "discharge", "sense", "reload", "resume", "reset", "command")
        text: dict[str, Any] = {"color": "white" if dark else "black", "fontsize": 7.5}
        # A hatch behind letters makes them hard to read.
        box = {"facecolor": style["facecolor"], "edgecolor": "none", "pad": 1.0} if phase.again else None
        middle = (phase.from_ns + phase.to_ns) / 2000
        axis.text(middle, row, _us(phase.length_ns), ha="center", va="center", zorder=4, bbox=box, **text)


def _say_wait(axis: Axes, row: int, arrived: int, begins: float, window: tuple[float, float]) -> None:
    """Writes beside the arrival how long the read waits."""
    low, high = window
    if not low <= arrived <= high:
        return
    late = arrived > low + 0.8 * (high - low)
    text = f"waits {_us(begins - arrived)}  " if late else f"  waits {_us(begins - arrived)}"
    where: dict[str, Any] = {"ha": "right" if late else "left", "va": "center", "fontsize": 7.5}
    axis.text(arrived / 1000, row - 0.47, text, clip_on=False, zorder=5, **where)


def _us(ns: float) -> str:
    us = ns / 1000
    return f"{us:,.0f} us" if us >= 1000 else f"{us:,.4g} us"


def _legend(figure: Figure, bars: list[_Bar]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    present = {bar.phase.what for bar in bars}
    handles: list[Any] = [
        Patch(facecolor=colour, label=name) for what, (name, colour) in SHOWN.items() if what in present
    ]
    if any(bar.phase.running_on for bar in bars):
        handles.append(Patch(facecolor="white", edgecolor="black", linewidth=1.1, label="runs on to the stop"))
    if any(bar.phase.again for bar in bars):
        handles.append(Patch(facecolor="#999999", edgecolor="white", linewidth=0.0, hatch="//////", label="done again"))
    arrival = Line2D([], [], color="black", marker="v", markersize=5, linewidth=1.0, label="read: from its arrival on")
    figure.legend(handles=[*handles, arrival], loc="outside lower left", ncols=6, fontsize=7.5, frameon=False)


def to_bytes(die: Die, timeline: Timeline, form: str) -> bytes:
    """The diagram as a file, `svg` or `png`: the same bytes for the same timeline."""
    [(_, content)] = plots.to_bytes(Plot(die.scheme, lambda: draw(die, timeline)), [form])
    return content
