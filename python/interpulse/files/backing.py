"""Backing files of served drives: locked while they are used, and copied with their holes."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interpulse._core import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PIECE = 1 << 24
"""Bytes copied at a time."""


@contextmanager
def free_backing(state: Path, suffix: str) -> Iterator[None]:
    """Holds the lock of the backing file that `state` belongs to, if there is one.

    Raises:
        ConfigError: a server uses it, which would write the state again.
    """
    backing = state.with_suffix("")
    if state.suffix != suffix or not backing.is_file():
        yield
        return
    with backing.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(f"{state}: a server uses the drive of {backing}; stop it first") from None
        yield


def copy_sparse(source: Path, to: Path) -> None:
    """Copies the data of a file and leaves its holes out; `to` is a new file, complete or not there."""
    with source.open("rb") as data:
        length = os.fstat(data.fileno()).st_size
        with to.open("xb") as copy:
            try:
                copy.truncate(length)
                for begin, end in _extents(data.fileno(), length):
                    _copy(data.fileno(), copy.fileno(), begin, end)
                os.fsync(copy.fileno())
            except BaseException:
                to.unlink(missing_ok=True)
                raise


def _extents(file: int, length: int) -> Iterator[tuple[int, int]]:
    at = 0
    while at < length:
        try:
            begin = os.lseek(file, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # No data up to the end.
                return
            raise
        at = os.lseek(file, begin, os.SEEK_HOLE)
        yield begin, at


def _copy(source: int, to: int, begin: int, end: int) -> None:
    while begin < end:
        data = os.pread(source, min(PIECE, end - begin), begin)
        if not data:
            raise OSError(errno.EIO, "the backing file became shorter while it was copied")
        begin += os.pwrite(to, data, begin)
