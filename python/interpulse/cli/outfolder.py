"""The folder of `--out`: checked before the run, written after it, each file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from interpulse.cli import leftovers
from interpulse.cli.exits import UserError
from interpulse.files.atomic_file import whole_file

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
        try:
            path.mkdir(parents=True, exist_ok=True)
            leftovers.clear(path)
            with tempfile.TemporaryFile(dir=path) as probe:
                probe.write(b"\0" * _PROBE_BYTES)
                probe.flush()
                os.fsync(probe.fileno())
        except FileExistsError:
            raise UserError(f"--out {path}: this is a file, not a folder") from None
        except OSError as error:
            why = error.strerror or str(error)
            raise UserError(f"--out {path}: {why[:1].lower()}{why[1:]}") from None
        return cls(path)

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
        with whole_file(self.path / name, *leftovers.affixes()) as file:
            file.write(content)
        return name
