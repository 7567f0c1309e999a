"""`interpulse papers`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interpulse.cli.exits import INTERRUPTED, UserError, undisturbed
from interpulse.cli.options import CacheDir, Jobs, Json, NoCache, OwnSeed, Repeat, named_path
from interpulse.cli.streams import emit, say
from interpulse.cli.studies import Wanted, ran
from interpulse.layout import terminal_width

if TYPE_CHECKING:
    from interpulse.cli.outfolder import OutFolder
    from interpulse.papers.output import Report
    from interpulse.papers.table import Line

EPILOG = """\
Examples:

  interpulse papers --quick

  interpulse papers fast12 --quick

  interpulse papers --quick --out papers

A row says what its agreement is worth: calibrated, fitted, by-construction, predicted, assumed or paper-inconsistent; \
docs/EXPERIMENTS.md says what that means. What `interpulse experiment` and `interpulse characterize` have left in the \
cache folder is not run again, and after Ctrl-C the same command goes on from there."""


def papers(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="PAPER", help="Which papers; `fast12`, for example.", show_default="all of them"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Rougher figures in minutes instead of hours; the same rows.")
    ] = False,
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the rows as CSV on standard output.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=named_path,
            metavar="DIR",
            help="A folder for the table, CSV, JSON and a page in Markdown.",
            show_default=False,
        ),
    ] = None,
    seed: OwnSeed = 1,
    repeat: Repeat = None,
    jobs: Jobs = None,
    no_cache: NoCache = False,
    cache_dir: CacheDir = None,
) -> int:
    """Show every figure that the five papers print beside ours, and what each agreement is worth."""
    from interpulse.cli.outfolder import OutFolder
    from interpulse.papers import catalogue
    from interpulse.papers.output import Report
    from interpulse.papers.table import lines

    if json and csv:
        raise UserError("--json and --csv both want standard output: choose one, or --out DIR for both")
    known = catalogue.papers()
    for name in names or ():
        catalogue.find(name, known)
    chosen = [paper for paper in known if not names or paper.name in names]
    folder = OutFolder.open(out) if out is not None else None
    wanted = Wanted(
        quick=quick,
        json=json,
        out=out,
        seed=seed,
        repeat=repeat,
        jobs=jobs,
        no_cache=no_cache,
        cache_dir=cache_dir,
    )
    studies = [(paper, study) for paper in chosen for study in paper.studies]
    found: list[Line] = []
    seeds: int | None = None
    for number, (paper, study) in enumerate(studies, start=1):
        ended = ran(study, wanted, f"{study.title} ({number} of {len(studies)})")
        if ended is None:
            return INTERRUPTED
        found += lines(paper, study, ended[1].rows)
        seeds = ended[0].seeds
    _deliver(Report(chosen, found, quick, seed, seeds), folder, "json" if json else "csv" if csv else "table")
    return 0


def _deliver(report: Report, folder: OutFolder | None, form: str) -> None:
    """Stores first, and prints in any case, as other studies do."""
    from interpulse.papers.output import files, render, to_csv, to_json

    try:
        if folder is not None:
            with undisturbed():
                names = folder.write(files(report))
            say(f"wrote {', '.join(names)} to {folder.path}")
    except OSError as error:
        place = folder and folder.path
        why = error.strerror or error
        raise UserError(f"cannot write to {place}: {why}; the figures are on standard output") from None
    finally:
        if form == "json":
            emit(to_json(report))
        else:
            emit(render(report, terminal_width()) if form == "table" else to_csv(report).decode().rstrip("\n"))
