"""Program suspension in a TLC drive: Zambelli et al., Electronics 2021, Figures 10, 12 and 13.

4 KiB random requests at queue depths 16, 32 and 64, 25 and 75 % of them writes, three sizes of DRAM cache; without
suspension and with at most five and ten suspends of a program. The write amplification of 2.4 is imposed. One parameter
is calibrated, on the case without suspension alone: the rate of the channels of the drive preset.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from statistics import fmean

from interpulse.experiments import suspend_tlc_grid as grid
from interpulse.experiments import suspend_tlc_plots as plots
from interpulse.experiments.suspend_tlc_points import (
    CHANGES,
    HEADLINE,
    IN_ALL_MIXES,
    LIMITS,
    MIXES,
    READINGS,
    SENSITIVITIES,
    USUAL_MIB,
    Measured,
    Point,
    points,
)
from interpulse.runs.result import Result
from interpulse.studies.case import Case, Sets
from interpulse.studies.context import Context
from interpulse.studies.outcome import Curve, Outcome, Rows


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    drive = context.config("drive.toml")
    size: Sets = {"run.warmup": "1s", "run.requests": 300_000} if context.quick else {}
    # The sensitivities change figures by more than chance.
    beside: Sets = size or {"run.requests": 500_000}
    repeats = context.repeats
    cases = [
        Case(
            point.name(limit),
            drive,
            {**(beside if point.sensitivity in SENSITIVITIES else size), **point.sets(limit)},
            repeats,
        )
        for point in points()
        for limit in LIMITS
    ]
    context.announce(len(cases) * repeats)
    measured = context.run(cases)
    rows = context.rows()
    _headline(rows, measured)
    for point in points():
        if point.sensitivity not in IN_ALL_MIXES or (point.depth, point.writes) == (HEADLINE.depth, HEADLINE.writes):
            _compare(rows, measured, point)
    _mixes(rows, measured)
    die_plots, die_curves = grid.run(context, rows)
    return Outcome(
        rows,
        calibrated={
            "part.bus-rate": "533MT/s",
            "on": "222 kIOPS and 288 us without suspension at queue depth 64, 25 % writes, which Little's law makes of "
            "the printed gains: of ONFI's rates the one that comes nearest",
        },
        notes=[
            "the article's QoS gains are its largest, and it says that 10 suspends are slightly worse than 5",
            "so they stand beside ours at most 5; rows that end in _max10 have the other, points.csv has everything",
            "the frame buffer of 1024, read as commands, never binds: 64 are outstanding; _sens_frames has data frames",
        ],
        plots=[*plots.all_plots(context, measured), *die_plots],
        curves=[_table(measured), plots.cdf(measured), *die_curves],
    )


def _headline(rows: Rows, measured: Measured) -> None:
    for point in (HEADLINE, *(Point(64, 25, sensitivity=name) for name in READINGS)):
        rows.add(f"iops_none_{point.suffix}", [_kiops(result) for result in measured[point.name(0)]])
        rows.add(f"mean_latency_none_us_{point.suffix}", [_mean_us(result) for result in measured[point.name(0)]])
        five, ten = (_values(measured, point, limit, _read_tail_us) for limit in (5, 10))
        rows.add(f"read_p99.99_change_5_to_10_us_{point.suffix}", [b - a for a, b in zip(five, ten, strict=True)])


def _mixes(rows: Rows, measured: Measured) -> None:
    """Rows about all workloads, and beside them those of the drives that run with every workload."""
    for name in ("", *IN_ALL_MIXES):
        kiops = _gains(measured, _kiops, 10, name)
        tails = {mix: -change for mix, change in _gains(measured, _read_tail_us, 5, name).items()}
        figures = {
            "mixes_with_iops_gain": sum(gain > 0 for gain in kiops.values()),
            "iops_gain_rank_qd64_25w": _rank(kiops),
            "read_p99.99_gain_rank_qd64_25w": _rank(tails),
        }
        for row, ours in figures.items():
            if name:
                rows.add(f"{row}_sens_{name}", ours, beside=row, figure=CHANGES[name][0])
            else:
                rows.add(row, ours)
        if name:
            _beside_mixes(rows, measured, name)


def _beside_mixes(rows: Rows, measured: Measured, name: str) -> None:
    """The baseline and the gain at a low depth of a drive that runs with every workload."""
    headline, low = (Point(depth, 25, sensitivity=name) for depth in (HEADLINE.depth, 16))
    five, none = (_values(measured, low, limit, _total_tail_us) for limit in (5, 0))
    figures = {
        f"iops_none_{HEADLINE.suffix}": _values(measured, headline, 0, _kiops),
        f"mean_latency_none_us_{HEADLINE.suffix}": _values(measured, headline, 0, _mean_us),
        "total_p99.99_gain_us_qd16_25w": [b - a for a, b in zip(five, none, strict=True)],
    }
    five, ten = (_values(measured, headline, limit, _read_tail_us) for limit in (5, 10))
    figures[f"read_p99.99_change_5_to_10_us_{HEADLINE.suffix}"] = [b - a for a, b in zip(five, ten, strict=True)]
    for row, ours in figures.items():
        rows.add(f"{row}_sens_{name}", ours, beside=row, figure=CHANGES[name][0])


def _gains(
    measured: Measured, figure_of: Callable[[Result], float], limit: int, sensitivity: str
) -> dict[tuple[int, int], float]:
    """Increase of a figure by suspension, by depth and share of writes."""
    return {
        (mix.depth, mix.writes): _mean(measured, mix, limit, figure_of) - _mean(measured, mix, 0, figure_of)
        for mix in (replace(mix, sensitivity=sensitivity) for mix in MIXES)
    }


def _rank(gains: dict[tuple[int, int], float]) -> int:
    return 1 + sum(gain > gains[HEADLINE.depth, HEADLINE.writes] for gain in gains.values())


def _compare(rows: Rows, measured: Measured, point: Point) -> None:
    """Gains of a point and its suspensions per program; for other caches only the throughput."""
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
        # The row without a suffix has the limit of the article's number.
        plain = first.setdefault(name, limit) == limit
        if not plain and point.sensitivity and name != "read_p99.99_gain_us":
            continue
        if point.is_reading and not plain:
            continue
        if point.cache_mib != USUAL_MIB and (name != "iops_gain" or not plain):
            continue
        row = f"{name}_{point.suffix}" + ("" if plain else f"_max{limit}")
        before, after = (_values(measured, point, each, figure_of) for each in (0, limit))
        ours = [sign * (b - a) for a, b in zip(before, after, strict=True)]
        if rows.expects(row):
            rows.add(row, ours)
        elif point.sensitivity:
            changed = CHANGES[point.sensitivity][0] + ("" if plain else f"; at most {limit} suspends")
            if point.depth == HEADLINE.depth and point.writes == HEADLINE.writes:
                rows.add(row, ours, beside=f"{name}_{HEADLINE.suffix}", figure=changed)
            else:
                rows.add(row, ours, unit=unit, figure=f"{figure}: at most {limit} suspends; {changed}")
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
