"""`interpulse papers` command."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from interpulse.cli.exit_codes import INTERRUPTED, UserError
from interpulse.cli.options import RepeatPapers
from interpulse.cli.studies import Wanted, run_outcomes, store_and_print, study_options
from interpulse.tables.layout import terminal_width

if TYPE_CHECKING:
    from interpulse.papers.output import Report

EPILOG = """\
Examples:

  interpulse papers --quick

  interpulse papers fast12 --quick

  interpulse papers --quick --out papers

A row has the kind of its agreement: calibrated, fitted, by-construction, blind, untuned, assumed, \
paper-inconsistent (docs/EXPERIMENTS.md). A quick table has one seed and takes minutes; `--repeat 3` adds intervals. \
Jobs of `interpulse experiment` and `interpulse characterize` in the cache folder are reused, and after Ctrl-C the \
same command continues from there."""


@study_options(
    quick="Rougher figures in minutes instead of hours; the same rows.",
    out="A folder for the table, CSV, JSON and a page in Markdown.",
    repeat=RepeatPapers,
)
def papers(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="PAPER", help="Which papers; `fast12`, for example.", show_default="all of them"),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print the rows as CSV on standard output.")] = False,
    *,
    wanted: Wanted,
) -> int:
    """Show every figure of the papers beside ours, with the kind of each agreement."""
    from interpulse.cli.out_folder import OutFolder
    from interpulse.papers import catalogue
    from interpulse.papers.output import Report, files
    from interpulse.papers.table import lines

    if wanted.json and csv:
        raise UserError("--json and --csv both use standard output: choose one, or --out DIR for both")
    if wanted.quick and wanted.repeat is None:
        # The table needs one figure per row; `interpulse experiment` adds intervals.
        wanted = replace(wanted, repeat=1)
    known = catalogue.papers()
    for name in names or ():
        catalogue.find(name, known)
    chosen = [paper for paper in known if not names or paper.name in names]
    folder = OutFolder.open(wanted.out) if wanted.out is not None else None
    studies = [(paper, study) for paper in chosen for study in paper.studies]
    numbered = enumerate((study for _, study in studies), start=1)
    ended = run_outcomes([(study, f"{study.title} ({number} of {len(studies)})") for number, study in numbered], wanted)
    if ended is None:
        return INTERRUPTED
    found = [
        line
        for (paper, study), (_, outcome) in zip(studies, ended, strict=True)
        for line in lines(paper, study, outcome.rows)
    ]
    whole = Report(chosen, found, wanted.quick, wanted.seed, ended[0][0].seeds)
    store_and_print(folder, files(whole), lambda: _shown(whole, json=wanted.json, csv=csv))
    return 0


def _shown(report: Report, *, json: bool, csv: bool) -> str:
    from interpulse.papers.output import render, to_csv, to_json

    if json:
        return to_json(report)
    return to_csv(report).decode().rstrip("\n") if csv else render(report, terminal_width())
