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
    return run_studies([find(name) for name in dict.fromkeys(names)], wanted, every=all_)
