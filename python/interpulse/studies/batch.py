"""Batch of studies: the next study uses the cores that a study leaves idle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import Event

from interpulse.studies import repeat
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome
from interpulse.studies.parallel import run_parallel
from interpulse.studies.registry import Entry

RANKS = 2**20
"""So many for each study, whose seeds run side by side too."""


def run(studies: Sequence[tuple[Entry, Context]], seeds: int | None) -> list[Outcome]:
    """Runs studies, each with its own context and so many seeds, as `repeat.run` takes them.

    They need not know of each other: each plans, waits and evaluates by itself, so that one whose later cases depend on
    earlier ones has others beside it while it waits. One that fails keeps no other from its end; that it has failed is
    said at once.

    Raises:
        as `Context.run` does, of the first study that failed.
    """
    if len(studies) > 1:
        stop = Event()
        _, first = studies[0]
        shared = first.options.shared(len(studies), RANKS)
        for (_, context), options in zip(studies, shared, strict=True):
            context.options, context.stop = options, stop
        reported = set[str]()
        return run_parallel([partial(_one, *study, seeds, reported) for study in studies], first.cores, stop)
    return [repeat.run(entry, context, seeds) for entry, context in studies]


def _one(entry: Entry, context: Context, seeds: int | None, reported: set[str]) -> Outcome:
    try:
        return repeat.run(entry, context, seeds)
    except Exception as error:
        # What all of them fail with, such as no scheduler, is said once.
        if str(error) not in reported:
            reported.add(str(error))
            context.note(f"it failed, and the others continue: {error}")
        raise
    finally:
        context.reporter.end()
