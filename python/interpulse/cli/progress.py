"""Progress of a run on standard error: live display on a terminal, otherwise periodic lines."""

from __future__ import annotations

import os
import sys
import time

from interpulse.cli.eta import Eta, eta_text
from interpulse.cli.output_streams import note as print_note
from interpulse.cli.output_streams import say
from interpulse.tables.format import duration, short, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Self

    from interpulse.cli.live_display import Row, View
    from interpulse.runs.runner import Going

WAITING = "waiting"
"""Phase of a case that has not started."""

DONE = "done"
"""Phase of a case that has ended."""

SIMULATED = "ms simulated"
"""Unit of a run that ends at a simulated time."""

LINE_EVERY_S = 5.0
"""Interval of progress lines without a terminal."""

MOST_ROWS = 8
"""With more cases, the view shows only the running cases and a row that counts all."""


def is_live() -> bool:
    """Whether standard error is a terminal with cursor control."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb").lower() not in ("dumb", "unknown")


def watch() -> AbstractContextManager[Terminal | Lines]:
    """Shows the progress of a run for as long as the context lasts."""
    if not is_live():
        return Lines()
    from contextlib import contextmanager

    from interpulse.cli.live_display import view

    @contextmanager
    def drawn() -> Iterator[Terminal]:
        with view() as shown:
            yield Terminal(shown)

    return drawn()


class CaseEtas:
    """Rates and remaining times of cases, by phase."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[str, Eta]] = {}

    def texts(self, case: Going) -> tuple[str, str]:
        """Texts of a case's rate and time left; empty while unknown."""
        phase, eta = self._of.get(case.case, ("", Eta()))
        if phase != case.phase:
            eta = Eta()
            self._of[case.case] = (case.phase, eta)
        rate = eta.rate(case.done)
        if case.phase in (WAITING, DONE) or rate is None:
            return "", ""
        left_s = eta.left_s(case.done, case.total)
        words = f"{duration(eta.so_far_s)} so far" if left_s is None else eta_text(left_s)
        if case.unit == SIMULATED:
            return f"x{rate / 1e3:.3g} real time", words
        return f"{_counted(int(rate), case.unit)}/s", words


class Terminal:
    """A row for each case, restarted in every phase."""

    def __init__(self, shown: View) -> None:
        self._shown = shown
        self._etas = CaseEtas()

    def progress(self, cases: Sequence[Going]) -> None:
        """Updates the rows."""
        from interpulse.cli.live_display import Row

        if len(cases) <= MOST_ROWS:
            self._shown.rows = [row(case, self._etas) for case in cases]
            return
        ended = sum(case.phase == DONE for case in cases)
        counted = Row(f"{len(cases)} cases", ended / len(cases), f"{ended} done")
        self._shown.rows = [counted, *running_rows(cases, self._etas)]

    def note(self, line: str) -> None:
        """Prints a line above the rows."""
        self._shown.note(line)


def row(case: Going, etas: CaseEtas) -> Row:
    """Row of a case."""
    from interpulse.cli.live_display import Row

    rate, left = etas.texts(case)
    share = min(case.done / case.total, 1.0) if case.total else None
    return Row(f"{case.case}: {case.phase}", share, _amount(case), rate, left)


def running_rows(cases: Sequence[Going], etas: CaseEtas) -> list[Row]:
    """Rows of running cases, at most `MOST_ROWS`."""
    return [row(case, etas) for case in cases if case.phase not in (WAITING, DONE)][:MOST_ROWS]


class Lines:
    """Progress as plain lines: at the start of each phase, then every few seconds."""

    def __init__(self) -> None:
        self._phases: dict[str, str] = {}
        self._etas = CaseEtas()
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to clean up: printed lines remain."""

    def progress(self, cases: Sequence[Going]) -> None:
        """Prints cases that entered a phase, and every `LINE_EVERY_S` all running cases."""
        due = time.monotonic() - self._last >= LINE_EVERY_S
        moving: dict[str, list[str]] = {}
        etas: dict[str, str] = {}
        for case in cases:
            eta = ", ".join(filter(None, self._etas.texts(case)))
            entered = self._phases.get(case.case, WAITING) != case.phase
            if entered or (due and case.phase != WAITING and (not case.total or case.done < case.total)):
                self._phases[case.case] = case.phase
                # Cases that share a preconditioning share its line.
                line = f"{case.phase} {_amount(case)}".rstrip()
                moving.setdefault(line, []).append(case.case)
                etas[line] = eta
        for line, names in moving.items():
            say(f"{', '.join(names)}: {line}{f', {etas[line]}' if etas[line] else ''}")
        if due:
            self._last = time.monotonic()

    def note(self, line: str) -> None:
        """Prints a line."""
        print_note(line)


def _amount(case: Going) -> str:
    """`37 % of 10.0M requests`; the count alone if the total is unknown; empty at zero."""
    if case.total:
        return f"{100 * case.done // case.total} % of {_counted(case.total, case.unit)}"
    return _counted(case.done, case.unit) if case.done else ""


def _counted(count: int, unit: str) -> str:
    return size(count) if unit == "B" else f"{short(count)} {unit}"
