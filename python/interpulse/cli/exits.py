"""Exit codes, the error that only the command line raises, and polite requests to end."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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


@contextmanager
def _handled(handler: Callable[[int, object], None]) -> Iterator[None]:
    """Has polite requests handled; one that is ignored, as `nohup` has it, stays so."""
    before = {number: known for number in POLITE if (known := signal.getsignal(number)) is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, known in before.items():
            signal.signal(number, known)


@contextmanager
def polite_as_ctrl_c() -> Iterator[list[int]]:
    """Lets polite requests to end keep what is done as Ctrl-C does; yields where the one that came is listed.

    The first one counts: shells and terminals send several, and the second must not cut short what saves the result.
    """
    came: list[int] = []

    def stop(number: int, _: object) -> None:
        if not came:
            came.append(number)
            raise KeyboardInterrupt

    with _handled(stop):
        yield came


@contextmanager
def undisturbed() -> Iterator[None]:
    """Holds polite requests back until what is being stored is stored; Ctrl-C still ends it."""
    came: list[int] = []
    with _handled(lambda number, _: came.append(number)):
        yield
    if came:
        signal.raise_signal(came[0])
