"""What the commands that run studies share: their options, the list, the run, what it leaves."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interpulse.cache import SPOOL, Cache
from interpulse.cli.exits import INTERRUPTED, Undisturbed, UserError
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
from interpulse.cli.streams import emit, say
from interpulse.layout import terminal_width
from interpulse.runner import Options
from interpulse.text import grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from interpulse.cli.outfolder import OutFolder
    from interpulse.studies.context import Context
    from interpulse.studies.outcome import Outcome
    from interpulse.studies.pool import Workers
    from interpulse.studies.registry import Entry


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The options that every study has."""

    quick: bool
    json: bool
    out: Path | None
    seed: int
    repeat: int | None
    """With how many seeds, None for what the study and `quick` say."""
    on: str | None
    jobs: int | None
    no_cache: bool
    cache_dir: Path | None


def study_options(
    *, quick: str, out: str, default: str | bool = False, repeat: object = Repeat
) -> Callable[[Command], Command]:
    """Gives a command the options of `Wanted`, which it takes as one keyword argument of that name.

    Args:
        quick: the help of `--quick`.
        out: the help of `--out`.
        default: what the help says of no `--out`, if anything.
        repeat: the option that says with how many seeds.
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
    """Options for this machine say nothing of a cluster."""
    wanted = Wanted(**given)
    if wanted.on is not None and wanted.jobs is not None:
        raise UserError("--jobs is for this machine; with --on, the cluster has as many workers as it has")
    if wanted.on is not None and wanted.no_cache:
        raise UserError("--no-cache is for this machine; with --on, workers keep what they do in cache folders")
    return wanted


def conduct(entry: Entry, wanted: Wanted, *, every: bool, **own: Any) -> int:  # noqa: ANN401 - as the context takes them
    """Runs a study, stores it and prints every row or the published ones; returns the exit code."""
    from interpulse.cli.outfolder import OutFolder
    from interpulse.report.study import with_page
    from interpulse.studies.output import files, render, to_json

    target = wanted.out if wanted.out is not None else None if wanted.json else Path(f"interpulse-{_slug(entry)}")
    folder = OutFolder.open(target) if target is not None else None
    found = ran(entry, wanted, entry.title, **own)
    if found is None:
        return INTERRUPTED
    context, outcome = found

    def shown() -> str:
        if wanted.json:
            return to_json(context, outcome)
        return render(context, outcome, terminal_width(), every=every)

    deliver(folder, with_page(files(context, outcome), context, outcome), shown)
    return 0


def ran(
    entry: Entry,
    wanted: Wanted,
    called: str,
    **own: Any,  # noqa: ANN401
) -> tuple[Context, Outcome] | None:
    """Runs a study, which progress knows as `called`, or takes it from what earlier runs left; None after Ctrl-C."""
    from interpulse.cli.study_progress import watch_study
    from interpulse.studies import repeat
    from interpulse.studies.store import Store

    cache = Cache.default(wanted.cache_dir)
    store = Store(None) if wanted.no_cache else Store.open(cache.folder, _slug(entry))
    how = Options.of(wanted.jobs, cache, no_cache=wanted.no_cache)
    context = entry.context(quick=wanted.quick, seed=wanted.seed, options=how, store=store, **own)
    try:
        with (
            _workers(wanted.on, cache, _slug(entry)) as context.workers,
            watch_study(called, entry.FORM.jobs) as context.reporter,
        ):
            for line in store.notes:
                context.note(line)
            outcome = repeat.run(entry, context, wanted.repeat)
    except KeyboardInterrupt:
        kept = f"; what had ended is in {store.path}, and the same command goes on from there" if store.whole else ""
        say(f"interrupted after {context.done} of {context.announced} {entry.FORM.jobs}{kept}")
        return None
    missing = outcome.rows.missing()
    if missing:
        raise ValueError(f"{entry.title} gave no figure for {', '.join(missing)}")
    return context, outcome


def _workers(on: str | None, cache: Cache, slug: str) -> AbstractContextManager[Workers | None]:
    if on is None:
        return nullcontext()
    from interpulse.studies.store import build_id
    from interpulse.sweeps.away import Away

    return Away(on, cache.folder / SPOOL / f"{slug}-{build_id()}")


def _slug(entry: Entry) -> str:
    return entry.title.replace(" ", "-")


def deliver(folder: OutFolder | None, files: Iterable[tuple[str, bytes]], shown: Callable[[], str]) -> None:
    """Stores first, so that no standard output costs the files, and prints in any case: nor does a full disk.

    Raises:
        UserError: a file could not be written, or standard output.
    """
    try:
        if folder is not None:
            with Undisturbed():
                names = folder.write(files)
            say(f"wrote {', '.join(names)} to {folder.path}")
    except OSError as error:
        place, why = folder and folder.path, error.strerror or error
        raise UserError(f"cannot write to {place}: {why}; the figures are on standard output") from None
    finally:
        emit(shown())


def show_entries(what: str, columns: Sequence[str], entries: Sequence[object], *, json: bool) -> None:
    """Prints a registry: a table of these attributes, or a JSON object with a list called `what`."""
    import json as json_text

    rows = [{column: getattr(each, column) for column in columns} for each in entries]
    if json:
        emit(json_text.dumps({what: rows}, ensure_ascii=False))
        return
    emit(grid(([*row.values()] for row in rows), columns, whole=("name",)))
