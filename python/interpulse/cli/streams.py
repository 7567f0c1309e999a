"""What is printed: results on standard output, everything else on standard error."""

from __future__ import annotations

import os
import sys

from interpulse.cli.exits import UserError


def emit(text: str) -> None:
    """Prints to standard output. A reader that has gone away (`| head`) is no error: it has seen what it wanted.

    Raises:
        UserError: the text could not be written, as when standard output is a file on a full disk.
    """
    try:
        print(text, flush=True)  # noqa: T201
    except BrokenPipeError:
        discard_stdout()
    except OSError as error:
        discard_stdout()
        raise UserError(f"cannot write to standard output: {error.strerror or error}") from None


def discard_stdout() -> None:
    """Points standard output nowhere, or the interpreter would try the same write again, and complain, at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(line: str) -> None:
    """Prints a line on standard error."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201
