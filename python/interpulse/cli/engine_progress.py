"""How what the engine of sweeps does is shown: one bar, or a line now and then."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interpulse.sweeps.engine import ProgressObserver


@contextmanager
def watch_engine(name: str, unit: str = "simulations") -> Iterator[ProgressObserver]:
    """Shows how simulations get on for as long as the context lasts."""
    from interpulse.cli.study_progress import watch_studies
    from interpulse.sweeps.engine import ProgressObserver

    with watch_studies([(name, unit)]) as (reporter,):

        class Watcher(ProgressObserver):
            def progress(self, done: int, total: int, workers: int) -> None:  # noqa: ARG002 - as the engine calls it
                reporter.study(done, total, [])

            def note(self, line: str) -> None:
                reporter.note(line)

        yield Watcher()
