"""Output folder of `--out`: checked before the run; each file is written atomically."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from interpulse.cli import stale_files
from interpulse.cli.exit_codes import UserError
from interpulse.files.atomic_file import whole_file

if TYPE_CHECKING:
    from interpulse._core import Plan
    from interpulse.runs.result import Result

_PROBE_BYTES = 64 * 1024
"""Size of the test write: about the output of a run."""


@dataclass(frozen=True)
class OutFolder:
    """A folder that was writable when the run started."""

    path: Path

    @classmethod
    def open(cls, path: Path, option: str = "--out") -> OutFolder:
        """Creates the folder if needed and writes a test file, so that a long run does not fail at its end.

        Raises:
            UserError: the folder cannot be created or written to, or its disk is full.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            stale_files.clear(path)
            with tempfile.TemporaryFile(dir=path) as probe:
                probe.write(b"\0" * _PROBE_BYTES)
                probe.flush()
                os.fsync(probe.fileno())
        except FileExistsError:
            raise UserError(f"{option} {path}: this is a file, not a folder") from None
        except OSError as error:
            why = error.strerror or str(error)
            raise UserError(f"{option} {path}: {why[:1].lower()}{why[1:]}") from None
        return cls(path)

    def write(self, files: Iterable[tuple[str, bytes]]) -> list[str]:
        """Writes files; returns their names.

        Raises:
            OSError: a file could not be written; all files before it are complete.
        """
        return [self.store(name, content) for name, content in files]

    def store(self, name: str, content: bytes) -> str:
        """Writes one file atomically; returns its name.

        Raises:
            OSError: the file could not be written.
        """
        with whole_file(self.path / name, *stale_files.affixes()) as file:
            file.write(content)
        return name


def run_files(result: Result, plan: Plan, *, counters: bool = False) -> Iterator[tuple[str, bytes]]:
    """Files of a run: result, table (with all counters if `counters`), resolved configuration, power over time."""
    from interpulse.cli import power, show, table

    yield "result.json", f"{result.to_json(indent=2)}\n".encode()
    yield "table.txt", f"{table.render(result, counters=counters)}\n".encode()
    yield "config.resolved.json", f"{show.resolved_json(plan, indent=2)}\n".encode()
    yield from power.files(result)
