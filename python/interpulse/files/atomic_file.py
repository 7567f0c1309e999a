"""Atomic files: complete under their name or absent."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO


def temporary(folder: Path, prefix: str = ".interpulse-", suffix: str = ".tmp") -> tuple[BinaryIO, Path]:
    """A new file with a unique name in a folder, with the permissions of ordinary files there."""
    import tempfile
    from pathlib import Path

    descriptor, name = tempfile.mkstemp(dir=folder, prefix=prefix, suffix=suffix)
    mask = os.umask(0)
    os.umask(mask)
    os.fchmod(descriptor, 0o666 & ~mask)
    return os.fdopen(descriptor, "wb"), Path(name)


@contextmanager
def whole_file(place: Path, *affixes: str) -> Iterator[BinaryIO]:
    """A file that is written under a temporary name (`affixes` as in `temporary`) and renamed when it is complete.

    Raises:
        OSError: it could not be written; some file systems report a full disk only at the end.
    """
    file, name = temporary(place.parent, *affixes)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        name.replace(place)
    except BaseException:
        name.unlink(missing_ok=True)
        raise
