"""How a long study shows that it is alive: one bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interpulse.cli.progress import bars_on_terminal
from interpulse.cli.streams import say
from interpulse.studies.context import Reporter
from interpulse.text import duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.progress import Progress as Bars

    from interpulse._core import Progress

LINE_EVERY_S = 10.0
"""How often a study without a terminal says how far it is."""


@contextmanager
def watch_study(name: str, unit: str) -> Iterator[Reporter]:
    """Shows the progress of a study on standard error for as long as the context lasts; it counts in `unit`."""
    if not sys.stderr.isatty():
        yield Lines(name, unit)
        return
    with bars_on_terminal() as bars:
        yield Terminal(name, unit, bars)


class Clock:
    """Estimates the time left from what has been done since the first call: kept cases cost nothing."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._start: tuple[float, float] | None = None

    def amount(self, done: int, total: int, running: Sequence[Progress]) -> tuple[float, str]:
        """How much is done, with fractions of what runs, and that in words."""
        at = done + sum(fraction(case) for case in running)
        now = time.monotonic()
        if self._start is None:
            self._start = (now, at)
        since, before = self._start
        words = f"{done} of {total} {self._unit}"
        if at - before > 0 and now - since > 1:
            # What has just ended may still be among what runs.
            left_s = max(total - at, 0) * (now - since) / (at - before)
            words += f", about {duration(left_s)} left"
        return at, words


class Terminal(Reporter):
    """One bar for the whole study."""

    def __init__(self, name: str, unit: str, bars: Bars) -> None:
        self._clock = Clock(unit)
        self._bars = bars
        self._task = bars.add_task(name, total=None, amount="")

    def study(self, done: int, total: int, running: Sequence[Progress]) -> None:
        """Moves the bar."""
        at, words = self._clock.amount(done, total, running)
        self._bars.update(self._task, completed=at, total=total, amount=words)

    def note(self, line: str) -> None:
        """Prints a line above the bar."""
        self._bars.console.print(f"note: {line}", markup=False, highlight=False)


class Lines(Reporter):
    """Plain lines."""

    def __init__(self, name: str, unit: str) -> None:
        self._name = name
        self._clock = Clock(unit)
        self._last: float | None = None

    def study(self, done: int, total: int, running: Sequence[Progress]) -> None:
        """Prints a line at the start and then when it is time again."""
        _, words = self._clock.amount(done, total, running)
        now = time.monotonic()
        if self._last is None or now - self._last >= LINE_EVERY_S:
            self._last = now
            say(f"{self._name}: {words}")

    def note(self, line: str) -> None:
        """Prints a line."""
        say(f"note: {line}")


def fraction(case: Progress) -> float:
    """How much of a simulation is done, preparing the drive left aside."""
    if case.phase == "done":
        return 1.0
    return case.done / case.total if case.phase == "run" and case.total else 0.0
