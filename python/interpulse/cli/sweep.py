"""`interpulse sweep` command."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interpulse.cli.exit_codes import INTERRUPTED, USER_ERROR, DeferSignals, UserError
from interpulse.cli.options import Json, On, Workers, check_workers, path_argument, path_option
from interpulse.cli.output_streams import emit, fail
from interpulse.cli.output_streams import note as print_note
from interpulse.tables.format import short_figure
from interpulse.tables.layout import Column, Sheet, terminal_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interpulse.sweeps.spec import Spec
    from interpulse.sweeps.sweep import Sweep

MOST_ROWS = 60
"""Longer tables are left to Parquet readers."""

MOST_ERRORS = 5

SHOWN = ("iops", "read_mean_us", "read_p99_us", "write_p99_us", "waf")
"""Columns of the table of a sweep without columns of its own."""

EPILOG = """\
Examples:

  interpulse sweep examples/sweep.toml

  interpulse sweep examples/sweep.toml --jobs 4 --out depth --column read_p99_9_us --column read_p99_99_us

  interpulse sweep examples/sweep.toml --on tcp://scheduler:8786

  interpulse sweep examples/sweep.toml --on tls://scheduler:8786

Each simulation is stored as soon as it has ended: after Ctrl-C, a crash or a power cut the same command runs the \
missing ones. docs/SWEEP.md has the keys of a sweep file and how to run on Slurm and Kubernetes."""


def sweep(
    file: Annotated[Path, path_argument("SWEEP", "A TOML file, such as examples/sweep.toml.")],
    out: Annotated[
        Path | None,
        path_option("DIR", "The folder for results.parquet and all simulations.", "the name of SWEEP without .toml"),
    ] = None,
    on: On = None,
    jobs: Workers = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Retry configurations that failed before.")
    ] = False,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="NAME",
            help="Also show this column of results.parquet in the table, such as read_p99_9_us; may be repeated.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Simulate every combination of some settings, on all cores or a cluster, into one Parquet file."""
    from interpulse.cli.study_progress import watch_engine
    from interpulse.sweeps import sweep as sweeps
    from interpulse.sweeps.spec import Spec

    check_workers(on, jobs)
    spec = Spec.of(file)
    _check_columns(columns or (), spec)
    folder = out if out is not None else Path(file.stem)
    code = 0
    try:
        with watch_engine(Path(spec.path).stem) as progress:
            done = sweeps.sweep(spec, out=folder, on=on, jobs=jobs, progress=progress, retry_failed=retry_failed)
    except sweeps.SweepInterrupted as stop:
        done, code = stop.sweep, INTERRUPTED
    with DeferSignals():
        _report(spec, done, columns or (), json=json)
    if not code and (why := _useless(spec, done)):
        return fail(why, USER_ERROR)
    return code


def _useless(spec: Spec, done: Sweep) -> str:
    """Why the dataset lacks what the sweep is for; empty if it does not."""
    if len(done) and len(done.failed) == len(done):
        return f"all {len(done)} rows failed, the first with: {done.failed[0]}"
    names = [f"columns.{name} = {spec.columns[name]!r}" for name in done.columns_without_figures]
    if names:
        missing = f"{', '.join(names)}: no result has this figure (docs/RESULT-KEYS.md has the paths)"
        return f"{missing}; all other columns are in {done.path}"
    return ""


def _check_columns(columns: Sequence[str], spec: Spec) -> None:
    """Rejects a column that results.parquet does not have, before anything runs."""
    from interpulse.sweeps.dataset import FIGURES

    known = [*spec.names, *FIGURES, *spec.columns, *spec.derived]
    for name in columns:
        if name not in known:
            raise UserError(f"--column {name}: there is no such column; expected one of {', '.join(known)}")


def _report(spec: Spec, done: Sweep, columns: Sequence[str], *, json: bool) -> None:
    for number, (row, error) in enumerate(done.failed.items()):
        if number == MOST_ERRORS:
            print_note(f"{len(done.failed) - MOST_ERRORS} more failed; the column error says why")
            break
        print_note(f"row {row} failed: {error}")
    if json:
        counts = {"rows": len(done), "simulated": done.simulated, "kept": done.kept, "failed": len(done.failed)}
        emit(
            json_text.dumps(counts | {"missing": done.missing, "path": str(done.path), "store": str(done.store.folder)})
        )
        return
    if len(done):
        emit(_table(spec, done, columns))
    ended = f"{len(done)} rows in {done.path}: {done.simulated} simulated, {done.kept} reused"
    failed = f", {len(done.failed)} failed" if done.failed else ""
    missing = f"; {done.missing} are missing, and the same command continues from there" if done.missing else ""
    emit(f"{ended}{failed}{missing}")


def _table(spec: Spec, done: Sweep, columns: Sequence[str] = ()) -> str:
    """Axes and the configured columns, by default throughput and tails, then `columns`; means over repetitions."""
    wanted = [*spec.columns, *spec.derived] or list(SHOWN)
    wanted += [column for column in columns if column not in wanted]
    wanted += ["feasible"] * bool(spec.constraints)
    points: dict[int, list[dict[str, Any]]] = {}
    for row in done.table.select(["point", *spec.names, *wanted, "status"]).to_pylist():
        points.setdefault(row["point"], []).append(row)
    sheet = Sheet(
        [*(Column(name, "text") for name in spec.names), *(Column(name, "figure") for name in wanted)], narrow="records"
    )
    for rows in list(points.values())[:MOST_ROWS]:
        sheet.add_row(
            *(str(rows[0][name]) for name in spec.names), *(_mean([row[name] for row in rows]) for name in wanted)
        )
    more = f"\n... and {len(points) - MOST_ROWS} more points" if len(points) > MOST_ROWS else ""
    return sheet.text(terminal_width()) + more


def _mean(values: list[Any]) -> str:
    """Mean of numbers, conjunction of booleans, or the common value of texts."""
    there = [value for value in values if value is not None]
    if not there:
        return "-"
    if all(isinstance(value, bool) for value in there):
        return "yes" if all(there) else "no"
    if all(isinstance(value, int | float) for value in there):
        return short_figure(sum(there) / len(there))
    return str(there[0]) if len(set(there)) == 1 else "differs"
