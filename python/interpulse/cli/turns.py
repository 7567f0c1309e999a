"""Whether a study of several goes on, or waits for those before it: what it says of its pace is then worth nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from interpulse.cli.progress import WAITING
from interpulse.studies.context import Reporter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interpulse.runs.runner import Going

STILL_S = 5.0
"""A study of several that has had nothing done for so long waits for those before it; a job of cells lasts a second."""


class Told(Reporter):
    """Who shows how far a study is."""

    def stand_still(self, done: int, total: int) -> None:
        """Called when nothing of it runs for a while."""


class Turns(Reporter):
    """Passes on what a study of several says while it goes on; where it waits for cores, that it stands still."""

    def __init__(self, reporter: Told) -> None:
        self._reporter = reporter
        self._seen: object = None
        self._moved_s: float | None = None
        self._still = True

    def study(self, done: int, total: int, running: Sequence[Going]) -> None:
        """Passes it on, without what runs where for a while nothing has."""
        now = time.monotonic()
        seen = done, [(case.phase, case.done) for case in running if case.phase != WAITING]
        if (self._seen is not None and seen != self._seen) or 0 < total <= done:
            self._moved_s = now
        self._seen = seen
        still = self._moved_s is None or now - self._moved_s > STILL_S
        if not still:
            self._reporter.study(done, total, running)
        elif not self._still:
            self._reporter.stand_still(done, total)
        self._still = still

    def note(self, line: str) -> None:
        """Passes a line on."""
        self._reporter.note(line)

    def end(self) -> None:
        """Passes the end on."""
        self._reporter.end()
