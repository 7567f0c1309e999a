"""Several studies as one batch: where one of them leaves a core idle, the next ones go on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import Event

from interpulse.studies import repeat
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome
from interpulse.studies.registry import Entry
from interpulse.studies.sidebyside import side_by_side

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
        told = set[str]()
        return side_by_side([partial(_one, *study, seeds, told) for study in studies], first.cores, stop)
    return [repeat.run(entry, context, seeds) for entry, context in studies]


def _one(entry: Entry, context: Context, seeds: int | None, told: set[str]) -> Outcome:
    try:
        return repeat.run(entry, context, seeds)
    except Exception as error:
        # What all of them fail with, such as no scheduler, is said once.
        if str(error) not in told:
            told.add(str(error))
            context.note(f"it failed, and the others go on: {error}")
        raise
    finally:
        context.reporter.end()
