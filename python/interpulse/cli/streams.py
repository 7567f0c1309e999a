"""What is printed: results on standard output, everything else on standard error, and no stream that costs a result."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys

from interpulse.cli.exits import USER_ERROR, UserError
from interpulse.tables.layout import ELSEWHERE, NARROWEST, cells, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from _typeshed import ReadableBuffer

PLAIN = "interpulse-plain"
"""How text is encoded for a stream that does not take all of it."""

_ASCII = {"─": "-", "━": "-", "│": "|", "…": "..."}
"""What stands for the characters of tables; others are escaped as in JSON, which stays what it was."""


class _Kept(io.FileIO):
    """A stream that keeps its failure for later instead of raising it in the middle of something else.

    What is written after it is dropped: a full disk, a closed stream or a terminal that has gone would fail again.
    """

    failure: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int:
        if self.failure is None:
            try:
                return super().write(data) or 0
            except OSError as error:
                self.failure = error
        return memoryview(data).nbytes


def prepare() -> None:
    """Makes the standard streams of this process such that they are there, never raise, and take any text."""
    for number, nothing in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            # Otherwise the next file that is opened takes the place of the stream. This one fails as a closed one does.
            os.set_inheritable(os.open(os.devnull, nothing), True)
    codecs.register_error(PLAIN, _plain)
    sys.stdout, sys.stderr = _kept(1, sys.stdout), _kept(2, sys.stderr)


def emit(text: str) -> None:
    """Prints to standard output. A reader that has gone away (`| head`) is no error: it has seen what it wanted.

    Raises:
        UserError: the text could not be written, as when standard output is closed or a file on a full disk.
    """
    print(text, flush=True)  # noqa: T201
    problem = _problem()
    if problem is not None:
        raise UserError(problem)


def say(line: str) -> None:
    """Prints a line on standard error; on a terminal in as many as it takes."""
    if sys.stderr.isatty():
        width = _columns(sys.stderr)
        line = "\n".join(part if cells(part) <= width else fill(part, width) for part in line.split("\n"))
    print(line, file=sys.stderr, flush=True)  # noqa: T201


def fail(message: str, code: int) -> int:
    """Says what went wrong on standard error: one line, unless the message itself has more, that moves no cursor."""
    shown = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in message)
    say(f"error: {shown}")
    return code


def _columns(terminal: TextIO) -> int:
    try:
        return max(os.get_terminal_size(terminal.fileno()).columns, NARROWEST)
    except (OSError, ValueError):
        return ELSEWHERE


def finish(code: int) -> int:
    """Writes what is left; returns the exit code, that of an error where standard output did not take everything."""
    sys.stdout.flush()
    problem = _problem()
    if problem is None or code:
        return code
    say(f"error: {problem}")
    return USER_ERROR


def _kept(number: int, stream: TextIO | None) -> TextIO:
    raw = _Kept(number, "w", closefd=False)
    utf8 = stream is None or codecs.lookup(stream.encoding).name == "utf-8"
    # Half a character set helps nobody: where it is not UTF-8, whoever reads JSON can only rely on ASCII.
    buffered = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffered, "utf-8" if utf8 else "ascii", PLAIN, line_buffering=number == 2 or raw.isatty())


def _problem() -> str | None:
    """Why standard output did not take what was written to it."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if not isinstance(raw, _Kept) or raw.failure is None or raw.failure.errno == errno.EPIPE:
        return None
    closed = raw.failure.errno == errno.EBADF
    return f"cannot write to standard output: {'it is closed' if closed else raw.failure.strerror or raw.failure}"


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    import json

    text = error.object[error.start : error.end]
    return "".join(_ASCII.get(each) or json.dumps(each)[1:-1] for each in text), error.end
