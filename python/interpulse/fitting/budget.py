"""Time budget of a fit: ends its phases early enough that the answer is measured within the budget."""

from __future__ import annotations

import math
import time

from interpulse._core import ConfigError
from interpulse.fitting import quantity
from interpulse.sweeps.engine import ProgressObserver

DEFAULT = "5min"
"""Budget of a fit that gives none."""

UNLIMITED = "none"

SEARCH = 0.7
"""Share of the time before the measurement of the answer that the search may take; its exploration has the rest."""

RESERVE = 1.3
"""Factor on the time that the measurement of the answer is expected to take."""

MOST_RESERVE = 0.5
"""Largest share of the budget kept for the measurement of the answer."""


class BudgetSpentError(Exception):
    """The time of a phase is over."""


def read_budget(value: object, place: str) -> float:
    """Seconds of a budget such as `5min`; infinite for `none`. Raises ConfigError if invalid."""
    if value == UNLIMITED:
        return math.inf
    try:
        seconds = quantity.read(value, "a duration", place) / 1e9
    except ConfigError as error:
        raise ConfigError(f"{error}; or {UNLIMITED}, for no limit") from None
    if seconds < 1:
        raise ConfigError(f"{place}: seen {value!r}; expected at least 1s, or {UNLIMITED}, for no limit")
    return seconds


class Budget:
    """Clock of a fit.

    Attributes:
        seconds: the budget.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._begun = time.monotonic()
        self._end = math.inf

    @property
    def ends_at(self) -> float:
        """The end of the budget on the monotonic clock."""
        return self._begun + self.seconds

    def phase(self, share: float, reserved_s: float = 0.0) -> None:
        """Begins a phase that ends after this share of the budget without the reserved time."""
        kept = min(RESERVE * reserved_s, MOST_RESERVE * self.seconds) if math.isfinite(self.seconds) else 0.0
        self._end = self._begun + share * (self.seconds - kept)

    def free(self) -> None:
        """Begins a phase without an end."""
        self._end = math.inf

    def check(self) -> None:
        """Raises BudgetSpentError after the end of the phase."""
        if time.monotonic() > self._end:
            raise BudgetSpentError


class BudgetObserver(ProgressObserver):
    """Observer that stops the simulations at the end of a phase.

    Attributes:
        planned: simulations that the fit needs at least.
    """

    def __init__(self, inner: ProgressObserver, budget: Budget) -> None:
        super().__init__()
        self.planned = 0
        self._inner, self._budget = inner, budget
        if math.isfinite(budget.seconds):
            inner.until(budget.ends_at)

    def progress(self, done: int, total: int, workers: int) -> None:
        """Passes progress on. Raises BudgetSpentError after the end of the phase."""
        self._inner.progress(done, max(total, self.planned), workers)
        self._budget.check()

    def note(self, line: str) -> None:
        """Passes a note on."""
        self._inner.note(line)
