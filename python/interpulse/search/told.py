"""Who is told how a search goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interpulse.sweeps.engine import Told

if TYPE_CHECKING:
    from collections.abc import Callable


class _Callback(Told):
    def __init__(self, function: Callable[[int, int, int], None] | None) -> None:
        self._function = function

    def progress(self, done: int, total: int, workers: int) -> None:
        if self._function is not None:
            self._function(done, total, workers)


def told_by(function: Callable[[int, int, int], None] | None) -> Told:
    """Tells a function of progress, or nobody."""
    return _Callback(function)
