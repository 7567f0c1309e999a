"""Writes the measured figures of docs/CHOOSING.md anew. Run by `make golden`; a test measures one row again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from generated import with_blocks

import interpulse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interpulse.result import Result

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "CHOOSING.md"
CONFIG = "examples/choose.toml"


@dataclass(frozen=True)
class Row:
    """A drive to measure: `examples/choose.toml` with these overrides."""

    sets: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """What measures the same on the command line."""
        return " ".join([f"interpulse run {CONFIG}", *(f"--set {each}" for each in self.sets)])


P = "suspend.program."
E = "suspend.erase."
PROGRAM = (f"{P}scheme=loop-boundary", f"{P}max-suspends=10")
SCHEMES = (
    Row(),
    Row(PROGRAM),
    Row((f"{E}scheme=deferred",)),
    Row((*PROGRAM, f"{E}scheme=deferred")),
    Row((*PROGRAM, f"{E}scheme=immediate")),
    Row((*PROGRAM, f"{E}scheme=exact")),
    Row((*PROGRAM, f"{E}scheme=timeout", f"{E}defer-after=10ms")),
    Row((f"{P}scheme=inter-phase", f"{E}scheme=deferred")),
    Row((f"{P}scheme=intra-phase-cancel", f"{E}scheme=immediate")),
    Row((f"{P}scheme=ideal", f"{E}scheme=ideal")),
)
"""From nothing to the bound."""

LIMITS = (
    Row((f"{P}scheme=loop-boundary", f"{P}max-suspends=2")),
    Row((f"{P}scheme=loop-boundary", f"{P}max-suspends=5")),
    Row((f"{P}scheme=loop-boundary",)),
    Row((*PROGRAM, f"{P}for-gc-reads=true")),
    Row((*PROGRAM, f"{P}resume=batch")),
    Row((*PROGRAM, "part.program-suspend-entry=50us")),
)
"""What limits and costs of a part change; to be read against the second row of `SCHEMES`."""

DENSE = (
    Row(PROGRAM),
    Row((*PROGRAM, f"{E}scheme=deferred")),
    Row((*PROGRAM, f"{E}scheme=immediate")),
    Row((*PROGRAM, f"{E}scheme=immediate", f"{E}max-suspends=10")),
    Row((*PROGRAM, f"{E}scheme=immediate", f"{E}min-interval=1.1ms")),
    Row((*PROGRAM, f"{E}scheme=timeout", f"{E}defer-after=10ms")),
    Row((*PROGRAM, f"{E}scheme=exact")),
    Row((*PROGRAM, f"{E}scheme=exact", f"{E}resume-ramp=200us")),
)
"""What dense reads do to erases and to the writes behind them."""

BLAMED = (Row(), Row(PROGRAM), Row((*PROGRAM, f"{E}scheme=deferred")))
"""The drives whose slowest reads are split by cause."""


def measure(row: Row) -> Result:
    """Runs the configuration with the overrides of the row."""
    config = interpulse.Config.load(ROOT / CONFIG)
    for each in row.sets:
        key, _, value = each.partition("=")
        config.set(key, value)
    return interpulse.run(config)


def label(row: Row) -> str:
    """The first cell of a line."""
    return "<br>".join(f"`{each}`" for each in row.sets) or "as it is"


def line(row: Row, result: Result) -> str:
    """The line of the table that compares drives."""
    steady, busy, _ = result.cases
    reads = [steady.percentile("read", at) for at in (99, 99.9, 99.99)]
    nand = steady.counters["nand"]
    programs = nand["host_programs"] + nand["gc_programs"]
    suspends = [
        nand[f"{kind}_suspends"] / count if count else 0.0
        for kind, count in (("program", programs), ("erase", nand["erases"]))
    ]
    figures = [f"{value:,.0f}" for value in reads]
    figures += [f"{value:.2f}" for value in suspends]
    figures += [f"{busy.iops / 1000:,.1f}", f"{(busy.percentile('write', 99.9) or 0) / 1000:,.1f}"]
    return f"| {label(row)} | {' | '.join(figures)} |"


def dense_line(row: Row, result: Result) -> str:
    """The line of the table that looks for starvation."""
    dense = result.cases[2]
    nand = dense.counters["nand"]
    again = 100 * nand["erase_redone_time"] / nand["erase_pulse_time"]
    erase_ms = dense.raw["nand"]["erase_us"]["mean"] / 1000
    figures = [f"{dense.percentile('read', at):,.0f}" for at in (99.9, 99.99)]
    figures += [f"{dense.percentile('write', 99.9):,.0f}", f"{nand['erase_suspends'] / nand['erases']:,.1f}"]
    return f"| {label(row)} | {' | '.join([*figures, f'{erase_ms:,.1f}', f'{again:.0f}'])} |"


def table(rows: Sequence[Row]) -> str:
    """Several drives side by side."""
    head = [
        "| `--set` | read p99, us | p99.9 | p99.99 | suspends a program | an erase | busy: kIOPS | write p99.9, ms |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    return "\n".join([*head, *(line(row, measure(row)) for row in rows), ""])


def dense_table(rows: Sequence[Row]) -> str:
    """Several drives under dense reads."""
    head = [
        "| `--set` | read p99.9, us | p99.99 | write p99.9, us | suspends an erase | it takes, ms | done again, % |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    return "\n".join([*head, *(dense_line(row, measure(row)) for row in rows), ""])


def blame(rows: Sequence[Row]) -> str:
    """The slowest 0.1 % of the reads of each drive by cause: the three largest causes."""
    lines = ["| `--set` | reads slower than, us | because of |", "|---|---:|---|"]
    for row in rows:
        tail = measure(row).cases[0].tail_blame["p99.9"]
        causes = sorted(tail["shares"].items(), key=lambda each: -each[1])[:3]
        shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in causes)
        lines.append(f"| {label(row)} | {tail['above_us']:,.0f} | {shares} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Writes the tables."""
    blocks = [blame(BLAMED), table(SCHEMES), table(LIMITS), dense_table(DENSE)]
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_blocks(text, blocks), encoding="utf-8")


if __name__ == "__main__":
    main()
