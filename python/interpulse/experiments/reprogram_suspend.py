"""Reprogramming with program suspension, a combination that no paper has measured.

A reprogram is a pulse train and can be suspended for reads; it also needs reads itself and is more frequent than a
program of three pages. A scaled-down drive of Gao et al., MICRO'19, under an update-heavy load with reads, runs as
conventional TLC and as ReSSD under all program suspension schemes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interpulse.configuration.lists import listed
from interpulse.plotting.plots import COLOURS, Plot, legend, panels
from interpulse.runs.result import Result
from interpulse.studies.case import Case, Sets
from interpulse.studies.context import Context
from interpulse.studies.outcome import Curve, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRIVES: dict[str, tuple[str, Sets]] = {
    "tlc": ("conventional TLC", {"ftl.reprogram": False}),
    "ressd": ("ReSSD", {"ftl.reprogram": True}),
}

LIMITS: dict[str, Sets] = {"": {}, "_max2": {"suspend.program.max-suspends": 2}}
"""Limits of suspensions per program: none, and two."""

TIMES: dict[bool, Sets] = {
    True: {"run.warmup": "20s", "run.time": "40s"},
    False: {"run.warmup": "60s", "run.time": "240s"},
}
"""Lengths of a quick and a full run."""


def schemes() -> list[str]:
    """Schemes that suspend programs, in the order of the registry, `none` first."""
    names = [scheme["name"] for scheme in listed()["schemes"]]
    return ["none", *(name for name in names if name != "none")]


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    config = context.config("drive.toml")
    length = TIMES[context.quick]
    repeats = context.repeats
    ways: dict[str, Sets] = {"none": {}} | {
        f"{scheme}{limit}": {"suspend.program.scheme": scheme, "suspend.erase.scheme": scheme, **sets}
        for scheme in schemes()[1:]
        for limit, sets in LIMITS.items()
    }
    cases = [
        Case(f"{drive}_{way}", config, {**length, **own, **sets}, repeats)
        for drive, (_, own) in DRIVES.items()
        for way, sets in ways.items()
    ]
    context.announce(sum(case.repeats for case in cases))
    results = context.run(cases)
    rows = context.rows()
    for drive, (words, _) in DRIVES.items():
        for case in (case for case in cases if case.name.startswith(f"{drive}_")):
            name = case.name.removeprefix(f"{drive}_")
            figure = f"{words}, {name}"
            of = results[case.name]
            for kind, statistic, unit in (("read", "mean", "us"), ("read", "p99.9", "us"), ("write", "mean", "us")):
                values = [result.raw["latency_us"][kind][statistic] for result in of]
                rows.add_own(f"{drive}_{kind}_{statistic}_{name}", values, unit=unit, figure=figure)
            rows.add(f"{drive}_suspends_per_program_{name}", [_suspends(r) for r in of], unit="", figure=figure)
            pwe = [result.raw["ftl"]["host_page_writes_per_erase"] for result in of]
            rows.add(f"{drive}_pwe_{name}", pwe, unit="pages", figure=figure)
    return Outcome(
        rows,
        notes=list(_notes(results)),
        plots=[Plot("reads", lambda: _draw(results), "Read latency with reprogrammed blocks, scheme by scheme")],
        curves=[_table(results)],
    )


def _suspends(result: Result) -> float:
    nand = result.raw["counters"]["nand"]
    return float(nand["program_suspends"]) / float(nand["host_programs"] + nand["gc_programs"])


def _figure(results: dict[str, list[Result]], case: str, kind: str, statistic: str) -> float:
    values = [float(result.raw["latency_us"][kind][statistic]) for result in results[case]]
    return sum(values) / len(values)


def _notes(results: dict[str, list[Result]]) -> list[str]:
    gains = []
    for drive, (words, _) in DRIVES.items():
        base = _figure(results, f"{drive}_none", "read", "p99.9")
        best = min(
            (case for case in results if case.startswith(f"{drive}_")),
            key=lambda case: _figure(results, case, "read", "p99.9"),
        )
        tail = _figure(results, best, "read", "p99.9")
        name = best.removeprefix(f"{drive}_")
        gains.append(f"{words}: read p99.9 {base:,.0f} us without suspension, {tail:,.0f} us at best ({name})")
    return gains


_COLUMNS = ("drive", "suspension", "read mean", "read p99", "read p99.9", "write mean", "suspends per program", "PWE")


def _table(results: dict[str, list[Result]]) -> Curve:
    lines: list[list[str | float | None]] = []
    for case, of in results.items():
        drive, name = case.split("_", 1)
        figures = [_figure(results, case, "read", s) for s in ("mean", "p99", "p99.9")]
        figures.append(_figure(results, case, "write", "mean"))
        figures.append(sum(_suspends(result) for result in of) / len(of))
        figures.append(sum(float(r.raw["ftl"]["host_page_writes_per_erase"]) for r in of) / len(of))
        lines.append([drive, name, *figures])
    return Curve("table", _COLUMNS, lines)


def _draw(results: dict[str, list[Result]]) -> Figure:
    figure, axes = panels(1, 2, width=5.2, height=4.0)
    names = [case.removeprefix("tlc_") for case in results if case.startswith("tlc_")]
    for axis, statistic in zip(axes, ("mean", "p99.9"), strict=True):
        for number, (drive, (words, _)) in enumerate(DRIVES.items()):
            values = [_figure(results, f"{drive}_{name}", "read", statistic) for name in names]
            places = [k + 0.4 * number - 0.2 for k in range(len(names))]
            axis.barh(places, values, 0.38, color=COLOURS[number], label=words)
        axis.set_yticks(range(len(names)), names)
        axis.invert_yaxis()
        axis.set_xlabel(f"read latency, {statistic}, us")
    legend(axes[0], columns=2)
    return figure
