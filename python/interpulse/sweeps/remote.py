"""Remote runner: simulations and cell jobs of a study on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from interpulse._core import ConfigError, InternalError, RunError
from interpulse.studies.case import Job
from interpulse.studies.overlap import Keep
from interpulse.studies.pool import CellJob
from interpulse.studies.store import build_id
from interpulse.sweeps.batch import Piece
from interpulse.sweeps.check import BASE_BYTES, Base, Files, named_files, shape_of, shaping_keys
from interpulse.sweeps.connection import Connection
from interpulse.sweeps.engine import Engine, ProgressObserver
from interpulse.sweeps.store import Store

if TYPE_CHECKING:
    from interpulse.runs.runner import Watcher

ERRORS = {"configuration": ConfigError, "bug": InternalError}


class RemoteRunner:
    """Runs the jobs of a study on the workers of a scheduler.

    Workers write answers into a sweep store in `folder` under the identity of the job; the driver copies them into the
    store of the study. A restarted driver finds the answers written meanwhile. Seeds run in parallel threads.

    Attributes:
        rank: workers process jobs of lower rank first.
    """

    def __init__(self, connection: Connection, folder: Path) -> None:
        """Opens the store without connecting.

        Raises:
            RunError: the folder cannot be used.
        """
        self._connection = connection
        self.rank = 0
        self._files = Files()
        self._shaping = shaping_keys()
        self._store = Store.needed(folder, "workers need a place for what they have done")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection.there is not None:
            self._connection.there.sweep_up(self._store.identity)

    def ranked(self, rank: int) -> Self:
        """A copy with another rank."""
        other = copy(self)
        other.rank = rank
        return other

    def simulate(self, jobs: Sequence[Job], watcher: Watcher, keep: Keep) -> None:
        """Simulates cases.

        Raises:
            ConfigError: a configuration cannot be used, or the cluster is not there.
            RunError: a simulation failed, after the others have ended; or the cluster was lost.
            KeyboardInterrupt: Ctrl-C; finished simulations are kept.
        """
        bases: dict[tuple[str, str], Base] = {}
        pieces = []
        for job in jobs:
            config = job.case.config
            base = bases.setdefault((config.path, config.text), Base.of(config))
            sets = tuple((key, value) for key, _, value in (each.partition("=") for each in job.overrides()))
            plan = base.config(sets).resolve()
            files = {path: self._files.content(path) for path in sorted(set(named_files(plan, base).values()))}
            shape = shape_of(plan, self._shaping)
            pieces.append(Piece(job.name, job.identity, sets, tuple(files.items()), shape.memory, shape.state, base))
        self._do(pieces, watcher, keep)

    def compute(self, jobs: Sequence[CellJob], watcher: Watcher, keep: Keep) -> None:
        """Runs cell jobs; raises as `simulate`."""
        # A batch has one preconditioned state, and cells have none: one batch may hold all.
        pieces = [Piece(job.identity, job.identity, ((job.kind, job.text),), (), BASE_BYTES, "", None) for job in jobs]
        self._do(pieces, watcher, keep)

    def _do(self, pieces: list[Piece], watcher: Watcher, keep: Keep) -> None:
        self._store.refresh()
        for piece in pieces:
            # Failures are retried, as on this machine.
            if "error" in (self._store.answer(piece.alias) or {}):
                self._store.forget(piece.alias)
        left = {piece.name: piece for piece in pieces}
        self._deliver(left, self._known(left), keep)
        if not left:
            return
        missing = list(left.values())
        cluster = self._connection.cluster(watcher)
        engine = Engine(cluster, self._store, build_id(), ProgressObserver(), len(missing), rank=self.rank)

        class Forwarder(ProgressObserver):
            def progress(_, done: int, total: int, workers: int) -> None:  # noqa: ARG002, N805 - the outer self
                self._deliver(left, engine.keys, keep)
                watcher.progress([])

            def note(_, line: str) -> None:  # noqa: N805
                watcher.note(line)

        engine.observer = Forwarder()
        try:
            engine.run(missing)
        finally:
            self._deliver(left, self._known(left), keep)
        for name, piece in left.items():
            self._raise(name, piece, engine.failed.get(name))

    def _known(self, left: Mapping[str, Piece]) -> dict[str, str]:
        return {name: key for name, piece in left.items() if (key := self._store.key(piece.alias)) is not None}

    def _deliver(self, left: dict[str, Piece], keys: Mapping[str, str], keep: Keep) -> None:
        """Passes available answers to the study and removes their pieces from `left`."""
        found: dict[str, dict[str, Any]] = {}
        for name in keys.keys() & left.keys():
            answer = self._store.get(keys[name])
            if answer is not None and "raw" in answer:
                found[left.pop(name).alias] = answer["raw"]
        if found:
            keep(found)

    def _raise(self, name: str, piece: Piece, lost: str | None) -> None:
        answer = self._store.answer(piece.alias) or {}
        what = "" if piece.base is None else f"{name}: "
        if "error" not in answer:
            raise RunError(f"{what}{lost or f'its answer is gone from {self._store.folder}'}")
        error = answer["error"]
        message = error["message"]
        raise ERRORS.get(error["kind"], RunError)(message if name in message else f"{what}{message}")
