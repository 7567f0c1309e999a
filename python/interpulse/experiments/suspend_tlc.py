"""Program suspension in a TLC drive: Zambelli et al., Electronics 2021, Figures 10, 12 and 13.

4 KiB random requests at queue depths 16, 32 and 64, 25 and 75 % of them writes, three sizes of DRAM cache; without
suspension and with at most five and ten suspends of a program. The write amplification of 2.4 is imposed. One parameter
is calibrated, on the case without suspension alone: the firmware time of the drive preset.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from interpulse.studies.case import Case
from interpulse.studies.outcome import Curve, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from interpulse.config import Value
    from interpulse.experiments.suspend_tlc_plots import Measured
    from interpulse.result import Result
    from interpulse.studies.case import Sets
    from interpulse.studies.context import Context
    from interpulse.studies.outcome import Rows

DEPTHS = (16, 32, 64)
WRITES = (25, 75)
CACHES_MIB = (64, 256, 512)
LIMITS = (0, 5, 10)
"""Most suspends of a program; 0 is without suspension."""

USUAL_MIB = 256
"""The preset's cache: that of the rows whose name says none."""

SENSITIVITIES: dict[str, tuple[str, Sets]] = {
    "entry70": ("suspend entry of 70 us", {"part.program-suspend-entry": "70us"}),
    "entry125": ("suspend entry of 125 us, one ISPP loop", {"part.program-suspend-entry": "125us"}),
    "bus1200": (
        "1200 MT/s, firmware calibrated anew to 66 us",
        {"part.bus-rate": "1200MT/s", "host.firmware": "66us"},
    ),
    "entry125_bus1200": (
        "suspend entry of 125 us, 1200 MT/s, firmware 66 us",
        {"part.program-suspend-entry": "125us", "part.bus-rate": "1200MT/s", "host.firmware": "66us"},
    ),
    "annotated": (
        "the part as characterize suspend measures it: entering 5 us, resuming 60 us, word lines of 16.3 +- 0.8 loops",
        {
            "part.program-suspend-entry": "5us",
            "part.program-resume": "60us",
            "part.program-loops-sd": 0.84,
        },
    ),
    "exact70": (
        "stops anywhere, entering takes 70 us and makes no progress",
        {"suspend.program.scheme": "exact", "part.program-suspend-entry": "70us"},
    ),
    "batch": ("resumed after the reads that waited at the stop", {"suspend.program.resume": "batch"}),
    "one_read": (
        "resumed after each read: resume = timer, 1 ns after the read",
        {"suspend.program.resume": "timer", "suspend.program.resume-after": "1ns"},
    ),
    "batch_entry70": (
        "resumed after the reads that waited at the stop, suspend entry of 70 us",
        {"suspend.program.resume": "batch", "part.program-suspend-entry": "70us"},
    ),
    "batch_entry70_bus1200": (
        "the same with 1200 MT/s, firmware 66 us",
        {
            "suspend.program.resume": "batch",
            "part.program-suspend-entry": "70us",
            "part.bus-rate": "1200MT/s",
            "host.firmware": "66us",
        },
    ),
    "fifo": ("first-in first-out instead of read priority", {"schedule.policy": "fifo"}),
    "spread": ("program loops of word lines with a standard deviation of 1", {"part.program-loops-sd": 1.0}),
}
"""What the article does not print and what moves its headline: in words, and as overrides."""


@dataclass(frozen=True)
class Point:
    """One workload on one drive, with every limit of suspends."""

    depth: int
    writes: int
    cache_mib: int = USUAL_MIB
    sensitivity: str = ""

    @property
    def suffix(self) -> str:
        """How the names of its rows end."""
        cache = "" if self.cache_mib == USUAL_MIB else f"_cache{self.cache_mib}"
        return f"qd{self.depth}_{self.writes}w{cache}" + (f"_sens_{self.sensitivity}" if self.sensitivity else "")

    def name(self, limit: int) -> str:
        """The name of its case with a limit."""
        return f"{self.suffix}_{'none' if limit == 0 else f'max{limit}'}"

    def sets(self, limit: int) -> Sets:
        """The overrides of that case."""
        sets: dict[str, Value] = {
            "flow.0.depth": self.depth,
            "flow.0.read": f"{100 - self.writes}%",
            "cache.size": f"{self.cache_mib}MiB",
        }
        if self == CDF:
            sets["report.histograms"] = True
        if limit:
            sets |= {"suspend.program.scheme": "loop-boundary", "suspend.program.max-suspends": limit}
        if self.sensitivity:
            changed = SENSITIVITIES[self.sensitivity][1]
            # Without suspension there is nothing to say about how it is done.
            sets |= {key: value for key, value in changed.items() if limit or not key.startswith("suspend.")}
        return sets


HEADLINE = Point(64, 25)
CDF = Point(64, 75)
"""The point of the article's Figure 12."""


def points() -> Iterator[Point]:
    """Every point, the sensitivities last."""
    for cache_mib in (USUAL_MIB, *(size for size in CACHES_MIB if size != USUAL_MIB)):
        for depth in DEPTHS:
            for writes in WRITES:
                yield Point(depth, writes, cache_mib)
    for sensitivity in SENSITIVITIES:
        yield Point(HEADLINE.depth, HEADLINE.writes, sensitivity=sensitivity)


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    from interpulse.experiments import suspend_tlc_grid as grid
    from interpulse.experiments import suspend_tlc_plots as plots

    drive = context.config("drive.toml")
    size: Sets = {"run.warmup": "1s", "run.requests": 300_000} if context.quick else {}
    repeats = 1 if context.quick else 3
    cases = [
        Case(point.name(limit), drive, {**size, **point.sets(limit)}, repeats) for point in points() for limit in LIMITS
    ]
    context.announce(len(cases) * repeats)
    measured = context.run(cases)
    rows = context.rows()
    _headline(rows, measured)
    for point in points():
        _compare(rows, measured, point)
    gains = sum(
        _mean(measured, Point(depth, writes), 10, _kiops) > _mean(measured, Point(depth, writes), 0, _kiops)
        for depth in DEPTHS
        for writes in WRITES
    )
    rows.add("mixes_with_iops_gain", gains)
    die_plots, die_curves = grid.run(context, rows)
    return Outcome(
        rows,
        calibrated={
            "host.firmware": "32us",
            "on": "222 kIOPS and 288 us without suspension at queue depth 64, 25 % writes, which Little's law makes of "
            "the printed gains; everything else is predicted",
        },
        notes=[
            "the article's QoS gains are its largest, and it says that 10 suspends are slightly worse than 5",
            "so they stand beside ours at most 5; rows that end in _max10 have the other, points.csv has everything",
            "the frame buffer of 1024 entries never binds: at most 64 requests are outstanding",
        ],
        plots=[*plots.all_plots(context, measured), *die_plots],
        curves=[_table(measured), plots.cdf(measured), *die_curves],
    )


def _headline(rows: Rows, measured: Measured) -> None:
    rows.add("iops_none_qd64_25w", [_kiops(result) for result in measured[HEADLINE.name(0)]])
    rows.add("mean_latency_none_us_qd64_25w", [_mean_us(result) for result in measured[HEADLINE.name(0)]])
    five, ten = (_values(measured, HEADLINE, limit, _read_tail_us) for limit in (5, 10))
    rows.add("read_p99.99_change_5_to_10_us_qd64_25w", [b - a for a, b in zip(five, ten, strict=True)])


def _compare(rows: Rows, measured: Measured, point: Point) -> None:
    """The gains of one point, and how often its programs are suspended; of other caches the throughput only."""
    figures: tuple[tuple[str, int, Callable[[Result], float], int, str, str], ...] = (
        ("iops_gain", 10, _kiops, 1, "kIOPS", "Figure 10a"),
        ("iops_gain", 5, _kiops, 1, "kIOPS", "Figure 10a"),
        ("mean_latency_gain_us", 10, _mean_us, -1, "us", "Figure 10b"),
        ("mean_latency_gain_us", 5, _mean_us, -1, "us", "Figure 10b"),
        ("total_p99.99_gain_us", 5, _total_tail_us, -1, "us", "Figure 13a"),
        ("total_p99.99_gain_us", 10, _total_tail_us, -1, "us", "Figure 13a"),
        ("read_p99.99_gain_us", 5, _read_tail_us, -1, "us", "Figure 13b"),
        ("read_p99.99_gain_us", 10, _read_tail_us, -1, "us", "Figure 13b"),
    )
    first: dict[str, int] = {}
    for name, limit, figure_of, sign, unit, figure in figures:
        # The plain name belongs to the limit that the article's number belongs to.
        plain = first.setdefault(name, limit) == limit
        if not plain and point.sensitivity and name != "read_p99.99_gain_us":
            continue
        if point.cache_mib != USUAL_MIB and (name != "iops_gain" or not plain):
            continue
        row = f"{name}_{point.suffix}" + ("" if plain else f"_max{limit}")
        before, after = (_values(measured, point, each, figure_of) for each in (0, limit))
        ours = [sign * (b - a) for a, b in zip(before, after, strict=True)]
        if point == HEADLINE and plain:
            rows.add(row, ours)
        elif point.sensitivity:
            changed = SENSITIVITIES[point.sensitivity][0] + ("" if plain else f"; at most {limit} suspends")
            rows.add(row, ours, beside=f"{name}_{HEADLINE.suffix}", figure=changed)
        else:
            rows.add(row, ours, unit=unit, figure=f"{figure}: at most {limit} suspends")
    if point.cache_mib == USUAL_MIB:
        values = _values(measured, point, 10, _suspends)
        rows.add(f"suspends_per_program_{point.suffix}", values, unit="suspends", figure="at most 10 suspends")


def _values(measured: Measured, point: Point, limit: int, figure_of: Callable[[Result], float]) -> list[float]:
    return [figure_of(result) for result in measured[point.name(limit)]]


def _mean(measured: Measured, point: Point, limit: int, figure_of: Callable[[Result], float]) -> float:
    return fmean(_values(measured, point, limit, figure_of))


def _kiops(result: Result) -> float:
    return result.iops / 1e3


def _mean_us(result: Result) -> float:
    return result.latency_us["all"]["mean"]


def _total_tail_us(result: Result) -> float:
    return result.percentile("all", 99.99)


def _read_tail_us(result: Result) -> float:
    return result.percentile("read", 99.99)


def _suspends(result: Result) -> float:
    nand = result.raw["nand"]
    return float(nand["suspends"]["program"]) / float(nand["programs"])


def _table(measured: Measured) -> Curve:
    """Every point and limit with its figures: what the plots show."""
    figures = (_kiops, _mean_us, _total_tail_us, _read_tail_us, _suspends)
    columns = ("queue_depth", "writes_percent", "cache_mib", "sensitivity", "max_suspends")
    names = ("kiops", "mean_us", "total_p99.99_us", "read_p99.99_us", "suspends_per_program")
    lines: list[tuple[str | float, ...]] = [
        (
            *(point.depth, point.writes, point.cache_mib, point.sensitivity, limit),
            *(_mean(measured, point, limit, figure) for figure in figures),
        )
        for point in points()
        for limit in LIMITS
    ]
    return Curve("points", (*columns, *names), lines)
