"""How a long study shows that it is alive: a live view on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interpulse.cli.pace import Pace, in_words
from interpulse.cli.progress import Paces, going, is_live
from interpulse.cli.streams import say
from interpulse.studies.context import Reporter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from interpulse._core import Progress
    from interpulse.cli.live import View

LINE_EVERY_S = 10.0
"""How often a study without a terminal says how far it is."""


@contextmanager
def watch_study(name: str, unit: str) -> Iterator[Reporter]:
    """Shows the progress of a study on standard error for as long as the context lasts; it counts in `unit`."""
    if not is_live():
        yield Lines(name, unit)
        return
    from interpulse.cli.live import view

    with view() as shown:
        yield Terminal(name, unit, shown)


class Clock:
    """Estimates the time left from what has been done since the first call: kept cases cost nothing."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._pace = Pace()

    def amount(self, done: int, total: int, running: Sequence[Progress]) -> tuple[float, str, str]:
        """How much is done, with fractions of what runs, that in words, and how long the rest will take in words."""
        at = done + sum(fraction(case) for case in running)
        left_s = self._pace.left_s(at, total)
        return at, f"{done} of {total} {self._unit}", "" if left_s is None else in_words(left_s)


class Terminal(Reporter):
    """A line for the whole study, and one for each simulation that runs."""

    def __init__(self, name: str, unit: str, shown: View) -> None:
        self._name = name
        self._clock = Clock(unit)
        self._paces = Paces()
        self._shown = shown

    def study(self, done: int, total: int, running: Sequence[Progress]) -> None:
        """Renews the lines."""
        from interpulse.cli.live import Row

        at, words, left = self._clock.amount(done, total, running)
        whole = Row(self._name, min(at / total, 1.0) if total else None, words, left=left)
        self._shown.rows = [whole, *going(running, self._paces)]

    def note(self, line: str) -> None:
        """Prints a line above the others."""
        self._shown.note(line)


class Lines(Reporter):
    """Plain lines."""

    def __init__(self, name: str, unit: str) -> None:
        self._name = name
        self._clock = Clock(unit)
        self._last: float | None = None

    def study(self, done: int, total: int, running: Sequence[Progress]) -> None:
        """Prints a line at the start and then when it is time again."""
        _, words, left = self._clock.amount(done, total, running)
        now = time.monotonic()
        if self._last is None or now - self._last >= LINE_EVERY_S:
            self._last = now
            say(f"{self._name}: {words}{f', {left}' if left else ''}")

    def note(self, line: str) -> None:
        """Prints a line."""
        say(f"note: {line}")


def fraction(case: Progress) -> float:
    """How much of what runs is done, preparing the drive left aside; what has ended is counted as kept."""
    return case.done / case.total if case.phase == "run" and case.total else 0.0
