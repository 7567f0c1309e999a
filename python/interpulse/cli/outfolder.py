"""The folder of `--out`: checked before the run, written after it, each file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from interpulse.cli import leftovers
from interpulse.cli.exits import UserError

_PROBE_BYTES = 64 * 1024
"""What the check at the start writes: about the size of what a run leaves."""


@dataclass(frozen=True)
class OutFolder:
    """A folder that could be written to when the run started."""

    path: Path

    @classmethod
    def open(cls, path: Path) -> OutFolder:
        """Creates the folder where needed and tries to write in it, so that a long run does not fail at its end.

        Raises:
            UserError: the folder cannot be created or written to, or its disk is full.
        """
        folder = cls(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            leftovers.clear(path)
            probe = folder._temporary(b"\0" * _PROBE_BYTES)
            probe.unlink()
        except FileExistsError:
            raise UserError(f"--out {path}: this is a file, not a folder") from None
        except OSError as error:
            raise UserError(f"--out {path}: {_lower(error.strerror or str(error))}") from None
        return folder

    def write(self, files: Iterable[tuple[str, bytes]]) -> list[str]:
        """Writes files; returns their names.

        Raises:
            OSError: a file could not be written; the ones before it are there, whole.
        """
        return [self.store(name, content) for name, content in files]

    def store(self, name: str, content: bytes) -> str:
        """Writes one file, whole or not at all; returns its name.

        Raises:
            OSError: it could not be written.
        """
        self._temporary(content).replace(self.path / name)
        return name

    def _temporary(self, content: bytes) -> Path:
        """A new file in the folder with this content, on the disk; removed again when it could not be written."""
        prefix, suffix = leftovers.affixes()
        descriptor, name = tempfile.mkstemp(dir=self.path, prefix=prefix, suffix=suffix)
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                # Some file systems notice that the disk is full only here.
                os.fsync(file.fileno())
                os.fchmod(file.fileno(), 0o666 & ~_umask())
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        return temporary


def _umask() -> int:
    """The process's mask for new files, which a temporary file does not follow by itself."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
