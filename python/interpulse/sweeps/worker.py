"""Worker side of the sweep engine: runs a batch and stores each answer at once."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import interpulse._core as _core
from interpulse._core import ConfigError, InternalError, RunError
from interpulse.configuration.config import Config
from interpulse.files.cache import Cache
from interpulse.files.cache_contents import MAKING, SPOOL
from interpulse.files.paths import digest
from interpulse.studies.store import build_id
from interpulse.sweeps.batch import Answer, Batch, Piece, Report
from interpulse.sweeps.check import Base
from interpulse.sweeps.store import Store, encode, identity_at, key_of, lock

MOST = 32
"""Simulations per plan. Reading a plan is superlinear: 4 ms for each of 32 cases, 6 ms for each of 100."""

POLL_S = 0.05
"""Interval of polling for finished simulations."""

PREPARED = ("run", "done")
"""Phases in which the preconditioned state exists."""


def run_batch(batch: Batch) -> Report:
    """Runs a batch on a worker. Failures are answers too; a report without answers says why the worker is unfit."""
    if batch.build != build_id():
        return Report(unfit=f"it has another interpulse ({_core.version}, build {build_id()})")
    for piece in batch.pieces:
        for path, content in piece.files:
            if (seen := _content(path)) != content:
                what = "is not there" if seen is None else "is another file there"
                return Report(unfit=f"{path} {what}: files have to be the same under the same path on every machine")
    try:
        return _Worker(batch).run()
    except OSError as error:
        return Report(unfit=f"{error.filename or batch.store}: {error.strerror or error}")


class _Worker:
    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        folder = Path(batch.store)
        self.shared = identity_at(folder) == batch.store_identity
        cache = Cache.default()
        self.store = Store.open(folder if self.shared else cache.folder / SPOOL / batch.store_identity)
        self.cache = cache
        self.answers: dict[str, Answer] = {}
        self.notes: list[str] = []
        self.wall_s = 0.0

    def run(self) -> Report:
        """Runs the missing simulations."""
        pieces = {piece.alias: piece for piece in self.batch.pieces}
        # A task of a killed driver, or on a worker presumed dead, may run the same simulations.
        with self.store.locked(list(pieces)):
            self.store.refresh()
            missing = [piece for piece in pieces.values() if not self._found(piece)]
            if missing:
                with _memory(max(piece.memory for piece in missing)):
                    for start in range(0, len(missing), MOST):
                        self._simulate(missing[start : start + MOST])
        answers = tuple(self.answers[piece.alias] for piece in self.batch.pieces if piece.alias in self.answers)
        return Report(answers, self.wall_s, tuple(self.notes))

    def _found(self, piece: Piece) -> bool:
        # An alias that the driver lacked: another task has simulated it, but its report was lost with its worker.
        key, since = self.store.key(piece.alias), True
        if key is None and self.batch.look:
            since = False
            with suppress(ConfigError):
                key = self._key(piece)
        if key is None or (answer := self.store.get(key)) is None:
            return False
        self.store.note(piece.alias, key)
        self.answers[piece.alias] = Answer(piece.name, key, ran=since, content=None if self.shared else encode(answer))
        return True

    def _key(self, piece: Piece) -> str:
        base = self.batch.base
        resolved = f"cells {piece.alias}" if base is None else base.config(piece.sets).resolve().config_hash
        return key_of(self.batch.build, resolved, dict(piece.files))

    def _simulate(self, pieces: list[Piece]) -> None:
        """Runs all in one plan, which shares the preconditioned state; after a failure, one by one."""
        base = self.batch.base
        if base is None:
            self._ask_cells(pieces)
            return
        try:
            plan = Config(base.plain + "".join(map(_section, pieces)), path=base.path).resolve()
        except ConfigError as error:
            usable = [piece for piece in pieces if not self._refused(base, piece)]
            if usable and len(usable) < len(pieces):
                self._simulate(usable)
            elif usable:  # Each is legal alone; only the combined plan is not.
                for piece in usable:
                    self._alone(piece, str(error))
            return
        begin = time.monotonic()
        why = self._run(plan, pieces)
        self.wall_s += time.monotonic() - begin
        left = [piece for piece in pieces if piece.alias not in self.answers]
        if len(pieces) == 1 and left:
            self._failed(left[0], *(why or ("run", "it ended without a result and without an error")))
        elif left:
            for piece in left:
                self._simulate([piece])

    def _alone(self, piece: Piece, why: str) -> None:
        if len(self.batch.pieces) > 1:
            self._simulate([piece])
        if piece.alias not in self.answers:
            self._failed(piece, "configuration", why)

    def _ask_cells(self, pieces: list[Piece]) -> None:
        begin = time.monotonic()
        for piece in pieces:
            ((kind, request),) = piece.sets
            try:
                self._keep(piece, f"cells {piece.alias}", {"raw": json.loads(_core.cell_job(kind, request))})
            except (ConfigError, RunError, InternalError) as error:
                self._failed(piece, _kind(error), str(error))
        self.wall_s += time.monotonic() - begin

    def _refused(self, base: Base, piece: Piece) -> bool:
        """Whether a configuration is illegal; its answer is then the error, with the user's line numbers."""
        try:
            base.config(piece.sets).resolve()
        except ConfigError as error:
            self._failed(piece, "configuration", str(error))
            return True
        return False

    def _run(self, plan: _core.Plan, pieces: list[Piece]) -> tuple[str, str] | None:
        """Runs a plan; returns the kind and message of an error, if any."""
        with _state(self.cache.folder, {piece.state for piece in pieces}) as prepared:
            handle = _core.start(plan, 1, self.cache.folder, self.cache.limit_bytes, False)
            try:
                ended = False
                while not ended:
                    ended = handle.wait(POLL_S)
                    if any(case.phase in PREPARED for case in handle.progress()):
                        prepared()
                    self._take(handle, pieces)
            finally:
                handle.stop()
                self._take(handle, pieces)
                self.notes += handle.notes()
        try:
            handle.result()
        except (ConfigError, RunError, InternalError) as error:
            return _kind(error), str(error)
        return None

    def _take(self, handle: _core.Handle, pieces: list[Piece]) -> None:
        for index, text in handle.ended():
            raw = json.loads(text)
            if "iops" in raw and not raw.get("interrupted"):
                self._keep(pieces[index], raw["config_hash"], {"raw": raw})

    def _failed(self, piece: Piece, kind: str, message: str) -> None:
        self._keep(piece, f"failed {piece.alias}", {"error": {"kind": kind, "message": message}})

    def _keep(self, piece: Piece, config_hash: str, answer: dict[str, Any]) -> None:
        key = key_of(self.batch.build, config_hash, dict(piece.files))
        content = encode(answer)
        self.store.put(piece.alias, key, content)
        self.answers[piece.alias] = Answer(piece.name, key, ran=True, content=None if self.shared else content)


def _kind(error: Exception) -> str:
    if isinstance(error, InternalError):
        return "bug"
    return "configuration" if isinstance(error, ConfigError) else "run"


def _section(piece: Piece) -> str:
    sets = json.dumps([f"{key}={value}" for key, value in piece.sets], ensure_ascii=False)
    return f"\n[[case]]\nname = {json.dumps(piece.name)}\nset = {sets}\n"


_contents: dict[tuple[str, int, int], str | None] = {}


def _content(path: str) -> str | None:
    """A hash of a file's content, cached until the file changes; None if unreadable."""
    with suppress(OSError):
        at = os.stat(path)  # noqa: PTH116
        known = (path, at.st_mtime_ns, at.st_size)
        if known not in _contents:
            _contents[known] = digest(path)
        return _contents[known]
    return None


_there: set[str] = set()
"""States that this process has built or loaded."""


@contextmanager
def _state(folder: Path, states: set[str]) -> Iterator[Callable[[], None]]:
    """Lets one process of a machine build a state while the others wait for its snapshot.

    The lock is held until the simulation starts, and taken only once per process and state.
    """
    folder.mkdir(parents=True, exist_ok=True)
    new = states - _there
    held = [lock(folder / f"{state}{MAKING}") for state in sorted(new)]

    def prepared() -> None:
        while held:
            descriptor, path = held.pop()
            _there.add(path.stem)
            path.unlink(missing_ok=True)
            os.close(descriptor)

    try:
        yield prepared
    finally:
        prepared()


_room = threading.Condition()
_taken = 0


def memory_limit() -> int:
    """Memory limit of this worker in bytes; 0 for none."""
    # Only a Dask worker has a limit; its process has imported Dask.
    if "distributed" in sys.modules:
        from distributed import get_worker

        with suppress(ValueError):
            return int(getattr(get_worker(), "memory_manager").memory_limit or 0)  # noqa: B009 - not in its stubs
    return 0


@contextmanager
def _memory(needed: int) -> Iterator[None]:
    """Waits until the memory of the worker's other threads leaves room; a single simulation never waits."""
    global _taken  # noqa: PLW0603 - one worker, one account
    limit = memory_limit()
    with _room:
        while limit and _taken and _taken + needed > limit:
            _room.wait()
        _taken += needed
    try:
        yield
    finally:
        with _room:
            _taken -= needed
            _room.notify_all()
