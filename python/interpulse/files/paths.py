"""Paths that a user names: checks, and reading of regular files."""

from __future__ import annotations

import errno
import os
import stat

from interpulse._core import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from io import BufferedReader
    from os import PathLike
    from pathlib import Path

_MOST_BYTES = 16 * 2**20
"""Limit of hand-written files, so that a wrong name does not fill the memory."""

_KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


def shown(path: str | PathLike[str]) -> str:
    """A path for messages: one line, without control characters."""
    text = os.fsdecode(path)
    return text if text.isprintable() else ascii(text)


def as_path_has_it(text: str) -> str:
    """The text of a path as pathlib writes it, without reading pathlib where that is the text itself."""
    if text and "//" not in f"{text}/" and "/./" not in f"/{text}/":
        return text
    from pathlib import Path

    return str(Path(text))


def named(path: str | PathLike[str], what: str) -> Path:
    """The path that a text names.

    Raises:
        ConfigError: the text is empty, which would mean the working folder; `what` is how the message begins.
    """
    from pathlib import Path

    _check_named(path, what)
    return Path(os.fsdecode(path))


def _check_named(path: str | PathLike[str], what: str) -> None:
    if not os.fsdecode(path).strip():
        raise ConfigError(f"{what}: seen an empty name; expected a path (. is the working folder)")


def open_file(path: str | PathLike[str]) -> BufferedReader:
    """A regular file, opened for reading; never blocks on a pipe or a device.

    Raises:
        OSError: it cannot be opened, or is not a regular file.
    """
    mode = os.stat(path).st_mode  # noqa: PTH116 - a run starts without pathlib
    if not stat.S_ISREG(mode):
        kind = next((kind for is_one, kind in _KINDS if is_one(mode)), "a device")
        raise OSError(errno.EINVAL, f"it is {kind}; expected a regular file", os.fsdecode(path))
    # Some kernel files report a size of 0 and block, or never end.
    return open(path, "rb", opener=_without_waiting)


def digest(path: str | PathLike[str]) -> str | None:
    """A hash of a regular file's content; None where it cannot be read."""
    import hashlib

    try:
        with open_file(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def read_text(path: str | PathLike[str], what: str, most: int = _MOST_BYTES) -> str:
    """The text of a regular file of at most so many bytes in UTF-8; `what` is what messages call it.

    Raises:
        ConfigError: it cannot be read, is not a regular file, is too large, or is not text.
    """
    _check_named(path, what)
    try:
        with open_file(path) as file:
            content = file.read(most + 1) or b""
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"cannot read {what} {shown(path)}: {why}") from None
    if len(content) > most:
        raise ConfigError(f"cannot read {what} {shown(path)}: it is larger than {most // 2**20} MiB")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{what} {shown(path)} is not UTF-8 text (byte {error.start})") from None


def _without_waiting(name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NONBLOCK)
