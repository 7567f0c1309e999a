"""`interpulse experiment`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interpulse.cli.exits import UserError
from interpulse.cli.options import CacheDir, Jobs, Json, NoCache, OwnSeed, Repeat, named_path
from interpulse.cli.studies import Wanted, conduct, show_entries

EPILOG = """\
Examples:

  interpulse experiment --list

  interpulse experiment suspend-tlc --quick

  interpulse experiment suspend-tlc --out results --json

The table has each published figure beside ours; docs/EXPERIMENTS.md says why they differ where they do. Cases that \
have ended are kept in the cache folder: after Ctrl-C the same command goes on from there."""


def experiment(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Which experiment; --list has the names.", show_default=False),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments instead.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Rougher figures in minutes; the same rows, fewer requests, 3 seeds.")
    ] = False,
    json: Json = False,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=named_path,
            metavar="DIR",
            help="The folder for the table, CSV files and plots.",
            show_default="interpulse-NAME, and none with --json",
        ),
    ] = None,
    seed: OwnSeed = 1,
    repeat: Repeat = None,
    jobs: Jobs = None,
    no_cache: NoCache = False,
    cache_dir: CacheDir = None,
) -> int:
    """Reproduce the figures of a paper and print them beside the published ones."""
    from interpulse.experiments.registry import EXPERIMENTS, find

    if list_:
        if name is not None:
            raise UserError(f"--list takes no name, got '{name}'")
        show_entries("experiments", ("name", "summary", "source", "quick", "full", "traces"), EXPERIMENTS, json=json)
        return 0
    if name is None:
        raise UserError("which experiment? `interpulse experiment --list` has the names")
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
    return conduct(find(name), wanted)
