"""`interpulse bench` command."""

from __future__ import annotations

import json as json_text
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from interpulse.cli.exit_codes import INTERNAL, UserError
from interpulse.cli.options import Json, path_option
from interpulse.cli.output_streams import emit, say
from interpulse.files.paths import read_text
from interpulse.runs.bench import MOST_ROUNDS, ROUNDS, Row, Steps, count, measure, program, rows, seconds
from interpulse.tables.format import duration
from interpulse.tables.layout import Column, Sheet, fill, terminal_width

EPILOG = """\
Examples:

  interpulse bench

  interpulse bench randread-qd64 cell-pulses --rounds 1

  interpulse bench --quick --json

  interpulse bench --instructions --against crates/bench/instructions.json

A row takes 2 GB of memory, and preconditioned drives 1.5 GB of the temporary folder, which TMPDIR moves. \
INTERPULSE_BENCH names a program that runs the rows instead of this interpreter, such as crates/bench for profilers."""

TOLERANCE = 1.05
"""Largest allowed ratio to the recorded instructions."""

MOST_OVER_ONE = 1.20
"""Largest allowed ratio of an array's instructions per flash operation to those of one drive of the same capacity."""


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ROW]...", help="The rows to run.", show_default="all of them"),
    ] = None,
    json: Json = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A smaller drive and fewer requests: a smoke test, not a measurement.")
    ] = False,
    rounds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_ROUNDS,
            help="Runs of each row; the fastest counts.",
            show_default=f"{ROUNDS}, and 1 with --quick",
        ),
    ] = None,
    instructions: Annotated[
        bool,
        typer.Option(
            "--instructions", help="Count instructions per request with callgrind (needs valgrind) instead of timing."
        ),
    ] = False,
    against: Annotated[
        Path | None,
        path_option("FILE", "With --instructions: compare with this file and fail if a row grew by more than 5 %."),
    ] = None,
) -> int:
    """Measure the speed of the simulator: host requests per CPU second, memory, preconditioning.

    Figures are of one thread after preconditioning, with audits and accounts on.
    """
    if against is not None and not instructions:
        raise UserError("--against goes with --instructions")
    if rounds is not None and instructions:
        raise UserError("--rounds does not go with --instructions: counts do not vary")
    recorded = None if against is None else _recorded(against)
    chosen = rows(names or [], quick=quick or instructions)
    if rounds is None:
        rounds = 1 if quick else ROUNDS
    with tempfile.TemporaryDirectory(prefix="interpulse-bench-") as folder:
        steps = Steps(Path(folder), quick or instructions, program())
        if instructions:
            problem = _count(chosen, steps, recorded, str(against), json=json)
        else:
            problem = _measure(chosen, rounds, steps, json=json)
    if problem is not None:
        say(f"error: {problem}")
        return INTERNAL
    return 0


def _measure(chosen: Sequence[Row], rounds: int, steps: Steps, *, json: bool) -> str | None:
    """Times rows and prints them; returns the first problem."""
    if not steps.quick:
        planned = duration(seconds(chosen, rounds))
        say(f"rows: {len(chosen)}, rounds: {rounds}; about {planned} on the machine of docs/VERIFY.md")

    def notify(what: str, left_s: float) -> None:
        say(what if steps.quick else f"{what}; about {duration(left_s)} left")

    found = measure(chosen, rounds, steps, notify)
    problems = [row.pop("problem") for row in found if "problem" in row]
    if json:
        emit(json_text.dumps(found, ensure_ascii=False))
    else:
        parts = _parts(chosen, found, quick=steps.quick)
        emit("\n\n".join(fill(part, terminal_width(), hang="") if "\n" not in part else part for part in parts))
    return problems[0] if problems else None


def _parts(chosen: Sequence[Row], found: Sequence[Mapping[str, Any]], *, quick: bool) -> list[str]:
    """The result as text."""
    of = {row.name: figures for row, figures in zip(chosen, found, strict=True)}
    parts = []
    drives = [of[row.name] for row in chosen if row.kind == "drive"]
    if drives:
        parts.append(_sheet(list(_COLUMNS), [[text(row) for text in _COLUMNS.values()] for row in drives]))
    for row in chosen:
        if row.kind == "cells":
            rate = of[row.name]["cell_pulses_per_cpu_s"] / 1e6
            parts.append(f"Cells: {rate:.0f} million cell pulses per CPU second of one core, verifies included.")
    if any(row.kind == "array" for row in chosen):
        costs = {name: row["cpu_ns_per_flash_operation"] for name, row in of.items() if "flash_operations" in row}
        parts.append(_array_table(chosen, costs, "CPU ns"))
    if "open-none" in of and "open-suspend" in of:
        cost = of["open-none"]["requests_per_cpu_s"] / of["open-suspend"]["requests_per_cpu_s"]
        parts.append(f"Suspension costs {(cost - 1) * 100:.0f} % CPU time per request at the same arrivals.")
    if quick:
        parts.append("These runs took milliseconds: they test the benchmark and are no measurement.")
    return parts


_COLUMNS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "workload": lambda row: row["name"],
    "million requests / CPU s": lambda row: f"{row['requests_per_cpu_s'] / 1e6:.2f}",
    "requests": lambda row: f"{row['requests']}",
    "programs": lambda row: f"{row['programs']}",
    "WAF": lambda row: f"{row['waf']:.2f}",
    "bytes / 4 KiB": lambda row: f"{row['bytes_per_4k']:.2f}",
    "peak MB": lambda row: f"{row['peak_rss_mb']:.0f}",
    "precondition s": lambda row: f"{row['precondition_s']:.1f}",
    "restore s": lambda row: f"{row['restore_s']:.1f}",
}


def _array_table(chosen: Sequence[Row], costs: Mapping[str, float], unit: str) -> str:
    """Cost of each array, absolute and relative to its single drive."""
    lines = []
    for row in chosen:
        if row.kind == "array":
            one = costs.get(row.than or "")
            lines.append([row.name, f"{costs[row.name]:.0f}", f"{costs[row.name] / one:.2f}" if one else ""])
    return _sheet(["four drives and one", f"{unit} per flash operation", "of one drive"], lines)


def _sheet(heads: Sequence[str], rows: Sequence[list[str]]) -> str:
    """A table whose first column names the row, at most as wide as the terminal."""
    label, *figures = heads
    return Sheet([Column(label, "label"), *map(Column, figures)], rows=list(rows)).text(terminal_width())


def _count(
    chosen: Sequence[Row], steps: Steps, recorded: Mapping[str, float] | None, against: str, *, json: bool
) -> str | None:
    """Counts instructions and prints them; returns the first problem."""
    figures: dict[str, int] = {}
    for row, each in count(chosen, steps):
        figures[row.name] = each
        if not json and row.kind != "array":
            what = f"{row.name}: {each} instructions per {'word line' if row.kind == 'cells' else 'request'}"
            emit(fill(what, terminal_width()))
    if json:
        emit(json_text.dumps(figures, indent=2))
    elif any(row.kind == "array" for row in chosen):
        emit(f"\n{_array_table(chosen, figures, 'instructions')}")
    if recorded is None:
        return None
    for name, now in figures.items():
        if now > recorded.get(name, 0.0) * TOLERANCE:
            return (
                f"{name}: {now} instructions, {recorded.get(name, 'none')} are recorded in {against}; "
                "if the growth is justified, explain it in the changelog and record the new figure"
            )
    for row in chosen:
        one = figures.get(row.than or "")
        if one and figures[row.name] > MOST_OVER_ONE * one:
            return (
                f"{row.name}: {figures[row.name] / one:.2f} times the instructions per flash operation of {row.than}; "
                f"at most {MOST_OVER_ONE} are allowed"
            )
    return None


def _recorded(path: Path) -> dict[str, float]:
    """Recorded instructions by row."""
    text = read_text(path, "--against")
    try:
        recorded = json_text.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"--against {path} is not JSON: {error}") from None
    if not isinstance(recorded, dict) or not all(isinstance(each, int | float) for each in recorded.values()):
        raise UserError(f"--against {path}: a file of --instructions --json is an object with a number for each row")
    return recorded
