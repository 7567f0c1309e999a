"""Store of finished jobs, so that an interrupted study resumes.

One file for each study and build of the simulator, in the cache folder: a line for each answer, its checksum and then
JSON. A build is the content of the compiled core: a simulator that has changed in anything never reads what another one
computed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from threading import RLock
from typing import Any

import interpulse._core as _core
from interpulse.files.cache_contents import RESULTS
from interpulse.files.paths import open_file


@cache
def build_id() -> str:
    """A hash of the compiled core."""
    path = getattr(_core, "__file__", None)
    content = Path(path).read_bytes() if path else _core.version.encode()
    return hashlib.sha256(content).hexdigest()[:16]


class Store:
    """Answers by the identity of their job. Without a path, in memory only.

    Attributes:
        path: the file, None where there is none or it cannot be used.
        notes: problems found in the file.
        lock: held while something is kept; seeds of a study that run side by side share its store.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.notes: list[str] = []
        self.lock = RLock()
        self._kept: dict[str, dict[str, Any]] = {}
        self._unwritten: deque[bytes] = deque()
        if path is not None:
            self._read(path)

    @classmethod
    def open(cls, folder: Path, study: str) -> Store:
        """The store of a study for this build in `folder`; in memory only, with a note, where there can be none."""
        store = cls(None)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            store = cls(folder / f"{study}-{build_id()}{RESULTS}")
        except OSError as error:
            why = error.strerror or error
            store.notes = [f"{error.filename or folder}: {why}; what has ended is kept in memory alone"]
        return store

    @property
    def whole(self) -> bool:
        """Whether everything that it has is on the disk."""
        return self.path is not None and not self._unwritten

    def get(self, identity: str) -> dict[str, Any] | None:
        """The answer of a job, None where there is none yet."""
        return self._kept.get(identity)

    def put(self, answers: Mapping[str, dict[str, Any]]) -> None:
        """Keeps answers; those that it has already stay as they are.

        Raises:
            OSError: they could not be written; they are kept in memory all the same, and written with the next ones.
        """
        with self.lock:
            new = {identity: answer for identity, answer in answers.items() if identity not in self._kept}
            # Made before anything counts as kept: Ctrl-C in between would leave answers that are never written. A line
            # that is written twice does no harm.
            lines = [_line({"identity": key, "result": value}) for key, value in new.items()]
            if self.path is not None:
                self._unwritten.extend(lines)
            self._kept |= new
            if self.path is not None:
                self._write(self.path)

    def _write(self, path: Path) -> None:
        if not self._unwritten:
            return
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            size = os.fstat(descriptor).st_size
            # After a line that a full disk or a kill cut short, a new one begins.
            begin = b"\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else b""
            while self._unwritten:
                # One write of a whole line at the end of the file: two runs of a study do not tear each other's lines.
                content = memoryview(begin + self._unwritten[0])
                while content:
                    content = content[os.write(descriptor, content) :]
                self._unwritten.popleft()
                begin = b""
        finally:
            os.close(descriptor)

    def _read(self, path: Path) -> None:
        """Takes in what is in the file. Invalid lines are noted and blanked: their jobs run again."""
        try:
            with open_file(path) as file:
                content = file.read()
        except FileNotFoundError:
            return
        damaged = []
        for at, line in _lines(content):
            entry = _entry(line)
            if entry is None:
                damaged.append((at, len(line)))
            else:
                self._kept[entry[0]] = entry[1]
        if damaged:
            self.notes.append(f"{path}: {len(damaged)} of the answers kept here are damaged and computed again")
            try:
                _blank(path, damaged)
            except OSError:
                # Then the next run notes them again.
                return


def _line(entry: dict[str, Any]) -> bytes:
    body = json.dumps(entry).encode()
    return _sum(body) + b" " + body + b"\n"


def _sum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest()[:16].encode()


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, each with where it begins."""
    at = 0
    for line in content.split(b"\n"):
        if line.strip():
            yield at, line
        at += len(line) + 1


def _entry(line: bytes) -> tuple[str, dict[str, Any]] | None:
    """The identity and the answer of a line; None where it is not as it was written."""
    known, _, body = line.partition(b" ")
    if known != _sum(body):
        return None
    entry = json.loads(body)
    return entry["identity"], entry["result"]


def _blank(path: Path, places: list[tuple[int, int]]) -> None:
    """Overwrites places of the file with spaces, so that nothing moves while another run appends to it."""
    with path.open("r+b") as file:
        for at, length in places:
            file.seek(at)
            file.write(b" " * length)
