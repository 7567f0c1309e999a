"""Simulations of a search: requested in rounds, run by the sweep engine, kept in its store."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from interpulse._core import ConfigError, Plan, RunError
from interpulse.configuration.config import Config
from interpulse.configuration.values import whole
from interpulse.files.atomic_file import whole_file
from interpulse.files.paths import named, shown
from interpulse.studies.case import derived_seed
from interpulse.studies.store import build_id
from interpulse.sweeps import cluster
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.batch import Piece, piece_of
from interpulse.sweeps.check import Checked
from interpulse.sweeps.engine import AGAIN, Engine, ProgressObserver
from interpulse.sweeps.local import workers
from interpulse.sweeps.spec import Spec, cases_of, sets_of_cases
from interpulse.sweeps.store import Store
from interpulse.sweeps.sweep import STORE


def folder_of(config: Config, out: str | os.PathLike[str] | None) -> Path:
    """The folder of a search; default: the name of the configuration in the working folder."""
    return named(out, "out") if out is not None else Path(Path(config.path.strip("<>")).stem)


def choose(all_cases: Mapping[str, Sets], wanted: Sequence[str] | None) -> dict[str, Sets]:
    """The selected cases. Raises ConfigError for an unknown name."""
    wanted = [wanted] if isinstance(wanted, str) else wanted
    for name in wanted or ():
        if name not in all_cases:
            raise ConfigError(f"--case {name}: there is no such case; expected one of {', '.join(all_cases)}")
    return {name: sets for name, sets in all_cases.items() if not wanted or name in wanted}


class Simulations:
    """Runner of a search's simulations; workers start with the first missing simulation and are reused.

    Attributes:
        cases: the overrides of each case by name, including those of the configuration.
        seed: the first seed.
        simulated: simulations that this search ran.
        kept: simulations from earlier searches.
    """

    def __init__(
        self, config: Config, folder: Path, observer: ProgressObserver, *, on: object = None, jobs: int | None = None
    ) -> None:
        cluster.need_packages(on)
        checked = Checked.of(Spec(shown(config.path), config, cases_of(config), ()))
        self.cases = sets_of_cases(config)
        self.seed = checked.seed
        self.simulated = self.kept = 0
        self._checked = checked
        self._observer, self._on = observer, on
        self._jobs = None if jobs is None else whole("jobs", jobs, "the number of workers", 1)
        self._ends = ExitStack()
        self._cluster: cluster.Cluster | None = None
        self._memory = 0
        self._seen: set[str] = set()
        self._said: set[str] = set()
        self.store = Store.needed(folder / STORE, "a search needs a place for its results")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.rest()

    def plan(self, sets: Sets) -> Plan:
        """The resolved configuration. Raises ConfigError if the overrides cannot be used."""
        return self._checked.base.config(tuple(dict(sets).items())).resolve()

    def values(self, sets: Sets) -> dict[str, str]:
        """All resolved settings, as `interpulse show` prints them."""
        return {entry.key: entry.value for entry in self.plan(sets).entries()}

    def with_seed(self, sets: Sets, repetition: int) -> Sets:
        """Overrides with the seed of a repetition; compared simulations share seeds."""
        return (*sets, ("seed", str(derived_seed(self.seed, repetition))))

    @property
    def path(self) -> str:
        """What messages call the configuration."""
        return self._checked.spec.path

    @property
    def plain(self) -> str:
        """The configuration without comments and cases."""
        return self._checked.base.plain

    def key(self, sets: Sets) -> str | None:
        """The key of an answer in the store, or None."""
        return self.store.key(self._piece(sets).alias)

    def write(self, name: str, content: bytes) -> Path:
        """Writes a file beside the store atomically. Raises RunError if that fails."""
        place = self.store.folder.parent / name
        try:
            place.parent.mkdir(exist_ok=True)
            with whole_file(place) as file:
                file.write(content)
        except OSError as error:
            raise RunError(f"{place}: {error.strerror or error}; {AGAIN}") from None
        return place

    def run(self, asked: Sequence[Sets]) -> list[Mapping[str, Any]]:
        """Runs simulations and returns answers in order: `raw`, a result, or `error`, with `kind` and `message`.

        Raises:
            ConfigError: the cluster is unavailable.
            RunError: the cluster was lost, or writing failed; finished simulations are kept.
            KeyboardInterrupt: Ctrl-C; finished simulations are kept.
        """
        pieces = [self._piece(sets) for sets in asked]
        missing = {piece.alias: piece for piece in pieces if self.store.answer(piece.alias) is None}
        known = {piece.alias for piece in pieces} - missing.keys() - self._seen
        self.kept += len(known)
        self._seen |= known
        # What a search that is stopped has simulated is not from an earlier one.
        self._seen |= missing.keys()
        lost = self._do(list(missing.values())) if missing else {}
        found: list[Mapping[str, Any]] = []
        for piece in pieces:
            answer = self.store.answer(piece.alias)
            if answer is None:
                why = lost.get(piece.name, f"its answer is gone from {self.store.folder}")
                answer = {"error": {"kind": "worker", "message": why}}
            found.append(answer)
        return found

    def stored(self, sets: Sets) -> Mapping[str, Any] | None:
        """The answer of a simulation in the store, or None."""
        return self.store.answer(self._piece(sets).alias)

    def results(self, asked: Sequence[Sets]) -> list[Mapping[str, Any]]:
        """As `run`, but raises the first failure.

        Raises:
            ConfigError: a configuration cannot be used.
            RunError: a simulation failed.
        """
        found = self.run(asked)
        for answer in found:
            if "error" in answer:
                error = answer["error"]
                raise (ConfigError if error["kind"] == "configuration" else RunError)(error["message"])
        return [answer["raw"] for answer in found]

    def _piece(self, given: Sets) -> Piece:
        # The last value of a key counts, and a worker accepts each key once.
        return piece_of(self._checked, tuple(dict(given).items()))

    def _do(self, missing: list[Piece]) -> dict[str, str]:
        found = self._workers(max(piece.memory for piece in missing))
        done = self.simulated + self.kept
        engine = Engine(found, self.store, build_id(), self._observer, done + len(missing), done, said=self._said)
        try:
            engine.run(missing)
        finally:
            self.simulated += engine.ran
        return engine.failed

    def _workers(self, memory: int) -> cluster.Cluster:
        if self._cluster is not None and memory <= self._memory:
            return self._cluster
        self.rest()
        self._cluster = self._ends.enter_context(workers(self._on, self._jobs, memory, self._observer.note))
        # On a cluster each task requests its memory and runs on workers that are large enough.
        self._memory = memory if self._on is None else 2**62
        return self._cluster

    def rest(self) -> None:
        """Stops the workers; the next simulation starts them again."""
        if self._on is not None and self._cluster is not None:
            self._cluster.sweep_up(self.store.identity)
        self._cluster = None
        self._ends.close()
