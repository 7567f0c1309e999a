"""Execution of a sweep from its file to its dataset; only missing simulations run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interpulse._core import RunError, version
from interpulse.configuration.values import whole
from interpulse.files.paths import named
from interpulse.runs.result import Result
from interpulse.studies.store import build_id
from interpulse.sweeps import cluster, dataset
from interpulse.sweeps.batch import Piece, piece_of
from interpulse.sweeps.check import Checked
from interpulse.sweeps.engine import Engine, ProgressObserver, observer_of
from interpulse.sweeps.local import workers
from interpulse.sweeps.points import Simulation, points, simulations
from interpulse.sweeps.spec import Spec
from interpulse.sweeps.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars
    import pyarrow
    from distributed import Client
    from distributed.deploy import Cluster

STORE = "store"
"""Folder of answers inside the folder of a sweep."""


@dataclass
class Sweep:
    """Outcome of a sweep.

    Attributes:
        path: the Parquet file.
        simulated: simulations that this call ran.
        kept: simulations from earlier calls or equal points of this sweep.
        failed: errors of simulations without a result, by row.
        missing: simulations that did not run before Ctrl-C.
        columns_without_figures: names in `[columns]` that no result contains.
    """

    path: Path
    simulated: int
    kept: int
    failed: dict[int, str]
    missing: int
    table: pyarrow.Table
    store: Store
    columns_without_figures: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def to_polars(self) -> polars.DataFrame:
        """The dataset as a Polars frame. Raises ImportError if polars is not installed."""
        import polars

        frame = polars.from_arrow(self.table)
        assert isinstance(frame, polars.DataFrame)
        return frame

    def to_arrow(self) -> pyarrow.Table:
        """The dataset as an Arrow table: one row per point and repetition, in the order of the axes."""
        return self.table

    def result(self, row: int) -> Result:
        """The result of a simulation, by row.

        Raises:
            IndexError: no such row.
            ValueError: the simulation failed; the message is its error.
        """
        key = self.table["key"][row].as_py()
        answer = None if key is None else self.store.get(key)
        if answer is None or "raw" not in answer:
            raise ValueError(
                self.table["error"][row].as_py() or f"row {row}: its answer is gone from {self.store.folder}"
            )
        return Result(answer["raw"])

    def __repr__(self) -> str:
        parts = [f"{len(self)} rows in {self.path}", f"{self.simulated} simulated", f"{self.kept} kept"]
        parts += [f"{len(self.failed)} failed"] * bool(self.failed) + [f"{self.missing} missing"] * bool(self.missing)
        return f"Sweep({', '.join(parts)})"


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C stopped a sweep.

    Attributes:
        sweep: the finished part, from which the same call continues.
    """

    def __init__(self, done: Sweep) -> None:
        super().__init__("the sweep was interrupted")
        self.sweep = done


def sweep(
    file: Spec | Mapping[str, Any] | str | PathLike[str],
    *,
    out: str | PathLike[str] | None = None,
    on: str | PathLike[str] | Client | Cluster | None = None,
    jobs: int | None = None,
    progress: ProgressObserver | Callable[[int, int, int], None] | None = None,
    retry_failed: bool = False,
) -> Sweep:
    """Runs the missing part of a sweep.

    Args:
        file: the path of a sweep file (docs/SWEEP.md), or a dictionary with its keys.
        out: the folder for `results.parquet` and the store; default: the file's name without `.toml`, in the working
            folder.
        on: a Dask scheduler: its address (`tcp://`, `tls://`), its file (`.json`), or a Dask Client or cluster;
            default: local workers.
        jobs: local workers, by default one per core, or fewer if memory is short.
        progress: called about ten times per second with the numbers of finished, all and concurrent simulations.
        retry_failed: runs configurations with a stored failure again.

    Returns:
        The dataset. A failed configuration is a row with `status` `failed`; the others continue.

    Raises:
        ConfigError: the file, its configuration or a value of an axis cannot be used, or the cluster is unavailable.
        RunError: the cluster was lost, or writing failed; finished simulations are kept.
        SweepInterrupted: Ctrl-C; a KeyboardInterrupt with the finished part.
    """
    spec = Spec.of(file)
    folder = named(out, "out") if out is not None else Path(Path(spec.path.strip("<>")).stem)
    jobs = None if jobs is None else whole("jobs", jobs, "the number of workers", 1)
    observer = observer_of(progress)
    cluster.need_packages(on)
    cluster.check_place(on)
    dataset.check_expressions(spec)
    every = list(simulations(spec, points(spec), (checked := Checked.of(spec)).seed))
    store = Store.needed(folder / STORE, "the sweep needs a place for its results")
    run = _Run(checked, store, folder, observer, every, retry_failed=retry_failed)
    missing = run.missing()
    observer.progress(run.known, len(every), 0)
    interrupted = False
    try:
        if missing:
            run.engine(missing, on, jobs)
    except KeyboardInterrupt:
        interrupted = True
    except RunError:
        # The finished simulations still make a dataset.
        with suppress(OSError):
            run.result()
        raise
    try:
        result = run.result()
    except OSError as error:
        what = f"{error.filename or folder}: {error.strerror or error}"
        raise RunError(
            f"{what}; finished simulations are in {store.folder}, and the same command resumes from there"
        ) from None
    if interrupted:
        raise SweepInterrupted(result)
    return result


class _Run:
    def __init__(
        self,
        checked: Checked,
        store: Store,
        folder: Path,
        observer: ProgressObserver,
        every: list[Simulation],
        *,
        retry_failed: bool,
    ) -> None:
        self._spec, self._store, self._folder, self._observer = checked.spec, store, folder, observer
        self._every, self._retry = every, retry_failed
        self._pieces = [
            piece_of(checked, each.sets, f"point {each.point.number}, repetition {each.repetition}") for each in every
        ]
        self._answers: dict[str, Mapping[str, Any]] = {}
        self._lost: dict[str, str] = {}
        self._ran = 0
        self.known = 0

    def missing(self) -> list[Piece]:
        """The simulations without a stored answer, each once."""
        left: dict[str, Piece] = {}
        for piece in self._pieces:
            answer = self._answer(piece)
            if answer is not None and "error" in answer and self._retry:
                self._store.forget(piece.alias)
                answer = None
            if answer is None:
                left[piece.alias] = piece
            else:
                self.known += 1
        return list(left.values())

    def _answer(self, piece: Piece) -> Mapping[str, Any] | None:
        key = self._store.key(piece.alias)
        if key is not None and key not in self._answers and (found := self._store.answer(piece.alias)) is not None:
            self._answers[key] = _essence(found, self._spec)
        return None if key is None else self._answers.get(key)

    def engine(self, missing: list[Piece], on: object, jobs: int | None) -> None:
        """Runs the missing simulations."""
        memory = max(piece.memory for piece in missing)
        with workers(on, jobs, memory, self._observer.note, len(missing)) as found:
            engine = Engine(found, self._store, build_id(), self._observer, len(self._every), self.known)
            try:
                engine.run(missing)
            finally:
                self._ran, self._lost = engine.ran, engine.failed
                if on is not None:
                    found.sweep_up(self._store.identity)

    def result(self) -> Sweep:
        """Writes the dataset from the available answers."""
        rows: list[dict[str, Any]] = []
        failed: dict[int, str] = {}
        missing = 0
        for simulation, piece in zip(self._every, self._pieces, strict=True):
            answer = self._answer(piece)
            key = self._store.key(piece.alias)
            if answer is None and piece.name in self._lost:
                answer, key = {"error": {"kind": "worker", "message": self._lost[piece.name]}}, None
            if answer is None:
                missing += 1
                continue
            if "error" in answer:
                failed[len(rows)] = answer["error"]["message"]
            rows.append(dataset.row(self._spec, simulation, key, answer))
        about = {"interpulse": version, "title": self._spec.title}
        table = dataset.table(self._spec, rows, about)
        path = dataset.write(self._folder, table)
        never = [name for name in self._spec.columns if rows and all(each[name] is None for each in rows)]
        kept = len(rows) - self._ran - len(self._lost)
        return Sweep(path, self._ran, kept, failed, missing, table, self._store, never)


def _essence(answer: Mapping[str, Any], spec: Spec) -> Mapping[str, Any]:
    """The part of an answer that the dataset uses, as complete results of a long sweep would not fit in memory."""
    if "error" in answer:
        return answer
    wanted = {*dataset.FIGURES.values(), *spec.columns.values()}
    raw = {path: dataset.figure(answer["raw"], path) for path in wanted}
    return {"raw": {path: value for path, value in raw.items() if value is not None}}
