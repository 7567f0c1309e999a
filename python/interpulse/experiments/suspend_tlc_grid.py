"""Characterisation of single dies in Zambelli et al. 2021, Figures 5 to 8, from the same die model as the drive.

A read arrives at Delay1 after the start of a program and suspends it; after each resume the next read arrives after
Delay2, until the program ends. Both delays range from 10 to 100 % of the nominal program time, for sampled word lines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from interpulse._core import Plan
from interpulse.flash.die import Timeline, drive
from interpulse.plotting.plots import Plot, panels
from interpulse.runs.estimate import Estimate
from interpulse.studies.case import Sets
from interpulse.studies.context import Context
from interpulse.studies.outcome import Curve, Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROGRAM_NS = 2_000_000
"""Nominal program time (Table 2)."""

STEPS = tuple(range(1, 11))
"""Delays in tenths of the program time."""

PROGRESS = ("pulsing", "stopping", "entering", "resuming")
"""States of a die that belong to the program; the others belong to the read."""

SPREAD: Sets = {"part.program-loops-sd": 1.0}
"""Variation between word lines (Figure 3a), without a printed figure."""

READINGS: dict[str, tuple[str, Sets]] = {
    "loop-boundary": (
        "stops at loop ends, as the drive; entering costs nothing beyond the loop, as the part",
        {"suspend.program.scheme": "loop-boundary", "part.program-suspend-entry": "0us"},
    ),
    "exact": (
        "stops anywhere, entering takes 70 us and makes no progress",
        {"suspend.program.scheme": "exact", "part.program-suspend-entry": "70us"},
    ),
}
"""Two readings of the die's state between the request and the read."""


@dataclass(frozen=True)
class Measured:
    """A word line under one pair of delays."""

    suspends: int
    entries_ns: tuple[int, ...]
    """Times to enter suspension."""
    total_ns: int
    """Program time including entries, without reads."""


Grid = dict[tuple[int, int], list[Measured]]
"""Word lines by delays in tenths of the program time."""


WORD_LINES = 50
"""Word lines per pair of delays (article, Section 3.2)."""


def measure(plan: Plan, word_lines: int, first_seed: int) -> Grid:
    """Runs the flow of Figure 5 for all pairs of delays."""
    grid: Grid = {}
    for first in STEPS:
        for then in STEPS:
            probe = (first * PROGRAM_NS // 10, then * PROGRAM_NS // 10)
            seeds = range(first_seed, first_seed + word_lines)
            grid[first, then] = [_read(drive(plan, [("program", 0)], probe=probe, seed=seed)) for seed in seeds]
    return grid


def _read(timeline: Timeline) -> Measured:
    """Measurements that a tester would take."""
    entries: list[int] = []
    suspends = total = 0
    for before, span in zip([None, *timeline.spans], timeline.spans, strict=False):
        if span.state not in PROGRESS or span.operation != "program":
            continue
        total += span.length_ns
        if span.state == "pulsing":
            suspends += before is not None and before.state not in ("load", "load-wait")
            entries.append(0)
        elif span.state in ("stopping", "entering"):
            entries[-1] += span.length_ns
    # The last run of pulses ends with the program, not a suspension.
    return Measured(suspends, tuple(entries[:suspends]), total)


def formula(first: int, then: int, *, boundary: bool) -> int:
    """Suspends of a program that advances only during the delays: k with Delay1 + k Delay2 below 1, or up to 1."""
    limit = 10 + (1 if boundary else 0)
    return sum(1 for k in range(20) if first + k * then < limit)


def run(context: Context, rows: Rows) -> tuple[list[Plot], list[Curve]]:
    """Measures the grids, adds their rows, and returns plots and curves."""
    config = context.config("drive.toml")
    grids: dict[str, Grid] = {}
    for name, (_, sets) in READINGS.items():
        for kind, extra, count in (("", SPREAD, WORD_LINES), ("-uniform", {}, 1)):
            plan = context.plan(f"grid {name}{kind}", config, {**sets, **extra})
            grids[f"{name}{kind}"] = measure(plan, count, context.seed)
    for name, (words, _) in READINGS.items():
        beside = "" if name == "loop-boundary" else f"_sens_{name}"
        _rows(rows, grids[name], beside, words)
        agreeing = [_agreement(grids[f"{name}-uniform"], boundary=boundary) for boundary in (False, True)]
        for count, what in zip(agreeing, ("", "_with_boundary"), strict=True):
            rows.add(
                f"grid_cells_as_formula{what}{beside}",
                count,
                unit="of 100",
                figure=f"Figure 6, all word lines alike: {words}",
            )
    plots = [
        Plot("delays", lambda: _draw(grids["loop-boundary"]), "Suspends, time to enter and program time by both delays")
    ]
    return plots, [_curve(grids)]


def _rows(rows: Rows, grid: Grid, suffix: str, words: str) -> None:
    every = [each for cell in grid.values() for each in cell]
    entries = [entry / PROGRAM_NS * 100 for each in every for entry in each.entries_ns]
    late = [each.suspends for (first, then), cell in grid.items() if min(first, then) > 6 for each in cell]
    figures = {
        "grid_most_suspends": float(max(each.suspends for each in every)),
        "grid_most_suspends_delays_above_60": float(max(late)),
        "grid_entry_mean_percent": Estimate.of(entries).value,
        "grid_entry_worst_percent": max(entries),
        "grid_total_100_100": max(map(_polled(10, 10), grid[10, 10])),
        "grid_total_10_90": max(map(_polled(1, 9), grid[1, 9])),
    }
    for name, ours in figures.items():
        if suffix:
            rows.add(f"{name}{suffix}", ours, beside=name, figure=words)
        else:
            rows.add(name, ours)


def _polled(first: int, then: int) -> Callable[[Measured], float]:
    """Program time in nominal program times, as seen by a tester that polls only after each delay."""

    def figure(each: Measured) -> float:
        return (first + then * each.suspends) / 10 + sum(each.entries_ns) / PROGRAM_NS

    return figure


def _agreement(grid: Grid, *, boundary: bool) -> int:
    return sum(cell[0].suspends == formula(*delays, boundary=boundary) for delays, cell in grid.items())


def _curve(grids: dict[str, Grid]) -> Curve:
    columns = (
        *("reading", "delay1_percent", "delay2_percent", "suspends_mean", "suspends_most", "formula"),
        *("entry_mean_us", "entry_worst_us", "program_mean_us", "program_worst_us", "program_polled_worst"),
    )
    lines: list[tuple[str | float | None, ...]] = []
    for name, grid in grids.items():
        for (first, then), cell in grid.items():
            entries = [entry / 1e3 for each in cell for entry in each.entries_ns]
            totals = [each.total_ns / 1e3 for each in cell]
            counts = [float(each.suspends) for each in cell]
            lines.append(
                (
                    *(name, 10 * first, 10 * then, fmean(counts), max(counts), formula(first, then, boundary=False)),
                    *((fmean(entries), max(entries)) if entries else (None, None)),
                    *(fmean(totals), max(totals), max(map(_polled(first, then), cell))),
                )
            )
    return Curve("delays", columns, lines)


def _draw(grid: Grid) -> Figure:
    """Suspends, time to enter and program time against both delays, as the article's Figures 6, 7a and 8b."""
    figure, axes = panels(1, 3, width=3.9, height=3.6)
    suspends = [[fmean([each.suspends for each in grid[first, then]]) for first in STEPS] for then in STEPS]
    entries = [[_entry_percent(grid[first, then]) for first in STEPS] for then in STEPS]
    times = [[max(map(_polled(first, then), grid[first, then])) for first in STEPS] for then in STEPS]
    shown = {
        "suspends of a program, mean": suspends,
        "time to enter, mean, % of program": entries,
        "program time as polled, worst, in t_PGM": times,
    }
    for axis, (title, values) in zip(axes, shown.items(), strict=True):
        image = axis.imshow(values, origin="lower", cmap="viridis", extent=(5, 105, 5, 105), aspect="auto")
        figure.colorbar(image, ax=axis, shrink=0.85)
        axis.set(title=title, xlabel="Delay1, % of program time")
        axis.grid(visible=False)
    axes[0].set_ylabel("Delay2, % of program time")
    return figure


def _entry_percent(cell: list[Measured]) -> float:
    entries = [entry / PROGRAM_NS * 100 for each in cell for entry in each.entries_ns]
    return fmean(entries) if entries else float("nan")
