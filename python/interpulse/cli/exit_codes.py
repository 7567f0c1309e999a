"""Exit codes, user errors, and the handling of SIGTERM and SIGHUP."""

from __future__ import annotations

# `signal` without its enumerations, whose creation takes longer than a small run.
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

STOP_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""Sent by `timeout` and batch systems, and by a terminal that closes."""


class UserError(Exception):
    """A problem that the user can correct; the message is the complete explanation."""


class _Handled:
    """Handler of stop signals; ignored signals (`nohup`) remain ignored."""

    def __init__(self, handler: Callable[[int, object], None]) -> None:
        self._handler = handler

    def __enter__(self) -> None:
        known = {number: signal.getsignal(number) for number in STOP_SIGNALS}
        self._before = {number: handler for number, handler in known.items() if handler != signal.SIG_IGN}
        for number in self._before:
            signal.signal(number, self._handler)

    def __exit__(self, *_: object) -> None:
        for number, known in self._before.items():
            signal.signal(number, known)


class SignalAsCtrlC(_Handled):
    """Raises `KeyboardInterrupt` at the first stop signal; the context value lists that signal.

    Shells and terminals send several: a second signal must not interrupt the storing of the result.
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


class DeferSignals(_Handled):
    """Defers stop signals to the end of the context, so that files are complete; Ctrl-C is not deferred."""

    def __init__(self) -> None:
        self._came: list[int] = []
        super().__init__(lambda number, _: self._came.append(number))

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        if self._came and raised[0] is None:
            signal.raise_signal(self._came[0])
