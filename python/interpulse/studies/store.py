"""Answers of finished jobs on disk, so that an interrupted study goes on where it was.

One file of JSON lines for each study and build of the simulator, in the cache folder. A build is the content of
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
from interpulse.cache import RESULTS

if TYPE_CHECKING:
    from collections.abc import Mapping


@cache
def build_id() -> str:
    """A hash of the compiled core."""
    path = getattr(_core, "__file__", None)
    content = Path(path).read_bytes() if path else _core.version.encode()
    return hashlib.sha256(content).hexdigest()[:16]


class Store:
    """Answers by the identity of their job. Without a path, in memory only."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._kept = {} if path is None else _read(path)

    @classmethod
    def open(cls, folder: Path, study: str) -> Store:
        """The store of a study for this build in `folder`.

        Raises:
            OSError: the folder cannot be made.
        """
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder / f"{study}-{build_id()}{RESULTS}")

    def get(self, identity: str) -> dict[str, Any] | None:
        """The answer of a job, None where there is none yet."""
        return self._kept.get(identity)

    def put(self, answers: Mapping[str, dict[str, Any]]) -> None:
        """Keeps answers; those that it has already stay as they are.

        Raises:
            OSError: they could not be written; they are kept in memory all the same.
        """
        new = {identity: answer for identity, answer in answers.items() if identity not in self._kept}
        try:
            self._write(new)
        except OSError:
            self._kept.update(new)
            raise
        # Last, so that answers whose writing Ctrl-C cut short do not count as kept.
        self._kept.update(new)

    def _write(self, answers: Mapping[str, dict[str, Any]]) -> None:
        if self.path is None or not answers:
            return
        lines = "".join(f"{json.dumps({'identity': key, 'result': value})}\n" for key, value in answers.items())
        # One write of whole lines at the end of the file: two runs of a study do not tear each other's lines.
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
