"""How fast something goes and when it will have ended, by what has been done since it was first looked at."""

from __future__ import annotations

import time

from interpulse.tables.format import duration

SETTLED_S = 1.0
"""Nothing is said of a pace that has been watched for less."""

CLOCK_S = 300.0
"""What takes longer than this is told with the time of day at which it ends."""


class Pace:
    """Of one thing that goes on; what it had done when it was first looked at cost nothing."""

    def __init__(self) -> None:
        self._start: tuple[float, float] | None = None

    @property
    def so_far_s(self) -> float:
        """Since the first look."""
        return 0.0 if self._start is None else time.monotonic() - self._start[0]

    def rate(self, done: float) -> float | None:
        """What is done in a second; None as long as nobody can say.

        Args:
            done: how much has been done by now.
        """
        if self._start is None:
            self._start = (time.monotonic(), done)
        passed, more = self.so_far_s, done - self._start[1]
        return more / passed if passed > SETTLED_S and more > 0 else None

    def left_s(self, done: float, total: float) -> float | None:
        """How long the rest will take; None as long as nobody can say."""
        rate = self.rate(done)
        # What has just ended may be counted twice for a moment.
        return None if rate is None or not total else max(total - done, 0) / rate


def in_words(left_s: float) -> str:
    """`about 12 s left`, and of what takes long when it ends."""
    at = time.strftime(", at %H:%M", time.localtime(time.time() + left_s)) if left_s >= CLOCK_S else ""
    return f"about {duration(left_s)} left{at}"
