"""Power of program suspension in a TLC drive: Zambelli et al., Electronics 2021, Figure 11.

The drive and the workloads of `suspend-tlc`, with the current of the dies over time. Two scale factors are
calibrated, one on each of two bars: that of the array currents on the 0.4 W at queue depth 64, 25 % writes, and the bus
energy on the 17 mW at queue depth 16, 75 % writes. Everything else is untuned.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from statistics import fmean

from interpulse.configuration.config import Config
from interpulse.configuration.values import toml
from interpulse.experiments import suspend_tlc_power_plots as plots
from interpulse.experiments.suspend_tlc_points import HEADLINE, LIMITS, MIXES, Measured, Point
from interpulse.experiments.suspend_tlc_power_plots import bus_mw, core_w
from interpulse.plotting.plots import Plot
from interpulse.runs.estimate import Estimate
from interpulse.runs.result import Result
from interpulse.studies.case import Case, Sets
from interpulse.studies.context import Context
from interpulse.studies.outcome import Curve, Outcome, Rows

SUSPEND_TLC = "suspend-tlc"
"""Experiment with the same drive."""

INVERTED = Point(64, 75)
"""Point at which the article's memory power falls."""
BUS = Point(16, 75)
"""Point with the largest increase of bus power."""

_ARRAY = (
    *("sense-lsb", "sense-csb", "sense-msb", "program-pulse", "program-reset", "program-verify", "erase-pulse"),
    *("erase-reset", "erase-verify", "discharge", "suspend-entry", "suspend-resume"),
)
_REST = ("idle", "page-load", "page-out", "suspended", "page-buffer-reload")


def currents(array: str, rest: str) -> Sets:
    """Overrides with one current for all array operations, and one for other states of a die."""
    return {f"part.power.{key}": current for keys, current in ((_ARRAY, array), (_REST, rest)) for key in keys}


VARIANTS: dict[str, tuple[str, Sets]] = {
    "datasheet": ("uncalibrated: 25 mA for array operations, 5 mA otherwise", currents("25mA", "5mA")),
}
"""Other currents, for the two points of memory power."""

READINGS: dict[str, tuple[str, Sets]] = {
    "absorbed": (
        "mean of the first 100 ms from an empty cache, which takes every write",
        {"run.warmup": "0s", "run.time": "100ms"},
    ),
    "short": (
        "mean of the first 10 ms from an empty cache",
        {"run.warmup": "0s", "run.time": "10ms"},
    ),
}
"""Finite runs that the write cache absorbs: description and overrides."""


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    drive = context.config(f"../{SUSPEND_TLC}/drive.toml")
    size: Sets = (
        {"run.warmup": "500ms", "run.requests": 100_000}
        if context.quick
        else {"run.warmup": "2s", "run.requests": 500_000}
    )
    traced: Sets = {"power.trace": True}
    repeats = context.repeats
    cases = [
        Case(point.name(limit), drive, {**size, **traced, **point.sets(limit)}, repeats)
        for point in MIXES
        for limit in LIMITS
    ]
    cases += [
        Case(f"{point.name(limit)}_{name}", drive, {**size, **traced, **point.sets(limit), **sets}, repeats)
        for name, (_, sets) in VARIANTS.items()
        for point in (HEADLINE, INVERTED)
        for limit in LIMITS
    ]
    finite = _without_requests(drive)
    cases += [
        Case(f"{INVERTED.name(limit)}_{name}", finite, {**traced, **INVERTED.sets(limit), **sets}, repeats)
        for name, (_, sets) in READINGS.items()
        for limit in LIMITS
    ]
    context.announce((len(cases) + len(LIMITS)) * repeats)
    measured = context.run(cases)
    # Equal request rates, slightly below the drive's throughput without suspension.
    rate = round(0.95 * fmean(result.iops for result in measured[INVERTED.name(0)]) / 1000, 1)
    opened = [
        Case(f"{INVERTED.name(limit)}_open", drive, {**size, **traced, **_open(limit, rate)}, repeats)
        for limit in LIMITS
    ]
    measured |= context.run(opened)
    rows = context.rows()
    _published(rows, measured)
    _readings(rows, measured)
    fall = context.expected().rows["memory_power_up_w_qd64_75w"]
    for point in MIXES:
        _of_point(rows, measured, point)
    _variants(rows, measured)
    falls = [name for name, values in _changes(measured).items() if _falls(Estimate.of(values))]
    return Outcome(
        rows,
        calibrated={
            "part.power": "array operations 4.709 mA (a loop's mean), else 0.942 mA: the data sheet's 25, 5 mA scaled",
            "on": "400 mW more at queue depth 64, 25 % writes (Figure 11a)",
            "part.power.bus-out, bus-in": "0.857 pJ/bit",
            "bus on": "17 mW more at queue depth 16, 75 % writes (Figure 11b)",
        },
        notes=[
            "increases are those from no suspension to at most 10 suspends",
            "readings of QD 64, 75 % writes whose 95 % interval lies below zero, as the article's memory power does: "
            + (", ".join(falls) or "none"),
        ],
        plots=[
            Plot(
                "power",
                lambda: plots.bars(measured, context.expected().rows),
                "Mean power of the memory and of the bus, by limit",
            ),
            Plot(
                "inverted",
                lambda: plots.readings(_changes(measured), fall),
                "Change of power at the article's inverted point, by reading",
            ),
            Plot("over_time", lambda: plots.over_time(measured), "Power over time"),
        ],
        curves=[_table(measured)],
    )


def _without_requests(drive: Config) -> Config:
    """The drive without `run.requests`, for runs that end by `run.time` alone."""
    raw = tomllib.loads(drive.text)
    raw["run"].pop("requests", None)
    return Config(toml(raw), path=drive.path)


def _falls(change: Estimate) -> bool:
    """Whether the whole confidence interval of a change is below zero; false for a single value."""
    return change.high is not None and change.high < 0


def _open(limit: int, kiops: float) -> Sets:
    sets = {key: value for key, value in INVERTED.sets(limit).items() if key != "flow.0.depth"}
    return {**sets, "flow.0.pacing": "open", "flow.0.rate": f"{kiops}kIOPS"}


def _published(rows: Rows, measured: Measured) -> None:
    rows.add("memory_power_up_w_qd64_25w", _up(measured, HEADLINE.suffix, core_w))
    extra = zip(
        _up(measured, HEADLINE.suffix, core_w), _up(measured, HEADLINE.suffix, lambda result: result.iops), strict=True
    )
    rows.add("energy_per_extra_io_uj_qd64_25w", [1e6 * power / iops for power, iops in extra])
    rows.add("bus_power_up_mw_qd16_75w", _up(measured, BUS.suffix, bus_mw))
    for row, point, figure_of in (
        ("memory_power_up_rank_qd64_25w", HEADLINE, core_w),
        ("bus_power_up_rank_qd16_75w", BUS, bus_mw),
    ):
        ups = {each: fmean(_up(measured, each.suffix, figure_of)) for each in MIXES}
        rows.add(row, 1 + sum(up > ups[point] for up in ups.values()))
    rows.add("memory_power_up_w_qd64_75w", _up(measured, INVERTED.suffix, core_w))
    for name, figure_of in (("memory", core_w), ("bus", bus_mw)):
        more = sum(fmean(_up(measured, point.suffix, figure_of)) > 0 for point in MIXES)
        rows.add(f"mixes_with_more_{name}_power", more)


def _changes(measured: Measured) -> dict[str, list[float]]:
    """Change of memory power in W at the inverted point, by reading of "power"."""
    suffix = INVERTED.suffix
    changes = {
        "mean": _up(measured, suffix, core_w),
        "1 ms peak": _up(measured, suffix, peak_w),
        "instantaneous maximum": _up(measured, suffix, instant_w),
    }
    for name in READINGS:
        changes[f"{name}: mean"] = _up(measured, suffix, core_w, f"_{name}")
        changes[f"{name}: 1 ms peak"] = _up(measured, suffix, peak_w, f"_{name}")
    changes["same rate: mean"] = _up(measured, suffix, core_w, "_open")
    changes["same rate: 1 ms peak"] = _up(measured, suffix, peak_w, "_open")
    return changes


def _readings(rows: Rows, measured: Measured) -> None:
    """Rows of all readings beside the article's figure; the mean is the main row."""
    for name, values in _changes(measured).items():
        if name == "mean":
            continue
        key = name.replace(": ", "_").replace(" ", "_")
        rows.add(
            f"memory_power_up_w_qd64_75w_{key}",
            values,
            beside="memory_power_up_w_qd64_75w",
            figure=_words(name),
        )


def _words(name: str) -> str:
    reading, _, figure = name.partition(": ")
    if not figure:
        return f"{name} of the steady state instead of its mean"
    if reading == "same rate":
        return f"{figure} at the same requests per second in all cases, 95 % of what no suspension reaches"
    return READINGS[reading][0].replace("mean", figure, 1)


def _of_point(rows: Rows, measured: Measured, point: Point) -> None:
    figures = (
        ("memory_power_w", core_w, "W", "Figure 11a"),
        ("memory_peak_w", peak_w, "W", "1 ms window"),
        ("bus_power_mw", bus_mw, "mW", "Figure 11b"),
        ("energy_per_request_uj", energy_uj, "uJ", "memory and bus"),
        ("iops", lambda result: result.iops / 1e3, "kIOPS", "Figure 10a"),
    )
    for name, figure_of, unit, figure in figures:
        for limit in LIMITS:
            said = f"{figure}: no suspension" if limit == 0 else f"{figure}: at most {limit} suspends"
            values = [figure_of(result) for result in measured[point.name(limit)]]
            rows.add(f"{name}_{point.name(limit)}", values, unit=unit, figure=said)


def _variants(rows: Rows, measured: Measured) -> None:
    for name, (words, _) in VARIANTS.items():
        for point in (HEADLINE, INVERTED):
            row = f"memory_power_up_w_{point.suffix}"
            ups = _up(measured, point.suffix, core_w, f"_{name}")
            rows.add(f"{row}_sens_{name}", ups, beside=row, figure=words)
        row = "energy_per_extra_io_uj_qd64_25w"
        powers = _up(measured, HEADLINE.suffix, core_w, f"_{name}")
        extra = _up(measured, HEADLINE.suffix, lambda result: result.iops, f"_{name}")
        each = [1e6 * power / iops for power, iops in zip(powers, extra, strict=True)]
        rows.add(f"{row}_sens_{name}", each, beside=row, figure=words)


def _up(measured: Measured, suffix: str, figure_of: Callable[[Result], float], variant: str = "") -> list[float]:
    """Increase of a figure from no suspension to at most ten, by repetition."""
    before, after = (measured[f"{suffix}_{end}{variant}"] for end in ("none", "max10"))
    return [figure_of(b) - figure_of(a) for a, b in zip(before, after, strict=True)]


def peak_w(result: Result) -> float:
    """Maximum of 1 ms means."""
    return float(result.raw["power"]["peak"]["window_mw"]) / 1e3


def instant_w(result: Result) -> float:
    """Maximum instantaneous power of the arrays."""
    return float(result.raw["power"]["peak"]["instant_mw"]) / 1e3


def energy_uj(result: Result) -> float:
    """Flash energy per host request."""
    return float(result.raw["power"]["per_request_uj"]["total"])


def _table(measured: Measured) -> Curve:
    figures = (core_w, peak_w, instant_w, bus_mw, energy_uj, lambda result: result.iops / 1e3)
    columns = ("case", "memory_w", "memory_peak_w", "memory_instant_w", "bus_mw", "energy_per_request_uj", "kiops")
    lines: list[tuple[str | float, ...]] = [
        (name, *(fmean(figure(result) for result in results) for figure in figures))
        for name, results in measured.items()
    ]
    return Curve("points", columns, lines)
