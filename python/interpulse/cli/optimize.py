"""`interpulse optimize` command."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interpulse.cli.exit_codes import USER_ERROR
from interpulse.cli.options import Json, On, Workers, path_argument
from interpulse.cli.output_streams import emit, fail
from interpulse.cli.output_streams import note as print_note
from interpulse.cli.search_options import Out, search_progress
from interpulse.tables.format import short_figure
from interpulse.tables.layout import Column, Sheet, fill, terminal_width

if TYPE_CHECKING:
    from interpulse.search.optimize import Optimization
    from interpulse.search.trials import Trial

MOST_ROWS = 60

EPILOG = """\
Examples:

  interpulse optimize examples/optimize.toml

  interpulse optimize examples/optimize.toml --trials 100

  interpulse optimize examples/optimize.toml --storage postgresql://me@server/studies

The same command continues a stopped search and does nothing if all trials exist. docs/SEARCH.md has the keys of a \
study file."""


def optimize(
    study: Annotated[Path, path_argument("STUDY", "A TOML file, such as examples/optimize.toml.")],
    trials: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=1_000_000, help="The number of trials.", show_default="as STUDY says"),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The database of trials.", show_default="study.db (SQLite) in the folder"),
    ] = None,
    out: Out = None,
    on: On = None,
    jobs: Workers = None,
    json: Json = False,
) -> int:
    """Search schemes, limits and drive parameters for the best trade-offs between several figures."""
    from interpulse.search import optimize as search

    with search_progress(study.stem, on, jobs) as progress:
        found = search.optimize(study, out=out, storage=storage, trials=trials, on=on, jobs=jobs, progress=progress)
    failed = [trial for trial in found.trials if trial.error]
    for trial in failed[:3]:
        print_note(f"trial {trial.number} failed: {trial.error}")
    emit(json_text.dumps(found.to_dict()) if json else _text(found))
    if failed and len(failed) == len(found.trials):
        return fail(f"all {len(failed)} trials failed, the first with: {failed[0].error}", USER_ERROR)
    return 0


def _life(trial: Trial) -> str:
    """Expected life of a trial with its interval."""
    years, low, high = (trial.life.get(key) for key in ("years", "low", "high"))
    if years is None:
        return "no end"
    return f"{years:.2f}" if low is None or high is None else f"{years:.2f} ({low:.2f} to {high:.2f})"


def _text(found: Optimization) -> str:
    from interpulse.search.trials import counted

    width = terminal_width()
    study = found.study
    parameters = [name for each in study.parameters for name in each.axis.columns]
    names = [objective.name for objective in study.objectives]
    sheet = Sheet(
        [
            Column("trial", "label"),
            *(Column(name, "text") for name in parameters),
            *(Column(name, "figure") for name in names),
            *([Column("life, years", "figure")] if study.life is not None else []),
        ],
        narrow="records",
    )
    for trial in found.front[:MOST_ROWS]:
        values = ["-" if trial.columns[name] is None else str(trial.columns[name]) for name in parameters]
        figures = [short_figure(trial.objectives[name]) for name in names]
        figures += [_life(trial)] if study.life is not None else []
        sheet.add_row(str(trial.number), *values, *figures)
    lines = [
        f"{', '.join(counted(found.trials, found.front))}; {found.simulated} simulated, {found.kept} reused",
        f"the front is in {found.page}, all trials in {found.folder / 'trials.json'}",
    ]
    front = [sheet.text(width), ""] if found.front else ["No trial is on the front.", ""]
    return "\n".join([*front, *(fill(line, width) for line in lines)])
