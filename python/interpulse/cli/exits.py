"""Exit codes, the error that only the command line raises, and a polite request to end."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

INTERNAL = 1
"""A bug of interpulse."""
USER_ERROR = 2
"""A mistake in the arguments, the configuration, a trace or a file."""
INTERRUPTED = 130
"""Ctrl-C: 128 + SIGINT, as shells count."""


class UserError(Exception):
    """Something that the user can mend; the message is the whole explanation."""


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[None]:
    """Lets a polite request to end, as `timeout` and batch systems send it, keep what is done as Ctrl-C does."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
