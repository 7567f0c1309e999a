"""Results of finished cases on disk, so that an interrupted experiment goes on where it was.

One file of JSON lines for each experiment and build of the simulator, in the cache folder. A build is the content of
the compiled core: a simulator that has changed in anything never reads what another one computed.
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interpulse import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

SUFFIX = ".results"


@cache
def build_id() -> str:
    """A hash of the compiled core."""
    path = getattr(_core, "__file__", None)
    content = Path(path).read_bytes() if path else _core.version.encode()
    return hashlib.sha256(content).hexdigest()[:16]


class Store:
    """Results by identity of their job. Without a folder, in memory only."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._kept = {} if path is None else _read(path)

    @classmethod
    def open(cls, folder: Path, experiment: str) -> Store:
        """The store of an experiment for this build in `folder`.

        Raises:
            OSError: the folder cannot be made.
        """
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{experiment}-{build_id()}{SUFFIX}"
        return cls(path)

    def get(self, identity: str) -> dict[str, Any] | None:
        """The result of a job, None where there is none yet."""
        return self._kept.get(identity)

    def put(self, results: Mapping[str, dict[str, Any]]) -> None:
        """Keeps results.

        Raises:
            OSError: they could not be written; they are kept in memory all the same.
        """
        try:
            self._write(results)
        except OSError:
            self._kept.update(results)
            raise
        # Last, so that results whose writing Ctrl-C cut short do not count as kept.
        self._kept.update(results)

    def _write(self, results: Mapping[str, dict[str, Any]]) -> None:
        if self.path is None or not results:
            return
        lines = "".join(f"{json.dumps({'identity': key, 'result': value})}\n" for key, value in results.items())
        # One write of whole lines at the end of the file: two runs of an experiment do not tear each other's lines.
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            content = memoryview(lines.encode())
            while content:
                content = content[os.write(descriptor, content) :]
        finally:
            os.close(descriptor)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    kept: dict[str, dict[str, Any]] = {}
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return kept
    for line in text.splitlines():
        # The last line may be torn where the process was killed; that case is simply run again.
        try:
            entry = json.loads(line)
            kept[entry["identity"]] = entry["result"]
        except (ValueError, KeyError, TypeError):
            continue
    return kept
