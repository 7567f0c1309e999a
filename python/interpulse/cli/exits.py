"""Exit codes, the error that only the command line raises, and polite requests to end."""

from __future__ import annotations

# What `signal` has, without the enumerations that it makes of its numbers, which take longer than many a run.
import _signal as signal  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

INTERNAL = 1
"""A bug of interpulse."""
USER_ERROR = 2
"""A mistake in the arguments, the configuration, a trace or a file."""
INTERRUPTED = 130
"""Ctrl-C: 128 + SIGINT, as shells count."""

POLITE = (signal.SIGTERM, signal.SIGHUP)
"""How `timeout` and batch systems ask a process to end, and what a terminal that goes away sends."""


class UserError(Exception):
    """Something that the user can mend; the message is the whole explanation."""


class _Handled:
    """Has polite requests handled; one that is ignored, as `nohup` has it, stays so."""

    def __init__(self, handler: Callable[[int, object], None]) -> None:
        self._handler = handler

    def __enter__(self) -> None:
        known = {number: signal.getsignal(number) for number in POLITE}
        self._before = {number: handler for number, handler in known.items() if handler != signal.SIG_IGN}
        for number in self._before:
            signal.signal(number, self._handler)

    def __exit__(self, *_: object) -> None:
        for number, known in self._before.items():
            signal.signal(number, known)


class PoliteAsCtrlC(_Handled):
    """Lets polite requests to end keep what is done as Ctrl-C does; its value lists the one that came.

    The first one counts: shells and terminals send several, and the second must not cut short what saves the result.
    """

    def __init__(self) -> None:
        super().__init__(self._stop)

    def __enter__(self) -> list[int]:  # type: ignore[override]
        self._came: list[int] = []
        super().__enter__()
        return self._came

    def _stop(self, number: int, _: object) -> None:
        if not self._came:
            self._came.append(number)
            raise KeyboardInterrupt


class Undisturbed(_Handled):
    """Holds polite requests back until what is being stored is stored; Ctrl-C still ends it."""

    def __init__(self) -> None:
        self._came: list[int] = []
        super().__init__(lambda number, _: self._came.append(number))

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        if self._came and raised[0] is None:
            signal.raise_signal(self._came[0])
