"""Generator of the measured figures of docs/CHOOSING.md: means over seeds with intervals (`make golden`).

Each case of examples/choose.toml runs separately, because not every table needs every case; all seeds share one run. A
test repeats the figures of one seed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from generated import with_blocks

import interpulse
from interpulse.runs.estimate import Estimate
from interpulse.runs.result import Result

if TYPE_CHECKING:
    from interpulse.runs.latency import Kind

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "CHOOSING.md"
CONFIG = ROOT / "examples" / "choose.toml"
FEATURES = ROOT / "examples" / "features.toml"
SEEDS = (1, 2, 3, 4, 5)


Row: TypeAlias = "tuple[str, ...]"
"""Overrides of `examples/choose.toml` that define a drive."""

P = "suspend.program."
E = "suspend.erase."
PROGRAM = (f"{P}scheme=loop-boundary", f"{P}max-suspends=10")
SCHEMES = (
    (),
    PROGRAM,
    (f"{E}scheme=deferred",),
    (*PROGRAM, f"{E}scheme=deferred"),
    (*PROGRAM, f"{E}scheme=immediate"),
    (*PROGRAM, f"{E}scheme=exact"),
    (*PROGRAM, f"{E}scheme=timeout", f"{E}defer-after=10ms"),
    (f"{P}scheme=inter-phase", f"{E}scheme=deferred"),
    (f"{P}scheme=intra-phase-cancel", f"{E}scheme=immediate"),
    (f"{P}scheme=ideal", f"{E}scheme=ideal"),
)
"""Drives from no suspension to the ideal bound."""

LIMITS = (
    (f"{P}scheme=loop-boundary", f"{P}max-suspends=2"),
    (f"{P}scheme=loop-boundary", f"{P}max-suspends=5"),
    (f"{P}scheme=loop-boundary",),
    (*PROGRAM, f"{P}for-gc-reads=true"),
    (*PROGRAM, f"{P}resume=batch"),
    (*PROGRAM, "part.program-suspend-entry=120us"),
)
"""Variants of limits and part costs, to compare with the second row of `SCHEMES`."""

DENSE = (
    PROGRAM,
    (*PROGRAM, f"{E}scheme=deferred"),
    (*PROGRAM, f"{E}scheme=immediate"),
    (*PROGRAM, f"{E}scheme=immediate", f"{E}max-suspends=10"),
    (*PROGRAM, f"{E}scheme=immediate", f"{E}min-interval=1.1ms"),
    (*PROGRAM, f"{E}scheme=timeout", f"{E}defer-after=10ms"),
    (*PROGRAM, f"{E}scheme=exact"),
    (*PROGRAM, f"{E}scheme=exact", f"{E}resume-ramp=200us"),
)
"""Drives under dense reads, which delay erases and the writes behind them."""

BLAMED = ((), PROGRAM, (*PROGRAM, f"{E}scheme=deferred"))
"""Drives whose slowest reads are attributed by cause."""


SUSPENSION = (
    (),
    (f"{P}scheme=loop-boundary",),
    (f"{P}scheme=loop-boundary", f"{E}scheme=deferred"),
    (f"{P}scheme=ideal", f"{E}scheme=ideal"),
)
"""Columns of the tables of features."""


@cache
def measure(row: Row, case: str, seeds: tuple[int, ...] = SEEDS) -> tuple[Result, ...]:
    """Results of one case with the overrides of the row, one per seed of drive and load."""
    raw: dict[str, Any] = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    sets = next(each["set"] for each in raw["case"] if each["name"] == case)
    raw["case"] = [
        {"name": f"seed-{seed}", "set": [*sets, f"seed={seed}", f"precondition.seed={seed}"]} for seed in seeds
    ]
    config = interpulse.Config.of(raw)
    for each in row:
        key, _, value = each.partition("=")
        config.set(key, value)
    results = tuple(interpulse.run(config).cases)
    for seed, result in zip(seeds, results, strict=True):
        if (verdict := result.raw["steady"]["verdict"]) != "yes":
            print(f"steady: {verdict}, {case} of seed {seed} with {', '.join(row) or 'nothing set'}")  # noqa: T201
    return results


@cache
def measure_features(row: Row, seeds: tuple[int, ...] = SEEDS) -> dict[str, tuple[Result, ...]]:
    """Results of each case of `examples/features.toml` with the overrides of the row, one per seed."""
    raw: dict[str, Any] = tomllib.loads(FEATURES.read_text(encoding="utf-8"))
    names = [case["name"] for case in raw["case"]]
    raw["case"] = [
        {"name": f"{case['name']} {seed}", "set": [*case.get("set", []), f"seed={seed}", f"precondition.seed={seed}"]}
        for case in raw["case"]
        for seed in seeds
    ]
    config = interpulse.Config.of(raw)
    for each in row:
        key, _, value = each.partition("=")
        config.set(key, value)
    results = interpulse.run(config).cases
    for result in results:
        if (verdict := result.raw["steady"]["verdict"]) != "yes":
            print(f"steady: {verdict}, {result.case} with {', '.join(row) or 'nothing set'}")  # noqa: T201
    return {name: tuple(results[k * len(seeds) : (k + 1) * len(seeds)]) for k, name in enumerate(names)}


def cell(results: Sequence[Result], figure: Callable[[Result], float], digits: int = 0) -> str:
    """Mean of a figure, with half the width of its interval unless it rounds to zero."""
    estimate = Estimate.of([figure(each) for each in results])
    half = f"{(estimate.high or estimate.value) - estimate.value:,.{digits}f}"
    return f"{estimate.value:,.{digits}f}" + (f" ±{half}" if float(half.replace(",", "")) else "")


def latency(results: Sequence[Result], kind: Kind, at: float, per: float = 1.0, digits: int = 0) -> str:
    """A latency percentile in units of `per` microseconds."""
    return cell(results, lambda each: (each.percentile(kind, at) or 0.0) / per, digits)


def suspends(results: Sequence[Result], kind: str, digits: int) -> str:
    """Suspensions per program or per erase."""

    def of(result: Result) -> float:
        nand = result.counters["nand"]
        count = nand["erases"] if kind == "erase" else nand["host_programs"] + nand["gc_programs"]
        return float(nand[f"{kind}_suspends"] / count) if count else 0.0

    return cell(results, of, digits)


def line(row: Row, *cells: str) -> str:
    """A table line that starts with the overrides."""
    return f"| {'<br>'.join(f'`{each}`' for each in row) or 'as it is'} | {' | '.join(cells)} |"


def drive_line(row: Row, seeds: tuple[int, ...] = SEEDS) -> str:
    """Line of the table that compares drives."""
    steady, busy = (measure(row, case, seeds) for case in ("steady", "busy"))
    return line(
        row,
        *(latency(steady, "read", at) for at in (99, 99.9, 99.99)),
        suspends(steady, "program", 2),
        suspends(steady, "erase", 1),
        cell(busy, lambda each: each.iops / 1000, 1),
        latency(busy, "write", 99, per=1000, digits=1),
    )


def dense_line(row: Row, seeds: tuple[int, ...] = SEEDS) -> str:
    """Line of the table that shows starvation."""
    dense = measure(row, "dense", seeds)

    def again(result: Result) -> float:
        nand = result.counters["nand"]
        return float(100 * nand["erase_redone_time"] / nand["erase_pulse_time"])

    return line(
        row,
        *(latency(dense, "read", at) for at in (99.9, 99.99)),
        latency(dense, "write", 99.9),
        suspends(dense, "erase", 1),
        cell(dense, lambda each: each.raw["nand"]["erase_us"]["mean"] / 1000, 1),
        cell(dense, again),
    )


def blame_line(row: Row) -> str:
    """The three largest causes of the slowest 0.1 % of a drive's reads."""
    steady = measure(row, "steady")
    tails = [each.tail_blame["p99.9"] for each in steady]
    means = {name: Estimate.of([tail["shares"][name] for tail in tails]).value for name in tails[0]["shares"]}

    def share(name: str) -> str:
        return f"{name} {cell(steady, lambda each: 100 * each.tail_blame['p99.9']['shares'][name])} %"

    causes = sorted(means, key=lambda name: -means[name])[:3]
    above = cell(steady, lambda each: each.tail_blame["p99.9"]["above_us"])
    return line(row, above, ", ".join(share(name) for name in causes))


def feature_lines(at: float) -> list[str]:
    """A line for each feature: write amplification without suspension, a read percentile for each suspension."""
    columns = [measure_features(row) for row in SUSPENSION]
    return [
        f"| `{name}` | {cell(columns[0][name], lambda each: each.raw['ftl']['waf'], 2)} | "
        + " | ".join(latency(column[name], "read", at) for column in columns)
        + " |"
        for name in columns[0]
    ]


DRIVES = """
| `--set` | read p99, us | p99.9 | p99.99 | suspends a program | an erase | busy: kIOPS | write p99, ms |
|---|---:|---:|---:|---:|---:|---:|---:|
"""
STARVING = """
| `--set` | read p99.9, us | p99.99 | write p99.9, us | suspends an erase | it takes, ms | done again, % |
|---|---:|---:|---:|---:|---:|---:|
"""
BLAME = """
| `--set` | reads slower than, us | because of |
|---|---:|---|
"""

FEATURE = """
| case | WAF | not suspended | programs | programs and erases | ideal |
|---|---:|---:|---:|---:|---:|
"""


def table(head: str, lines: Sequence[str]) -> str:
    """A table from its head and lines."""
    return "\n".join([head.strip(), *lines, ""])


def one_seed() -> str:
    """One line of each table with one seed, which a reader can reproduce; a test compares the block."""
    row, seeds = DENSE[1], SEEDS[:1]
    return "\n".join([table(DRIVES, [drive_line(row, seeds)]), table(STARVING, [dense_line(row, seeds)])])


def main() -> None:
    """Writes the tables."""
    blocks = [
        one_seed(),
        table(BLAME, [blame_line(row) for row in BLAMED]),
        table(DRIVES, [drive_line(row) for row in SCHEMES]),
        table(DRIVES, [drive_line(row) for row in LIMITS]),
        table(STARVING, [dense_line(row) for row in DENSE]),
        *(table(FEATURE, feature_lines(at)) for at in (99, 99.9)),
    ]
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_blocks(text, blocks), encoding="utf-8")


if __name__ == "__main__":
    main()
