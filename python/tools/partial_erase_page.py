"""Blocks of docs/schemes/partial-erase.md: the diagram of two merges on one die, and a drive with log blocks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from interpulse import run
from interpulse.flash.die import Phase, Timeline, drive
from interpulse.flash.parts import one_die
from interpulse.plotting import plots
from interpulse.plotting.die_diagram import SHOWN
from interpulse.plotting.plots import Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from interpulse._core import Plan

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "partial-erase.toml"

SETS = (
    ("part.layers", "16"),
    ("part.pages-per-block", "48"),
    ("part.sub-blocks", "4"),
    ("suspend.erase.scheme", "loop-boundary"),
)
"""A small block, so that its programs can be seen: 16 word lines in four sub-blocks."""

WORD_LINE = ("gc-read", "gc-read", "gc-read")
"""Page reads of a word line."""

IN_PLACE = (*(WORD_LINE * 4), "erase", *(("gc-program",) * 4), "erase")
"""One sub-block is read, erased and programmed; the log block is erased."""

WHOLE = (*((*WORD_LINE, "gc-program") * 16), "erase", "erase")
"""Every word line is read and programmed elsewhere; data block and log block are erased."""

READ_AFTER = 1_500_000
"""Arrival of the host read after the first erase began."""

LANES = ("erases", "programs", "reads")


def _plan() -> Plan:
    config = one_die("a4-tlc")
    for key, value in SETS:
        config.set(key, value)
    return config.resolve()


def merge(kinds: tuple[str, ...]) -> Timeline:
    """These operations, each when the one before has ended, and a host read during the first erase."""
    plan = _plan()
    arrivals: list[tuple[str, int]] = []
    at = first_erase = 0
    for kind in kinds:
        if kind == "erase" and not first_erase:
            first_erase = at
        arrivals.append((kind, at))
        at = drive(plan, arrivals).operations[-1].done_ns or 0
    return drive(plan, [*arrivals, ("read", first_erase + READ_AFTER)])


def _lane(phase: Phase, after: Phase | None) -> str:
    read = phase.what in ("sense", "out") or (
        phase.what == "command" and after is not None and after.what in ("sense", "out")
    )
    if read or phase.operation is None:
        return "reads"
    return "erases" if phase.operation.endswith("erase") else "programs"


def _panel(axis: Axes, title: str, seen: Timeline, end_ns: float) -> None:
    axis.set_title(title, loc="left", fontsize=9)
    axis.set(xlim=(0, end_ns / 1e6), ylim=(len(LANES) - 0.5, -0.7))
    axis.set_yticks(range(len(LANES)), LANES)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    for phase, after in zip(seen.phases, [*seen.phases[1:], None], strict=True):
        if phase.what in SHOWN:
            row, colour = LANES.index(_lane(phase, after)), SHOWN[phase.what][1]
            start, length = phase.from_ns / 1e6, phase.length_ns / 1e6
            axis.barh(row, length, left=start, height=0.6, facecolor=colour, edgecolor=colour, linewidth=0.2)
    read = next(read for read in seen.reads if read.kind == "read")
    axis.plot([read.arrived_ns / 1e6], [LANES.index("reads") - 0.4], marker="v", markersize=5, color="black")


def _figure(merges: dict[str, Timeline]) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    figure = Figure(figsize=(9.6, 4.0), layout="constrained")
    axes = figure.subplots(2, 1)
    end = max(seen.phases[-1].to_ns for seen in merges.values())
    for axis, (title, seen) in zip(axes, merges.items(), strict=True):
        _panel(axis, title, seen, 1.01 * end)
    axes[-1].set_xlabel("time since the merge began, ms")
    present = {phase.what for seen in merges.values() for phase in seen.phases}
    legend = [Patch(facecolor=colour, label=name) for what, (name, colour) in SHOWN.items() if what in present]
    arrival = Line2D([], [], color="black", marker="v", markersize=5, linewidth=0, label="arrival of a host read")
    figure.legend(handles=[*legend, arrival], loc="outside lower left", ncols=7, fontsize=7.5, frameon=False)
    return figure


def diagram() -> bytes:
    """Both merges on one axis, as SVG."""
    merges = {"in place: one of four sub-blocks": merge(IN_PLACE), "full merge": merge(WHOLE)}
    [(_, content)] = plots.to_bytes(Plot("partial-erase", lambda: _figure(merges)), ["svg"])
    return content


def _ms(ns: int) -> str:
    return f"{ns / 1e6:.2f}"


def die_block() -> str:
    """The diagram, and how long each merge takes."""
    lines = [
        "![a merge in place and a full merge on one die](partial-erase.svg)",
        "",
        "A die of `a4-tlc` with blocks of 16 word lines in four sub-blocks (read 80 us, program 2 ms, erase 5 ms); a",
        "host read arrives 1.5 ms after the first erase began and stops it at the end of its loop:",
        "",
        "| merge | page reads | programs | erases | takes, ms | the host read takes, ms |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, kinds in (("in place, one sub-block", IN_PLACE), ("full", WHOLE)):
        seen = merge(kinds)
        counts = [kinds.count(kind) for kind in ("gc-read", "gc-program", "erase")]
        read = next(read for read in seen.reads if read.kind == "read")
        figures = [*map(str, counts), _ms(seen.phases[-1].to_ns), _ms((read.done_ns or 0) - read.arrived_ns)]
        lines.append(f"| {name} | {' | '.join(figures)} |")
    return "\n".join([*lines, ""])


TITLES = {"blocks": "whole blocks", "in-place": "in place", "small": "sub-blocks as small blocks"}
"""Merges of the example by the end of the case's name."""


def drive_block() -> str:
    """Figures of the example."""
    lines = [
        "`interpulse run examples/partial-erase.toml`: eight sub-blocks, random overwrites of 48 KiB at depth 4 beside",
        "500 reads a second; merges of whole blocks, in place, and of sub-blocks as blocks of their own, for which the",
        "block map has eight times the entries:",
        "",
        "| | merges | write mean, ms | write p99, ms | read p99.9, ms | `ftl.waf` | in place | other merges |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for found in run(EXAMPLE).cases:
        family, _, kind = found.case.partition("-")
        reads, writes = found.latency_us["read"], found.latency_us["write"]
        logs = found.counters["log_blocks"]
        others = logs["full_merges"] + logs["partial_merges"] + logs["switch_merges"]
        figures = [
            f"{writes['mean'] / 1000:.2f}",
            f"{writes['p99'] / 1000:.1f}",
            f"{reads['p99.9'] / 1000:.2f}",
            f"{found.raw['ftl']['waf']:.2f}",
            str(logs["in_place_merges"]),
            str(others),
        ]
        lines.append(f"| {family.upper()} | {TITLES[kind]} | {' | '.join(figures)} |")
    return "\n".join([*lines, ""])


def blocks() -> list[str]:
    """Generated blocks of the page, in its order."""
    return [die_block(), drive_block()]
