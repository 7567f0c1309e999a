"""Wait status of one of several concurrent studies: whether it runs or waits for cores, which makes its ETA invalid."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from interpulse.cli.progress import WAITING
from interpulse.studies.context import Reporter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interpulse.runs.runner import Going

STILL_S = 5.0
"""A study without progress for this long waits for cores; the longest progress step, a job of cells, takes 1 s."""


class StudyDisplay(Reporter):
    """Display of a study's progress."""

    def pause(self, done: int, total: int) -> None:
        """Called when the study makes no progress for a while."""


class WaitStatus(Reporter):
    """Passes progress to the display while the study runs, and `pause` once when it starts to wait for cores."""

    def __init__(self, display: StudyDisplay) -> None:
        self._display = display
        self._seen: object = None
        self._moved_s: float | None = None
        self._still = True

    def study(self, done: int, total: int, running: Sequence[Going]) -> None:
        """Passes progress on, or pauses the display if nothing has changed for `STILL_S`."""
        now = time.monotonic()
        seen = done, [(case.phase, case.done) for case in running if case.phase != WAITING]
        if (self._seen is not None and seen != self._seen) or 0 < total <= done:
            self._moved_s = now
        self._seen = seen
        still = self._moved_s is None or now - self._moved_s > STILL_S
        if not still:
            self._display.study(done, total, running)
        elif not self._still:
            self._display.pause(done, total)
        self._still = still

    def note(self, line: str) -> None:
        """Passes a line on."""
        self._display.note(line)

    def end(self) -> None:
        """Passes the end on."""
        self._display.end()
