"""All suspension schemes of 2012 to 2025 on one drive of 2025: tails, throughput, time under voltage, energy.

Reads at a fixed rate beside a writer that keeps 64 writes outstanding, on TLC and QLC dies, with and without an SLC
cache and independent plane reads; `drive.toml` describes drive and load. No publication has these figures.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interpulse.experiments.decade_ways import WAYS, DriveKind, Way, drives
from interpulse.plotting.plots import Plot, panels
from interpulse.runs.estimate import Estimate
from interpulse.studies.case import Case, Sets
from interpulse.studies.context import Context
from interpulse.studies.outcome import Curve, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

    from interpulse.runs.result import Result

LENGTHS: dict[bool, Sets] = {
    True: {"run.warmup": "1s", "run.requests": 60_000},
    False: {"run.warmup": "3s", "run.requests": 600_000},
}
"""Lengths of a quick and a full run."""

MAP = "PiYG_r"
"""Colour map of the time under voltage; green is less."""

ENERGIES = (0.9, 1.0, 1.1)
"""Energies whose marks the legend shows."""

Results = Mapping[str, Sequence["Result"]]


@dataclass(frozen=True)
class Measure:
    """A figure of a case."""

    name: str
    title: str
    unit: str
    of: Callable[[Result], float]


def voltage(result: Result) -> float:
    """Time of pulses and verifies on cells for a page that the host writes, redone ones included, in us."""
    nand = result.raw["counters"]["nand"]
    pulses = nand["program_pulse_time"] + nand["erase_pulse_time"] + nand["multi_block_pulse_time"]
    return float(pulses) / 1e3 / max(float(result.raw["ftl"]["host_pages"]), 1.0)


MEASURES: tuple[Measure, ...] = (
    Measure("read_p99.9", "read p99.9", "us", lambda result: float(result.raw["latency_us"]["read"]["p99.9"])),
    Measure("read_p99.99", "read p99.99", "us", lambda result: float(result.raw["latency_us"]["read"]["p99.99"])),
    Measure("write_p99.9", "write p99.9", "us", lambda result: float(result.raw["latency_us"]["write"]["p99.9"])),
    Measure("writes", "writes", "kIOPS", lambda result: _writes(result) / 1e3),
    Measure("voltage", "time under voltage of a written page", "us", voltage),
    Measure(
        "energy", "energy of a request", "uJ", lambda result: float(result.raw["power"]["per_request_uj"]["total"])
    ),
)


def _writes(result: Result) -> float:
    return float(result.raw["latency_us"]["write"]["count"]) / float(result.raw["simulated_s"])


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    config = context.config("drive.toml")
    length, kinds = LENGTHS[context.quick], drives()
    cases = [
        Case(f"{drive.name}_{way.name}", config, {**length, **drive.sets, **way.sets}, context.repeats)
        for drive in kinds
        for way in WAYS
    ]
    context.announce(sum(case.repeats for case in cases))
    results = context.run(cases)
    rows = context.rows()
    for drive in kinds:
        for way in WAYS:
            for measure in MEASURES:
                values = [measure.of(result) for result in results[f"{drive.name}_{way.name}"]]
                figure = f"{drive.title}: {way.name} ({way.source})"
                rows.add_own(f"{drive.name}_{measure.name}_{way.name}", values, unit=measure.unit, figure=figure)
    return Outcome(
        rows,
        notes=[*(_note(drive, results) for drive in kinds), _steadiness(results)],
        plots=[
            Plot(
                "decade",
                lambda: _draw(kinds, results),
                "Read tail, write tail, time under voltage and energy of every scheme from 2012 to 2025",
            )
        ],
        curves=[_table(kinds, results)],
    )


def _mean(results: Results, drive: DriveKind, way: Way, measure: Measure) -> float:
    values = [measure.of(result) for result in results[f"{drive.name}_{way.name}"]]
    return sum(values) / len(values)


def _note(drive: DriveKind, results: Results) -> str:
    """The shortest read tail of a drive among what parts can do, and what it costs with each seed."""
    tail = MEASURES[1]
    real = [way for way in WAYS if way.name not in ("none", "ideal")]
    best = min(real, key=lambda way: _mean(results, drive, way, tail))
    texts = []
    for measure in MEASURES[1:]:
        pairs = zip(results[f"{drive.name}_{best.name}"], results[f"{drive.name}_none"], strict=True)
        ratio = Estimate.geometric([measure.of(a) / measure.of(b) for a, b in pairs])
        texts.append(f"{measure.title} x{ratio.value:.3g}{_interval(ratio)}")
    return f"{drive.title}: shortest with {best.name}, against none: {', '.join(texts)}"


def _steadiness(results: Results) -> str:
    """How many windows were steady."""
    verdicts = Counter(str((result.raw.get("steady") or {}).get("verdict")) for of in results.values() for result in of)
    return f"windows steady: {', '.join(f'{verdict} {count}' for verdict, count in sorted(verdicts.items()))}"


def _interval(of: Estimate) -> str:
    return "" if of.low is None or of.high is None else f" ({of.low:.3g} to {of.high:.3g})"


def _table(kinds: Sequence[DriveKind], results: Results) -> Curve:
    columns = ("drive", "way", "year", *(f"{measure.title}, {measure.unit}" for measure in MEASURES))
    lines: list[list[str | float | None]] = [
        [drive.name, way.name, way.year or None, *(_mean(results, drive, way, measure) for measure in MEASURES)]
        for drive in kinds
        for way in WAYS
    ]
    return Curve("table", columns, lines)


def _draw(kinds: Sequence[DriveKind], results: Results) -> Figure:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import TwoSlopeNorm

    columns = len(kinds) // 2
    figure, axes = panels(2, columns, width=3.8, height=3.4)
    norm = TwoSlopeNorm(1.0, 0.8, 1.2)
    for axis, drive in zip(axes, kinds, strict=True):
        _draw_drive(axis, drive, results, norm)
    for axis in axes[::columns]:
        axis.set_ylabel("read p99.99, us")
    for axis in axes[-columns:]:
        axis.set_xlabel("write p99.9, ms")
    colours = ScalarMappable(norm, MAP)
    figure.colorbar(colours, ax=axes, label="time under voltage of a written page, against none", shrink=0.7)
    sizes = [axes[0].scatter([], [], s=_area(share), color="#bbbbbb", label=f"{share:.0%}") for share in ENERGIES]
    figure.legend(handles=sizes, title="energy of a request,\nagainst none", loc="outside right upper")
    names = "   ".join(f"{number} {way.name}{f' {way.year}' * (way.year > 0)}" for number, way in enumerate(WAYS))
    figure.suptitle(textwrap.fill(names, 45 * columns), fontsize=9.0, x=0.01, ha="left")
    return figure


def _area(energy: float) -> float:
    """Area of a mark for an energy, against none: differences are small and have to be seen."""
    return 60.0 * max(energy, 0.8) ** 8


def _draw_drive(axis: Axes, drive: DriveKind, results: Results, norm: Normalize) -> None:
    """One drive: read tail over write tail, numbered by way."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    _, read, write, _, stress, energy = MEASURES
    base = {measure.name: _mean(results, drive, WAYS[0], measure) for measure in (stress, energy)}
    for number, way in enumerate(WAYS):
        x, y = _mean(results, drive, way, write) / 1e3, _mean(results, drive, way, read)
        worn = _mean(results, drive, way, stress) / base[stress.name]
        area = _area(_mean(results, drive, way, energy) / base[energy.name])
        axis.scatter([x], [y], s=area, c=[worn], norm=norm, cmap=MAP, edgecolors="#444444", linewidths=0.6)
        axis.annotate(str(number), (x, y), textcoords="offset points", xytext=(5, 3), fontsize=7.0)
    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.xaxis.set_major_locator(MaxNLocator(5))
    axis.margins(0.1)
    axis.set_title(drive.title, fontsize=9.0)
