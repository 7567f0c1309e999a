"""Batches of simulations that a driver sends to workers, and their reports."""

from __future__ import annotations

from dataclasses import dataclass

from interpulse.studies.store import build_id
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.check import Base, Checked
from interpulse.sweeps.store import alias_of


@dataclass(frozen=True)
class Piece:
    """One simulation, or one job of cells.

    Attributes:
        name: unique among what runs with it; what messages call it.
        alias: its name in the index of the store.
        sets: its overrides; of a job of cells, its kind and its request.
        files: the files that it reads, with a hash of the content of each.
        memory: bytes that it takes.
        state: equal where preconditioned states are.
        base: what it shares with others, which `sets` override; None for a job of cells, which shares nothing.
    """

    name: str
    alias: str
    sets: Sets
    files: tuple[tuple[str, str], ...]
    memory: int
    state: str
    base: Base | None


def piece_of(checked: Checked, sets: Sets, name: str = "") -> Piece:
    """The simulation with these overrides, called by its alias unless a name is given."""
    files, shape, base = checked.inputs(sets), checked.shape(sets), checked.base
    alias = alias_of(build_id(), base.plain, base.path, sets, files)
    return Piece(name or alias, alias, sets, tuple(files.items()), shape.memory, shape.state, base)


@dataclass(frozen=True)
class Batch:
    """Pieces of one base that one task does, one after the other.

    Attributes:
        build: of the simulator that the driver has; a worker with another one refuses.
        store: the folder of the driver's store, and what tells whether it is that one.
        look: whether the store may hold answers under other aliases.
    """

    build: str
    pieces: tuple[Piece, ...]
    store: str
    store_identity: str
    look: bool

    @property
    def base(self) -> Base | None:
        """What its pieces share."""
        return self.pieces[0].base


@dataclass(frozen=True)
class Answer:
    """What became of a piece.

    Attributes:
        name: of the piece.
        key: of its answer in the store.
        ran: whether it was simulated for this sweep since its driver began; False where it was found.
        content: the answer itself where the worker does not see the driver's store.
    """

    name: str
    key: str
    ran: bool
    content: bytes | None = None


@dataclass(frozen=True)
class Report:
    """What a task returns.

    Attributes:
        answers: what became of its pieces; those missing have to be done again.
        wall_s: how long it took, waiting for memory and states left aside.
        notes: what the simulator had to say.
        unfit: why this worker cannot do any of them; the others are for other workers.
    """

    answers: tuple[Answer, ...] = ()
    wall_s: float = 0.0
    notes: tuple[str, ...] = ()
    unfit: str = ""
