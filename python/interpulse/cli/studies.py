"""Common parts of the study commands: options, listing, execution, output."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interpulse.cli.exit_codes import INTERRUPTED, DeferSignals, UserError
from interpulse.cli.options import (
    CacheDir,
    Command,
    Jobs,
    Json,
    NoCache,
    On,
    OwnSeed,
    Repeat,
    path_option,
    with_options,
)
from interpulse.cli.output_streams import emit, say
from interpulse.files.cache import Cache
from interpulse.files.cache_contents import SPOOL
from interpulse.runs.runner import Options
from interpulse.tables.format import grid
from interpulse.tables.layout import terminal_width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from interpulse.cli.out_folder import OutFolder
    from interpulse.studies.context import Context
    from interpulse.studies.outcome import Outcome
    from interpulse.studies.pool import RemoteWorkers
    from interpulse.studies.registry import Entry
    from interpulse.studies.store import Store
    from interpulse.sweeps.connection import Connection


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Options of all studies."""

    quick: bool
    json: bool
    out: Path | None
    seed: int
    repeat: int | None
    """Number of seeds; None for the default of the study or of `quick`."""
    on: str | None
    jobs: int | None
    no_cache: bool
    cache_dir: Path | None


def study_options(
    *, quick: str, out: str, default: str | bool = False, repeat: object = Repeat
) -> Callable[[Command], Command]:
    """Decorator that adds the options of `Wanted` to a command, passed as the keyword argument `wanted`.

    Args:
        quick: the help of `--quick`.
        out: the help of `--out`.
        default: the help's text for an absent `--out`, if any.
        repeat: the option for the number of seeds.
    """
    folder = path_option("DIR", out, default)
    shared: dict[str, tuple[Any, Any]] = {
        "quick": (Annotated[bool, typer.Option("--quick", help=quick)], False),
        "json": (Json, False),
        "out": (Annotated[Path | None, folder], None),
        "seed": (OwnSeed, 1),
        "repeat": (repeat, None),
        "on": (On, None),
        "jobs": (Jobs, None),
        "no_cache": (NoCache, False),
        "cache_dir": (CacheDir, None),
    }

    return with_options(shared, "wanted", _wanted)


def _wanted(given: dict[str, Any]) -> Wanted:
    """Rejects options of this machine together with a cluster."""
    wanted = Wanted(**given)
    if wanted.on is not None and wanted.jobs is not None:
        raise UserError("--jobs is for this machine; with --on, the cluster sets the number of workers")
    if wanted.on is not None and wanted.no_cache:
        raise UserError("--no-cache is for this machine; with --on, workers use their own cache folders")
    return wanted


def run_studies(
    entries: Sequence[Entry],
    wanted: Wanted,
    *,
    every: bool,
    **own: Any,  # noqa: ANN401 - as the context takes them
) -> int:
    """Runs and stores studies, prints all rows (`every`) or the published ones; returns the exit code.

    Several studies have a folder each in that of `--out`, and a line each of `--json`.
    """
    from interpulse.cli.out_folder import OutFolder
    from interpulse.plotting.plots import need_matplotlib
    from interpulse.report.page import need_bokeh
    from interpulse.report.study_page import with_page
    from interpulse.studies.output import files, render, to_json

    targets = [_target(entry, wanted, alone=len(entries) == 1) for entry in entries]
    if any(targets):
        need_bokeh()
        need_matplotlib()
    folders = [OutFolder.open(target) if target is not None else None for target in targets]
    found = run_outcomes([(entry, entry.title) for entry in entries], wanted, **own)
    if found is None:
        return INTERRUPTED

    def shown(context: Context, outcome: Outcome) -> str:
        if wanted.json:
            return to_json(context, outcome)
        return render(context, outcome, terminal_width(), every=every)

    for number, (folder, (context, outcome)) in enumerate(zip(folders, found, strict=True)):
        if number and not wanted.json:
            emit("")
        store_and_print(folder, with_page(files(context, outcome), context, outcome), partial(shown, context, outcome))
    return 0


def _target(entry: Entry, wanted: Wanted, *, alone: bool) -> Path | None:
    """Output folder of a study."""
    if wanted.out is not None:
        return wanted.out if alone else wanted.out / _slug(entry)
    return None if wanted.json else Path(f"interpulse-{_slug(entry)}")


def run_outcomes(
    entries: Sequence[tuple[Entry, str]],
    wanted: Wanted,
    **own: Any,  # noqa: ANN401
) -> list[tuple[Context, Outcome]] | None:
    """Runs studies, reusing stored jobs of earlier runs; None after Ctrl-C.

    Args:
        entries: each study with its name in progress lines.
        wanted: options of the studies.
        own: further arguments of the contexts.
    """
    from interpulse.cli.study_progress import watch_studies
    from interpulse.studies import batch

    cache = Cache.default(wanted.cache_dir)
    how = Options.of(wanted.jobs, cache, no_cache=wanted.no_cache)
    studies = []
    for entry, _ in entries:
        store = _store(entry, cache, wanted)
        studies.append((entry, entry.context(quick=wanted.quick, seed=wanted.seed, options=how, store=store, **own)))
    try:
        with (
            _connection(wanted.on) as connection,
            ExitStack() as workers,
            watch_studies([(called, entry.FORM.jobs) for entry, called in entries]) as reporters,
        ):
            for (entry, context), reporter in zip(studies, reporters, strict=True):
                context.reporter = reporter
                context.workers = workers.enter_context(_workers(connection, cache, _slug(entry)))
                for line in context.store.notes:
                    context.note(line)
            outcomes = batch.run(studies, wanted.repeat)
    except KeyboardInterrupt:
        _say_interrupted([(called, context) for (_, called), (_, context) in zip(entries, studies, strict=True)])
        return None
    for (entry, _), outcome in zip(entries, outcomes, strict=True):
        missing = outcome.rows.missing()
        if missing:
            raise ValueError(f"{entry.title} gave no figure for {', '.join(missing)}")
    return [(context, outcome) for (_, context), outcome in zip(studies, outcomes, strict=True)]


def _store(entry: Entry, cache: Cache, wanted: Wanted) -> Store:
    from interpulse.studies.store import Store

    return Store(None) if wanted.no_cache else Store.open(cache.folder, _slug(entry))


def _say_interrupted(studies: Sequence[tuple[str, Context]]) -> None:
    """Prints the progress of the study; of several, a line for each that was partly done."""
    _, first = studies[0]
    place, so_far = first.store.path, f"{first.done} of {first.announced} {first.form.jobs}"
    if len(studies) > 1:
        place = place and place.parent
        so_far = f"{sum(each.done for _, each in studies)} of {sum(each.announced for _, each in studies)} jobs"
        for called, context in studies:
            if 0 < context.done < context.announced:
                say(f"{called}: {context.done} of {context.announced} {context.form.jobs}")
    whole = all(context.store.whole for _, context in studies)
    kept = f"; completed ones are stored in {place}, and the same command continues from there" if whole else ""
    say(f"interrupted after {so_far}{kept}")


def _connection(on: str | None) -> AbstractContextManager[Connection | None]:
    if on is None:
        return nullcontext()
    from interpulse.sweeps.connection import Connection

    return Connection(on)


def _workers(connection: Connection | None, cache: Cache, slug: str) -> AbstractContextManager[RemoteWorkers | None]:
    if connection is None:
        return nullcontext()
    from interpulse.studies.store import build_id
    from interpulse.sweeps.remote import RemoteRunner

    return RemoteRunner(connection, cache.folder / SPOOL / f"{slug}-{build_id()}")


def _slug(entry: Entry) -> str:
    return entry.title.replace(" ", "-")


def store_and_print(folder: OutFolder | None, files: Iterable[tuple[str, bytes]], shown: Callable[[], str]) -> None:
    """Stores the files first, then prints even if storing has failed, so that neither failure loses both.

    Raises:
        UserError: a file or standard output could not be written.
    """
    try:
        if folder is not None:
            with DeferSignals():
                names = folder.write(files)
            say(f"wrote {', '.join(names)} to {folder.path}")
    except OSError as error:
        place, why = folder and folder.path, error.strerror or error
        raise UserError(f"cannot write to {place}: {why}; the figures are on standard output") from None
    finally:
        emit(shown())


def show_entries(what: str, columns: Sequence[str], entries: Sequence[object], *, json: bool) -> None:
    """Prints a registry: a table of the attributes `columns`, or a JSON object with the list `what`."""
    import json as json_text

    rows = [{column: getattr(each, column) for column in columns} for each in entries]
    if json:
        emit(json_text.dumps({what: rows}, ensure_ascii=False))
        return
    emit(grid(([*row.values()] for row in rows), columns, whole=("name",)))
