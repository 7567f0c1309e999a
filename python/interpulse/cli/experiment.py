"""`interpulse experiment` command."""

from __future__ import annotations

from typing import Annotated

import typer

from interpulse.cli.exit_codes import UserError
from interpulse.cli.options import AllRows
from interpulse.cli.studies import Wanted, run_studies, show_entries, study_options

EPILOG = """\
Examples:

  interpulse experiment --list

  interpulse experiment suspend-tlc --quick

  interpulse experiment suspend-tlc --quick --all

  interpulse experiment suspend-tlc --out results --json

  interpulse experiment suspend-tlc fast12 ressd --quick

  interpulse experiment suspend-tlc --on tcp://scheduler:8786

  interpulse experiment database --pace 20

The table has each published figure beside ours, with --all every row; docs/EXPERIMENTS.md explains differences. \
Several experiments share all cores as one batch; each has a subfolder of --out and a line of --json. Completed cases \
are stored in the cache folder: after Ctrl-C the same command continues from there."""


@study_options(
    quick="Rougher figures in minutes; the same rows, fewer requests, 3 seeds.",
    out="The folder for the table, CSV files and plots.",
    default="interpulse-NAME, and none with --json",
)
def experiment(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Which experiments; --list has the names.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments instead.")] = False,
    all_: AllRows = False,
    pace: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            min=1,
            max=1000,
            help="Of real programs on a served drive: run it so many times slower than life.",
            show_default="10",
        ),
    ] = None,
    *,
    wanted: Wanted,
) -> int:
    """Reproduce the figures of papers and print them beside the published ones."""
    from interpulse.experiments.registry import EXPERIMENTS, find

    if list_:
        if names:
            raise UserError(f"--list takes no name, got '{names[0]}'")
        show_entries(
            "experiments", ("name", "summary", "source", "quick", "full", "traces"), EXPERIMENTS, json=wanted.json
        )
        return 0
    if not names:
        raise UserError("which experiment? `interpulse experiment --list` has the names")
    wanted_ones = [find(name) for name in dict.fromkeys(names)]
    simulated = [each.name for each in wanted_ones if not each.programs]
    if pace is not None and simulated:
        raise UserError(f"--pace is for real programs on a served drive, and {simulated[0]} is a simulation")
    return run_studies(wanted_ones, wanted, every=all_, **({} if pace is None else {"pace": pace}))
