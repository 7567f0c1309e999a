"""Progress of studies, sweeps and searches: live display on a terminal, otherwise periodic lines."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from interpulse.cli.eta import SETTLED_S, Eta, eta_text
from interpulse.cli.output_streams import note as print_note
from interpulse.cli.output_streams import say
from interpulse.cli.progress import CaseEtas, is_live, running_rows
from interpulse.cli.wait_status import StudyDisplay, WaitStatus
from interpulse.tables.format import duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from interpulse.cli.live_display import Row, View
    from interpulse.runs.runner import Going
    from interpulse.studies.context import Reporter
    from interpulse.sweeps.engine import Progress

LINE_EVERY_S = 10.0
"""Interval of progress lines without a terminal."""


@contextmanager
def watch_studies(studies: Sequence[tuple[str, str]], growth: Growth | None = None) -> Iterator[Sequence[Reporter]]:
    """Shows the progress of studies on standard error for as long as the context lasts.

    Args:
        studies: name and counted unit of each study; of several, waiting studies are hidden.
        growth: of a single study whose total grows.
    """
    alone = len(studies) == 1
    if not is_live():
        lines = [Lines(name, unit, alone=alone, growth=growth) for name, unit in studies]
        yield lines if alone else [WaitStatus(each) for each in lines]
        return
    from interpulse.cli.live_display import view

    with view() as shown:
        board = Board(shown)
        views = [Terminal(name, unit, board, alone=alone, growth=growth) for name, unit in studies]
        yield views if alone else [WaitStatus(each) for each in views]


@contextmanager
def watch_engine(name: str, unit: str = "simulations", *, grows: bool = False) -> Iterator[Progress]:
    """Shows the progress of the sweep engine for as long as the context lasts; the total of a search grows."""
    from interpulse.sweeps import engine

    growth = Growth() if grows else None
    with watch_studies([(name, unit)], growth) as (reporter,):

        class Watcher(engine.ProgressObserver):
            def progress(self, done: int, total: int, workers: int) -> None:  # noqa: ARG002 - as in the base class
                reporter.study(done, total, [])

            def note(self, line: str) -> None:
                reporter.note(line)

            def until(self, ends_at: float) -> None:
                if growth is not None:
                    growth.ends_at = ends_at

        yield Watcher()


@dataclass
class Growth:
    """A study whose total grows while it runs, so that the work left is unknown.

    Attributes:
        ends_at: latest end on the monotonic clock, if there is one.
    """

    ends_at: float | None = None

    def left(self, so_far_s: float) -> str:
        """Text of the time: at most so long, which only falls, or the time so far."""
        if self.ends_at is None:
            return f"{duration(so_far_s)} so far" if so_far_s >= SETTLED_S else ""
        left_s = self.ends_at - time.monotonic()
        return f"at most {duration(left_s)} left" if left_s >= SETTLED_S else "about to end"


class Clock:
    """Estimate of the time left from the work done since the first call; reused cases do not count."""

    def __init__(self, unit: str, growth: Growth | None = None) -> None:
        self._unit = unit
        self._growth = growth
        self._eta = Eta()

    def amount(self, done: int, total: int, running: Sequence[Going]) -> tuple[float, str, str]:
        """Work done including fractions of running cases, its text, and the text of the time left."""
        at = done + sum(fraction(case) for case in running)
        left_s = self._eta.left_s(at, total)
        if self._growth is not None:
            return at, f"{done} of at least {total} {self._unit}", self._growth.left(self._eta.so_far_s)
        return at, f"{done} of {total} {self._unit}", "" if left_s is None else eta_text(left_s)

    def restart(self) -> None:
        """Restarts the estimate: other studies used the cores since the last call."""
        self._eta = Eta()


@dataclass
class Board:
    """Rows of all studies in one view, ordered by start."""

    shown: View
    _rows: dict[str, Sequence[Row]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def show(self, name: str, rows: Sequence[Row]) -> None:
        """Updates the rows of a study; called from the thread of each study."""
        with self._lock:
            self._rows[name] = rows
            self.shown.rows = [row for of in self._rows.values() for row in of]


class Terminal(StudyDisplay):
    """A row for the whole study, and one for each running simulation."""

    def __init__(self, name: str, unit: str, board: Board, *, alone: bool, growth: Growth | None = None) -> None:
        self._name = name
        self._clock = Clock(unit, growth)
        self._etas = CaseEtas()
        self._board = board
        self._of = "" if alone else f"{name}: "

    def study(self, done: int, total: int, running: Sequence[Going]) -> None:
        """Updates the rows."""
        at, words, left = self._clock.amount(done, total, running)
        self._board.show(self._name, [self._whole(at, total, words, left), *running_rows(running, self._etas)])

    def pause(self, done: int, total: int) -> None:
        """Keeps the row of the whole study, without a time left."""
        at, words, _ = self._clock.amount(done, total, [])
        self._clock.restart()
        self._board.show(self._name, [self._whole(at, total, words)])

    def _whole(self, at: float, total: int, words: str, left: str = "") -> Row:
        from interpulse.cli.live_display import Row

        return Row(self._name, min(at / total, 1.0) if total else None, words, left=left)

    def note(self, line: str) -> None:
        """Prints a line above the rows."""
        self._board.shown.note(f"{self._of}{line}")

    def end(self) -> None:
        """Removes the rows."""
        self._board.show(self._name, ())


class Lines(StudyDisplay):
    """Progress as plain lines."""

    def __init__(self, name: str, unit: str, *, alone: bool, growth: Growth | None = None) -> None:
        self._name = name
        self._clock = Clock(unit, growth)
        self._of = "" if alone else f"{name}: "
        self._last: float | None = None

    def study(self, done: int, total: int, running: Sequence[Going]) -> None:
        """Prints a line at the start and then every `LINE_EVERY_S`."""
        _, words, left = self._clock.amount(done, total, running)
        now = time.monotonic()
        if self._last is None or now - self._last >= LINE_EVERY_S:
            self._last = now
            say(f"{self._name}: {words}{f', {left}' if left else ''}")

    def pause(self, done: int, total: int) -> None:  # noqa: ARG002 - as in the base class
        """Prints nothing until the study continues."""
        self._clock.restart()

    def note(self, line: str) -> None:
        """Prints a line."""
        print_note(f"{self._of}{line}")


def fraction(case: Going) -> float:
    """Done share of a running case; 0 during preconditioning and after the end, when the study counts the case."""
    return case.done / case.total if case.phase == "run" and case.total else 0.0
