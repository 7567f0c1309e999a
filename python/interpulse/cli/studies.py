"""What `interpulse experiment` and `interpulse characterize` share: the list, the run, what it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interpulse.cache import Cache
from interpulse.cli.exits import INTERRUPTED, UserError, undisturbed
from interpulse.cli.streams import emit, say
from interpulse.layout import terminal_width
from interpulse.runner import Options
from interpulse.text import grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interpulse.cli.outfolder import OutFolder
    from interpulse.studies.context import Context
    from interpulse.studies.outcome import Outcome
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
    jobs: int | None
    no_cache: bool
    cache_dir: Path | None


def conduct(entry: Entry, wanted: Wanted, **own: Any) -> int:  # noqa: ANN401 - as the context takes them
    """Runs a study with its own options, prints it and stores it; returns the exit code."""
    from interpulse.cli.outfolder import OutFolder

    target = wanted.out if wanted.out is not None else None if wanted.json else Path(f"interpulse-{_slug(entry)}")
    folder = OutFolder.open(target) if target is not None else None
    found = ran(entry, wanted, entry.title, **own)
    if found is None:
        return INTERRUPTED
    _deliver(*found, folder, json=wanted.json)
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
        with watch_study(called, entry.FORM.jobs) as context.reporter:
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


def _slug(entry: Entry) -> str:
    return entry.title.replace(" ", "-")


def _deliver(context: Context, outcome: Outcome, folder: OutFolder | None, *, json: bool) -> None:
    """Stores first, so that no standard output costs the files, and prints in any case: nor does a full disk."""
    from interpulse.studies.output import files, render, to_json

    try:
        if folder is not None:
            from interpulse.report.study import with_page

            with undisturbed():
                names = folder.write(with_page(files(context, outcome), context, outcome))
            say(f"wrote {', '.join(names)} to {folder.path}")
    except OSError as error:
        message = (
            f"cannot write to {folder and folder.path}: {error.strerror or error}; the figures are on standard output"
        )
        raise UserError(message) from None
    finally:
        emit(to_json(context, outcome) if json else render(context, outcome, terminal_width()))


def show_entries(what: str, columns: Sequence[str], entries: Sequence[object], *, json: bool) -> None:
    """Prints a registry: a table of these attributes, or a JSON object with a list called `what`."""
    import json as json_text

    rows = [{column: getattr(each, column) for column in columns} for each in entries]
    if json:
        emit(json_text.dumps({what: rows}, ensure_ascii=False))
        return
    emit(grid(([*row.values()] for row in rows), columns, whole=("name",)))
