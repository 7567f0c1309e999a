"""Progress of a rewritten trace on standard error, once it takes longer than a moment."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from interpulse.cli.progress import watch

if TYPE_CHECKING:
    from interpulse.cli.progress import Lines, Terminal

QUIET_S = 1.0
"""Shorter work shows nothing."""
UPDATE_S = 0.1
"""Interval of updates."""


@dataclass(frozen=True)
class Pass:
    """How far a pass over the rows has come."""

    case: str
    phase: str
    done: int
    total: int
    unit: str = "rows"


class TraceProgress:
    """Context in which `report` shows how far a trace is checked, and then how far it is written."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._open = ExitStack()
        self._shown: Terminal | Lines | None = None
        self._due = time.monotonic() + QUIET_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def report(self, rows: int, total: int | None) -> None:
        """Shows the rows done in this pass; their number is unknown in the first."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + UPDATE_S
        if self._shown is None:
            self._shown = self._open.enter_context(watch())
        self._shown.progress([Pass(self._name, "check" if total is None else "write", rows, total or 0)])
