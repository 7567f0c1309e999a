"""Batches of simulations that a driver sends to workers, and their reports."""

from __future__ import annotations

from dataclasses import dataclass

from interpulse.studies.store import build_id
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.check import Base, Checked
from interpulse.sweeps.store import alias_of


@dataclass(frozen=True)
class Piece:
    """A simulation or a cell job.

    Attributes:
        name: name in messages, unique within a run.
        alias: name in the index of the store.
        sets: overrides; for a cell job, its kind and request.
        files: input files with hashes of their content.
        memory: required bytes.
        state: identifies the preconditioned state.
        base: the shared configuration that `sets` override; None for a cell job.
    """

    name: str
    alias: str
    sets: Sets
    files: tuple[tuple[str, str], ...]
    memory: int
    state: str
    base: Base | None


def piece_of(checked: Checked, sets: Sets, name: str = "") -> Piece:
    """The simulation with these overrides; its default name is its alias."""
    files, shape, base = checked.inputs(sets), checked.shape(sets), checked.base
    alias = alias_of(build_id(), base.plain, base.path, sets, files)
    return Piece(name or alias, alias, sets, tuple(files.items()), shape.memory, shape.state, base)


@dataclass(frozen=True)
class Batch:
    """Pieces of one base that one task runs in sequence.

    Attributes:
        build: the driver's build of the simulator; workers of another build refuse.
        store: the folder of the driver's store.
        store_identity: identifies the store, as another machine may have another one at the same path.
        look: whether the store may hold answers under other aliases.
    """

    build: str
    pieces: tuple[Piece, ...]
    store: str
    store_identity: str
    look: bool

    @property
    def base(self) -> Base | None:
        """The base of all pieces."""
        return self.pieces[0].base


@dataclass(frozen=True)
class Answer:
    """Outcome of a piece.

    Attributes:
        name: name of the piece.
        key: key of the answer in the store.
        ran: whether it was simulated since the driver started; False if it was found.
        content: the answer, if the worker cannot access the driver's store.
    """

    name: str
    key: str
    ran: bool
    content: bytes | None = None


@dataclass(frozen=True)
class Report:
    """Return value of a task.

    Attributes:
        answers: outcomes; missing pieces have to be submitted again.
        wall_s: duration without waiting for memory and states.
        notes: notes of the simulator.
        unfit: why this worker cannot run the batch; other workers may.
    """

    answers: tuple[Answer, ...] = ()
    wall_s: float = 0.0
    notes: tuple[str, ...] = ()
    unfit: str = ""
