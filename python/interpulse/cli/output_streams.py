"""Output streams: results on standard output, messages on standard error; write errors never lose a result."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys

from interpulse.cli.exit_codes import USER_ERROR, UserError
from interpulse.tables.layout import ELSEWHERE, NARROWEST, cells, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from _typeshed import ReadableBuffer

PLAIN = "interpulse-plain"
"""Error handler for characters that the encoding of a stream lacks."""

_ASCII = {"─": "-", "━": "-", "│": "|", "…": "..."}
"""ASCII replacements of table characters; other characters are escaped as in JSON, so that JSON stays valid."""


_CONTROL = {
    number: f"\\u{number:04x}"
    for numbers in (range(9), range(11, 32), range(127, 160), (0x200E, 0x200F, 0x2028, 0x2029), range(0x202A, 0x202F),
                    range(0x2066, 0x206A))
    for number in numbers
}  # fmt: skip
"""Escapes of characters that move the cursor, colour or reorder a terminal's text; also legal in JSON texts."""


class _DeferredErrors(io.FileIO):
    """Stream that records its first write error instead of raising it, and drops all later output."""

    failure: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int:
        if self.failure is None:
            try:
                return super().write(data) or 0
            except OSError as error:
                self.failure = error
        return memoryview(data).nbytes


def prepare() -> None:
    """Replaces the standard streams of this process by streams that exist, never raise, and accept any text."""
    for number, nothing in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            # The next opened file would take this number. This descriptor fails like a closed stream.
            os.set_inheritable(os.open(os.devnull, nothing), True)
    codecs.register_error(PLAIN, _plain)
    sys.stdout, sys.stderr = _kept(1, sys.stdout), _kept(2, sys.stderr)


def printable(text: str) -> str:
    """A text without control characters but tabs and line ends: names in files may contain commands of terminals."""
    return text.translate(_CONTROL)


def emit(text: str) -> None:
    """Prints to standard output without control characters. A closed pipe (`| head`) is no error.

    Raises:
        UserError: standard output is closed, or a file on a full disk.
    """
    print(printable(text), flush=True)  # noqa: T201
    problem = _problem()
    if problem is not None:
        raise UserError(problem)


def say(line: str) -> None:
    """Prints a line on standard error without control characters, wrapped on a terminal."""
    line = printable(line)
    if sys.stderr.isatty():
        width = _columns(sys.stderr)
        line = "\n".join(part if cells(part) <= width else fill(part, width) for part in line.split("\n"))
    print(line, file=sys.stderr, flush=True)  # noqa: T201


def note(line: str) -> None:
    """Prints a note; a name with a line end in it cannot make a line that looks like another message."""
    say("note: " + line.replace("\n", "\n  "))


def fail(message: str, code: int) -> int:
    """Prints an error without control characters on standard error; returns `code`."""
    shown = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in message)
    say(f"error: {shown}")
    return code


def _columns(terminal: TextIO) -> int:
    try:
        return max(os.get_terminal_size(terminal.fileno()).columns, NARROWEST)
    except (OSError, ValueError):
        return ELSEWHERE


def finish(code: int) -> int:
    """Flushes standard output; returns the exit code, `USER_ERROR` instead of 0 after a write error."""
    sys.stdout.flush()
    problem = _problem()
    if problem is None or code:
        return code
    say(f"error: {problem}")
    return USER_ERROR


def _kept(number: int, stream: TextIO | None) -> TextIO:
    raw = _DeferredErrors(number, "w", closefd=False)
    utf8 = stream is None or codecs.lookup(stream.encoding).name == "utf-8"
    # JSON readers can rely on UTF-8 or ASCII only.
    buffered = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffered, "utf-8" if utf8 else "ascii", PLAIN, line_buffering=number == 2 or raw.isatty())


def _problem() -> str | None:
    """Write error of standard output, if any."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if not isinstance(raw, _DeferredErrors) or raw.failure is None or raw.failure.errno == errno.EPIPE:
        return None
    closed = raw.failure.errno == errno.EBADF
    return f"cannot write to standard output: {'it is closed' if closed else raw.failure.strerror or raw.failure}"


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    import json

    text = error.object[error.start : error.end]
    return "".join(_ASCII.get(each) or json.dumps(each)[1:-1] for each in text), error.end
