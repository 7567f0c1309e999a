"""`interpulse experiment`."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interpulse.cache import Cache
from interpulse.cli.exits import INTERRUPTED, UserError
from interpulse.cli.options import CacheDir, Jobs, Json, NoCache, OwnSeed, options
from interpulse.cli.studies import say, show_entries, sigterm_as_ctrl_c
from interpulse.cli.text import emit
from interpulse.runner import Interrupted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interpulse.cli.outfolder import OutFolder
    from interpulse.experiments.context import Context
    from interpulse.experiments.outcome import Outcome

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
        bool, typer.Option("--quick", help="Rougher figures in half a minute; the same rows, fewer requests.")
    ] = False,
    json: Json = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder for the table, CSV files and plots.",
            show_default="interpulse-NAME, and none with --json",
        ),
    ] = None,
    seed: OwnSeed = 1,
    jobs: Jobs = None,
    no_cache: NoCache = False,
    cache_dir: CacheDir = None,
) -> int:
    """Reproduce the figures of a paper and print them beside the published ones."""
    if list_:
        if name is not None:
            raise UserError(f"--list takes no name, got '{name}'")
        _list(json=json)
        return 0
    if name is None:
        raise UserError("which experiment? `interpulse experiment --list` has the names")
    from interpulse.cli.outfolder import OutFolder
    from interpulse.experiments.context import Context
    from interpulse.experiments.registry import find
    from interpulse.experiments.store import Store

    chosen = find(name)
    target = out if out is not None else None if json else Path(f"interpulse-{name}")
    folder = OutFolder.open(target) if target is not None else None
    cache = Cache.default(cache_dir)
    store = Store(None) if no_cache else Store.open(cache.folder, name)
    how = options(jobs, cache, no_cache=no_cache)
    context = Context(name, quick=quick, seed=seed, options=how, store=store)
    try:
        with sigterm_as_ctrl_c(), _reporting(context):
            outcome = chosen.run(context)
    except (Interrupted, KeyboardInterrupt):
        kept = f"; what had ended is in {store.path}, and the same command goes on from there" if store.path else ""
        say(f"interrupted after {context.done} of {context.announced} simulations{kept}")
        return INTERRUPTED
    _deliver(context, outcome, folder, json=json)
    return 0


def _deliver(context: Context, outcome: Outcome, folder: OutFolder | None, *, json: bool) -> None:
    """Prints first and stores second, so that a full disk does not cost the figures; and stores in any case."""
    from interpulse.experiments.output import files, render, to_json

    missing = outcome.rows.missing()
    if missing:
        raise ValueError(f"the experiment {context.name} gave no figure for {', '.join(missing)}")
    try:
        emit(to_json(context, outcome) if json else render(context, outcome))
    finally:
        if folder is not None:
            written = [folder.store(name, content) for name, content in files(context, outcome)]
            say(f"wrote {', '.join(written)} to {folder.path}")


@contextmanager
def _reporting(context: Context) -> Iterator[None]:
    from interpulse.cli.experiment_progress import watch_experiment

    with watch_experiment(context.name) as reporter:
        context.reporter = reporter
        yield


def _list(*, json: bool) -> None:
    from interpulse.experiments.registry import EXPERIMENTS

    columns = ("name", "summary", "source", "quick", "full", "traces")
    show_entries("experiments", columns, EXPERIMENTS, json=json)
