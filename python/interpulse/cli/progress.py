"""How a run shows that it is alive: a live view on a terminal, elsewhere a line now and then; on standard error."""

from __future__ import annotations

import os
import sys
import time

from interpulse.cli.pace import Pace, in_words
from interpulse.cli.streams import say
from interpulse.tables.format import duration, short, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Self

    from interpulse.cli.live import Row, View
    from interpulse.runs.runner import Going, Watcher

WAITING = "waiting"
"""The phase of a case whose turn has not come."""

DONE = "done"
"""The phase of one that has ended."""

SIMULATED = "ms simulated"
"""The unit of a run whose end is a simulated time."""

LINE_EVERY_S = 5.0
"""How often a run without a terminal says how far it is."""

MOST_ROWS = 8
"""Of more cases than that, the view has only those that run, and a line that counts them."""


def is_live() -> bool:
    """Whether standard error is a terminal that can draw over what it has shown."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb").lower() not in ("dumb", "unknown")


def watch() -> AbstractContextManager[Watcher]:
    """Shows the progress of a run for as long as the context lasts."""
    if not is_live():
        return Lines()
    from contextlib import contextmanager

    from interpulse.cli.live import view

    @contextmanager
    def drawn() -> Iterator[Watcher]:
        with view() as shown:
            yield Terminal(shown)

    return drawn()


class Paces:
    """How fast cases go, each phase by itself."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[str, Pace]] = {}

    def told(self, case: Going) -> tuple[str, str]:
        """The rate of a case and the time that it will take, in words; empty where there is nothing to say."""
        phase, pace = self._of.get(case.case, ("", Pace()))
        if phase != case.phase:
            pace = Pace()
            self._of[case.case] = (case.phase, pace)
        rate = pace.rate(case.done)
        if case.phase in (WAITING, DONE) or rate is None:
            return "", ""
        left_s = pace.left_s(case.done, case.total)
        words = f"{duration(pace.so_far_s)} so far" if left_s is None else in_words(left_s)
        if case.unit == SIMULATED:
            return f"x{rate / 1e3:.3g} real time", words
        return f"{_counted(int(rate), case.unit)}/s", words


class Terminal:
    """A line for each case, which starts over in every phase."""

    def __init__(self, shown: View) -> None:
        self._shown = shown
        self._paces = Paces()

    def progress(self, cases: Sequence[Going]) -> None:
        """Renews the lines."""
        from interpulse.cli.live import Row

        if len(cases) <= MOST_ROWS:
            self._shown.rows = [row(case, self._paces) for case in cases]
            return
        ended = sum(case.phase == DONE for case in cases)
        counted = Row(f"{len(cases)} cases", ended / len(cases), f"{ended} done")
        self._shown.rows = [counted, *going(cases, self._paces)]

    def note(self, line: str) -> None:
        """Prints a line above the others."""
        self._shown.note(line)


def row(case: Going, paces: Paces) -> Row:
    """How a case stands."""
    from interpulse.cli.live import Row

    rate, left = paces.told(case)
    share = min(case.done / case.total, 1.0) if case.total else None
    return Row(f"{case.case}: {case.phase}", share, _amount(case), rate, left)


def going(cases: Sequence[Going], paces: Paces) -> list[Row]:
    """How those cases stand that run, as many as are shown at most."""
    return [row(case, paces) for case in cases if case.phase not in (WAITING, DONE)][:MOST_ROWS]


class Lines:
    """Plain lines: at the start of each phase, then every few seconds."""

    def __init__(self) -> None:
        self._phases: dict[str, str] = {}
        self._paces = Paces()
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """What has been printed stays."""

    def progress(self, cases: Sequence[Going]) -> None:
        """Prints the cases that entered a phase, and all that move when it is time again."""
        due = time.monotonic() - self._last >= LINE_EVERY_S
        moving: dict[str, list[str]] = {}
        paces: dict[str, str] = {}
        for case in cases:
            pace = ", ".join(filter(None, self._paces.told(case)))
            entered = self._phases.get(case.case, WAITING) != case.phase
            if entered or (due and case.phase != WAITING and (not case.total or case.done < case.total)):
                self._phases[case.case] = case.phase
                # Cases that share a preconditioning share its line.
                line = f"{case.phase} {_amount(case)}".rstrip()
                moving.setdefault(line, []).append(case.case)
                paces[line] = pace
        for line, names in moving.items():
            say(f"{', '.join(names)}: {line}{f', {paces[line]}' if paces[line] else ''}")
        if due:
            self._last = time.monotonic()

    def note(self, line: str) -> None:
        """Prints a line."""
        say(f"note: {line}")


def _amount(case: Going) -> str:
    """`37 % of 10.0M requests`; just the count where the end is unknown; nothing before there is something."""
    if case.total:
        return f"{100 * case.done // case.total} % of {_counted(case.total, case.unit)}"
    return _counted(case.done, case.unit) if case.done else ""


def _counted(count: int, unit: str) -> str:
    return size(count) if unit == "B" else f"{short(count)} {unit}"
