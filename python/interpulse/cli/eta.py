"""ETA: rate and time left, from the work done since the first observation."""

from __future__ import annotations

import time

from interpulse.tables.format import duration

SETTLED_S = 1.0
"""Shortest observation that gives a rate."""

CLOCK_S = 300.0
"""Longer remaining times are shown with the time of day of their end."""


class Eta:
    """Rate and time left of one activity; work done before the first observation does not count."""

    def __init__(self) -> None:
        self._start: tuple[float, float] | None = None

    @property
    def so_far_s(self) -> float:
        """Time since the first observation."""
        return 0.0 if self._start is None else time.monotonic() - self._start[0]

    def rate(self, done: float) -> float | None:
        """Work per second, given the work `done` until now; None while unknown."""
        if self._start is None:
            self._start = (time.monotonic(), done)
        passed, more = self.so_far_s, done - self._start[1]
        return more / passed if passed > SETTLED_S and more > 0 else None

    def left_s(self, done: float, total: float) -> float | None:
        """Time left in seconds; None while unknown."""
        rate = self.rate(done)
        # A case that has just ended may be counted twice for a moment.
        return None if rate is None or not total else max(total - done, 0) / rate


def eta_text(left_s: float) -> str:
    """`about 12 s left`; a long time also with the time of day of its end."""
    at = time.strftime(", at %H:%M", time.localtime(time.time() + left_s)) if left_s >= CLOCK_S else ""
    return f"about {duration(left_s)} left{at}"
