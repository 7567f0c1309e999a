"""How a long study shows that it is alive: a live view on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from interpulse.cli.pace import Pace, in_words
from interpulse.cli.progress import Paces, going, is_live
from interpulse.cli.streams import say
from interpulse.cli.turns import Told, Turns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from interpulse.cli.live import Row, View
    from interpulse.runs.runner import Going
    from interpulse.studies.context import Reporter

LINE_EVERY_S = 10.0
"""How often a study without a terminal says how far it is."""


@contextmanager
def watch_studies(studies: Sequence[tuple[str, str]]) -> Iterator[Sequence[Reporter]]:
    """Shows the progress of studies on standard error for as long as the context lasts.

    Args:
        studies: of each what it is called, and what it counts; of several, those show that go on.
    """
    alone = len(studies) == 1
    if not is_live():
        lines = [Lines(name, unit, alone=alone) for name, unit in studies]
        yield lines if alone else [Turns(each) for each in lines]
        return
    from interpulse.cli.live import view

    with view() as shown:
        board = Board(shown)
        views = [Terminal(name, unit, board, alone=alone) for name, unit in studies]
        yield views if alone else [Turns(each) for each in views]


class Clock:
    """Estimates the time left from what has been done since the first call: kept cases cost nothing."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._pace = Pace()

    def amount(self, done: int, total: int, running: Sequence[Going]) -> tuple[float, str, str]:
        """How much is done, with fractions of what runs, that in words, and how long the rest will take in words."""
        at = done + sum(fraction(case) for case in running)
        left_s = self._pace.left_s(at, total)
        return at, f"{done} of {total} {self._unit}", "" if left_s is None else in_words(left_s)

    def restart(self) -> None:
        """What has been done until now says nothing of the time left: others had the cores meanwhile."""
        self._pace = Pace()


@dataclass
class Board:
    """The rows of all studies, in the order in which they began, in one view."""

    shown: View
    _rows: dict[str, Sequence[Row]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def show(self, name: str, rows: Sequence[Row]) -> None:
        """Renews the rows of a study; called from the thread of each."""
        with self._lock:
            self._rows[name] = rows
            self.shown.rows = [row for of in self._rows.values() for row in of]


class Terminal(Told):
    """A line for the whole study, and one for each simulation that runs."""

    def __init__(self, name: str, unit: str, board: Board, *, alone: bool) -> None:
        self._name = name
        self._clock = Clock(unit)
        self._paces = Paces()
        self._board = board
        self._of = "" if alone else f"{name}: "

    def study(self, done: int, total: int, running: Sequence[Going]) -> None:
        """Renews the lines."""
        at, words, left = self._clock.amount(done, total, running)
        self._board.show(self._name, [self._whole(at, total, words, left), *going(running, self._paces)])

    def stand_still(self, done: int, total: int) -> None:
        """Leaves the line for the whole study, without an end that nobody knows."""
        at, words, _ = self._clock.amount(done, total, [])
        self._clock.restart()
        self._board.show(self._name, [self._whole(at, total, words)])

    def _whole(self, at: float, total: int, words: str, left: str = "") -> Row:
        from interpulse.cli.live import Row

        return Row(self._name, min(at / total, 1.0) if total else None, words, left=left)

    def note(self, line: str) -> None:
        """Prints a line above the others."""
        self._board.shown.note(f"{self._of}{line}")

    def end(self) -> None:
        """Takes the lines away."""
        self._board.show(self._name, ())


class Lines(Told):
    """Plain lines."""

    def __init__(self, name: str, unit: str, *, alone: bool) -> None:
        self._name = name
        self._clock = Clock(unit)
        self._of = "" if alone else f"{name}: "
        self._last: float | None = None

    def study(self, done: int, total: int, running: Sequence[Going]) -> None:
        """Prints a line at the start and then when it is time again."""
        _, words, left = self._clock.amount(done, total, running)
        now = time.monotonic()
        if self._last is None or now - self._last >= LINE_EVERY_S:
            self._last = now
            say(f"{self._name}: {words}{f', {left}' if left else ''}")

    def stand_still(self, done: int, total: int) -> None:  # noqa: ARG002 - as who shows it
        """Prints nothing until it goes on."""
        self._clock.restart()

    def note(self, line: str) -> None:
        """Prints a line."""
        say(f"note: {self._of}{line}")


def fraction(case: Going) -> float:
    """How much of what runs is done, preparing the drive left aside; what has ended is counted as kept."""
    return case.done / case.total if case.phase == "run" and case.total else 0.0
