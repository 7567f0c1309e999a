"""How a run shows that it is alive: bars on a terminal, a line now and then elsewhere; always on standard error."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interpulse.cli.streams import say
from interpulse.text import short, size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.progress import Progress as Bars
    from rich.progress import ProgressColumn, TaskID

    from interpulse._core import Progress
    from interpulse.runner import Watcher

WAITING = "waiting"
"""The phase of a case whose turn has not come."""

LINE_EVERY_S = 5.0
"""How often a run without a terminal says how far it is."""


@contextmanager
def watch() -> Iterator[Watcher]:
    """Shows the progress of a run for as long as the context lasts."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    from rich.progress import TimeRemainingColumn

    with bars_on_terminal(TimeRemainingColumn()) as bars:
        yield Terminal(bars)


def bars_on_terminal(*more: ProgressColumn) -> Bars:
    """Bars on standard error, with these columns at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    label, amount = TextColumn("{task.description}"), TextColumn("{task.fields[amount]}")
    columns = (label, BarColumn(bar_width=30), amount, TimeElapsedColumn(), *more)
    return Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=5)


class Terminal:
    """One bar per case, which starts over in every phase."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[str, tuple[str, TaskID]] = {}

    def progress(self, cases: Sequence[Progress]) -> None:
        """Moves the bars."""
        for case in cases:
            phase, task = self._tasks.get(case.case, ("", None))
            label = f"{case.case}: {case.phase}"
            if task is None:
                task = self._bars.add_task(label, total=None, amount="")
            elif phase != case.phase:
                self._bars.reset(task, description=label)
            self._tasks[case.case] = (case.phase, task)
            self._bars.update(task, completed=case.done, total=case.total or None, amount=_amount(case))

    def note(self, line: str) -> None:
        """Prints a line above the bars."""
        self._bars.console.print(f"note: {line}", markup=False, highlight=False)


class Lines:
    """Plain lines: at the start of each phase, then every few seconds."""

    def __init__(self) -> None:
        self._phases: dict[str, str] = {}
        self._last = time.monotonic()

    def progress(self, cases: Sequence[Progress]) -> None:
        """Prints the cases that entered a phase, and all that move when it is time again."""
        due = time.monotonic() - self._last >= LINE_EVERY_S
        moving: dict[str, list[str]] = {}
        for case in cases:
            entered = self._phases.get(case.case, WAITING) != case.phase
            if entered or (due and case.phase != WAITING and (not case.total or case.done < case.total)):
                self._phases[case.case] = case.phase
                # Cases that share a preconditioning share its line.
                moving.setdefault(f"{case.phase} {_amount(case)}".rstrip(), []).append(case.case)
        for line, names in moving.items():
            say(f"{', '.join(names)}: {line}")
        if due:
            self._last = time.monotonic()

    def note(self, line: str) -> None:
        """Prints a line."""
        say(f"note: {line}")


def _amount(case: Progress) -> str:
    """`37 % of 10.0M requests`; just the count where the end is unknown; nothing before there is something."""
    if case.total:
        return f"{100 * case.done // case.total} % of {_counted(case.total, case.unit)}"
    return _counted(case.done, case.unit) if case.done else ""


def _counted(count: int, unit: str) -> str:
    return size(count) if unit == "B" else f"{short(count)} {unit}"
