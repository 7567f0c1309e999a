"""Result store of sweeps: a persistent folder of answers, addressed by content.

`objects/ab/KEY` holds a checksum and one compressed answer, written atomically. KEY is a hash of the resolved
configuration (with the seed), the content of its files, and the build of the simulator. `index/` holds lines
`ALIAS KEY`, one file per writer: an alias is a hash of the same inputs before the configuration is resolved, so that a
restart resolves nothing. The checksum detects files torn by a power loss, which are computed again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import socket
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any

from interpulse._core import RunError
from interpulse.sweeps.axes import Sets

NAME = "store.json"
FORMAT = 1

_LINE = re.compile(rb"^([0-9a-f]{32}) ([0-9a-f]{32})$", re.MULTILINE)
_SUM = 16


def alias_of(build: str, plain: str, path: str, sets: Sets, files: dict[str, str]) -> str:
    """Identity of a simulation before it is resolved: equal aliases mean equal simulations."""
    return _hash([build, plain, path, [list(each) for each in sets], sorted(files.items())])


def key_of(build: str, config_hash: str, files: dict[str, str]) -> str:
    """Identity of a resolved simulation: equal keys mean equal answers."""
    return _hash([build, config_hash, sorted(files.values())])


def _hash(of: Any) -> str:  # noqa: ANN401 - anything that JSON takes
    return hashlib.sha256(json.dumps(of).encode()).hexdigest()[:32]


class StoreError(OSError):
    """The store cannot be used; the message says why."""


class Store:
    """A store in a folder; thread-safe."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._aliases: dict[str, str] = {}
        self._read: dict[str, int] = {}
        self._log: int | None = None
        self._lock = RLock()

    @classmethod
    def open(cls, folder: Path) -> Store:
        """Opens the store in a folder, or creates it.

        Raises:
            StoreError: the folder cannot be created or written, or holds a store of another format.
        """
        try:
            for name in ("objects", "index", "locks"):
                (folder / name).mkdir(parents=True, exist_ok=True)
            if not (folder / NAME).exists():
                _write(folder / NAME, json.dumps({"format": FORMAT, "id": os.urandom(16).hex()}).encode())
            described = json.loads((folder / NAME).read_bytes())
        except OSError as error:
            raise StoreError(f"{error.filename or folder}: {error.strerror or error}") from None
        except (ValueError, RecursionError):
            described = None
        if not _is_description(described):
            raise StoreError(f"{folder / NAME}: seen {described!r}; expected a store of format {FORMAT}")
        store = cls(folder)
        store.refresh()
        return store

    @classmethod
    def needed(cls, folder: Path, why: str) -> Store:
        """As `open`, but raises RunError, whose message ends with `why` the store is needed."""
        try:
            return cls.open(folder)
        except StoreError as error:
            raise RunError(f"{error}; {why}") from None

    @property
    def identity(self) -> str:
        """Unique name of the store: a machine with another identity at this path does not share the folder."""
        return identity_at(self.folder) or ""

    @property
    def empty(self) -> bool:
        """Whether the index is empty."""
        return not self._aliases

    def refresh(self) -> None:
        """Reads index lines that other processes have added."""
        with self._lock:
            for path in (self.folder / "index").iterdir():
                at = self._read.get(path.name, 0)
                with path.open("rb") as file:
                    file.seek(at)
                    new = file.read()
                # An incomplete line is read the next time.
                whole = new[: new.rfind(b"\n") + 1]
                self._read[path.name] = at + len(whole)
                self._aliases.update((line[1].decode(), line[2].decode()) for line in _LINE.finditer(whole))

    def key(self, alias: str) -> str | None:
        """The key of an answered simulation, or None."""
        return self._aliases.get(alias)

    def has(self, key: str) -> bool:
        """Whether the answer exists."""
        return self._object(key).exists()

    def get(self, key: str) -> dict[str, Any] | None:
        """An answer; None if missing or damaged."""
        try:
            return decode(self._object(key).read_bytes())
        except OSError:
            return None

    def answer(self, alias: str) -> dict[str, Any] | None:
        """The answer of a simulation, or None; a damaged answer is deleted."""
        key = self.key(alias)
        found = None if key is None else self.get(key)
        if key is not None and found is None:
            self.forget(alias)
        return found

    def put(self, alias: str, key: str, content: bytes) -> None:
        """Stores an answer from `encode`.

        Raises:
            OSError: writing failed.
        """
        place = self._object(key)
        # A damaged answer whose index line is lost as well is replaced.
        if self.get(key) is None:
            place.parent.mkdir(exist_ok=True)
            _write(place, content)
            # Writes the index line again, as the process that deleted the answer has dropped the alias.
            self._aliases.pop(alias, None)
        self.note(alias, key)

    def forget(self, alias: str) -> None:
        """Deletes an answer that is damaged or has to be computed again."""
        key = self._aliases.pop(alias, None)
        if key is not None:
            self._object(key).unlink(missing_ok=True)

    def note(self, alias: str, key: str) -> None:
        """Adds an index line. Raises OSError as `put`."""
        with self._lock:
            if self._aliases.get(alias) == key:
                return
            if self._log is None:
                name = f"{socket.gethostname()}-{os.getpid()}-{os.urandom(4).hex()}"
                self._log = os.open(self.folder / "index" / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            line = f"{alias} {key}\n".encode()
            if os.write(self._log, line) != len(line):
                # Ends the line that a full disk truncated.
                os.write(self._log, b"\n")
                raise OSError(28, os.strerror(28), str(self.folder))
            self._aliases[alias] = key

    @contextmanager
    def locked(self, names: Sequence[str]) -> Iterator[None]:
        """Locks names against other processes; the locks of a killed process are released."""
        held: list[tuple[int, Path]] = []
        try:
            for name in sorted(names):
                held.append(lock(self.folder / "locks" / name))
            yield
        finally:
            for descriptor, path in held:
                # Unlinked first, so that a waiting process sees that it locked a deleted file.
                path.unlink(missing_ok=True)
                os.close(descriptor)

    def _object(self, key: str) -> Path:
        return self.folder / "objects" / key[:2] / key


def identity_at(folder: Path) -> str | None:
    """The identity of the store in a folder, or None."""
    with suppress(OSError, ValueError, RecursionError):
        described = json.loads((folder / NAME).read_bytes())
        return str(described["id"]) if _is_description(described) else None
    return None


def _is_description(described: object) -> bool:
    """Whether this describes a store. An identity is a file name on workers, so that nothing else is legal."""
    if not isinstance(described, dict) or described.get("format") != FORMAT:
        return False
    identity = described.get("id")
    return isinstance(identity, str) and re.fullmatch(r"[0-9a-f]{32}", identity) is not None


def lock(path: Path) -> tuple[int, Path]:
    """Takes a lock file, waiting for other processes.

    Raises:
        OSError: the file cannot be created, or the file system has no locks.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.stat(path).st_ino == os.fstat(descriptor).st_ino:  # noqa: PTH116
                    return descriptor, path
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def encode(answer: dict[str, Any]) -> bytes:
    """The file content of an answer."""
    body = zlib.compress(json.dumps(answer, separators=(",", ":")).encode(), 3)
    return hashlib.sha256(body).hexdigest()[:_SUM].encode() + body


def decode(content: bytes) -> dict[str, Any] | None:
    """The answer in a file; None if its checksum is wrong."""
    known, body = content[:_SUM], content[_SUM:]
    if known != hashlib.sha256(body).hexdigest()[:_SUM].encode():
        return None
    answer: dict[str, Any] = json.loads(zlib.decompress(body))
    return answer


def _write(place: Path, content: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(name).replace(place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
