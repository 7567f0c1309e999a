"""Sweep engine: batches of simulations on workers; each answer is stored as soon as it is complete.

A scheduler has a bounded number of tasks at a time, whatever the length of the sweep. Batches last seconds, so that
neither the scheduler nor the way to the workers is what a sweep waits for; towards the end they become shorter.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias

from interpulse._core import RunError
from interpulse.sweeps.batch import Answer, Batch, Piece, Report
from interpulse.sweeps.cluster import Cluster
from interpulse.sweeps.store import Store
from interpulse.sweeps.worker import run_batch
from interpulse.tables.format import size

if TYPE_CHECKING:
    from distributed import Future

BATCH_S = 3.0
"""How long a batch is meant to last, at least."""

TASK_S = 0.01
"""What a task may cost the scheduler and the driver, whose time all workers share: many workers take longer batches."""

MOST = 256
"""Simulations in a batch: a worker holds a lock for each, which is an open file."""

AHEAD = 2
"""Batches that are with the scheduler for each simulation that can run: no worker waits for the driver."""

POLL_S = 0.1

AGAIN = "what has ended is kept, and the same command goes on from there"
"""How messages end of what stops a sweep or a search."""

RESULT_S = 2.0
"""How long the worker that has a report may take to hand it over."""


class ProgressObserver:
    """Who is told how a sweep goes; this one tells at most a function of progress."""

    def __init__(self, function: Callable[[int, int, int], None] | None = None) -> None:
        self._function = function

    def progress(self, done: int, total: int, workers: int) -> None:
        """Called about ten times a second."""
        if self._function is not None:
            self._function(done, total, workers)

    def note(self, line: str) -> None:
        """Called for each line that the user should see."""


Progress: TypeAlias = ProgressObserver | Callable[[int, int, int], None] | None
"""Who is told, a function of progress, or nobody."""


def told_by(progress: Progress) -> ProgressObserver:
    """Who is told."""
    return progress if isinstance(progress, ProgressObserver) else ProgressObserver(progress)


@dataclass
class Engine:
    """One sweep on its way.

    Attributes:
        cluster: where it runs.
        store: where what has ended is kept.
        build: of the simulator.
        told: who is told.
        failed: simulations that no worker survived, with what to say of them; they are not kept.
        said: what workers have told, without its figures: each thing is passed on once, such as that of a state kept.
        rank: of this one among several on a cluster; workers do what they have of lower ones first.
    """

    cluster: Cluster
    store: Store
    build: str
    told: ProgressObserver
    total: int
    done: int = 0
    ran: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)
    rank: int = 0
    _each_s: float = 0.0
    _measured: int = 0
    _unfit: dict[str, str] = field(default_factory=dict)
    _alone: set[str] = field(default_factory=set)
    _ended: SimpleQueue[Future] = field(default_factory=SimpleQueue)
    _pinned: dict[Future, frozenset[str]] = field(default_factory=dict)
    """Tasks that only some workers may do."""

    def run(self, pieces: Sequence[Piece]) -> None:
        """Does all of them.

        Raises:
            RunError: the cluster has gone, no worker of it is fit, or the store takes nothing any more, such as on a
                full disk; what had ended is kept.
            KeyboardInterrupt: Ctrl-C.
        """
        # Those with the same preconditioned state stand together, so that it is made or loaded once for a batch.
        bases = {id(piece.base): at for at, piece in enumerate(pieces)}
        order = sorted(range(len(pieces)), key=lambda at: (pieces[at].state, bases[id(pieces[at].base)]))
        left = deque(pieces[at] for at in order)
        look = not self.store.empty
        out: dict[Future, tuple[Piece, ...]] = {}
        try:
            slots, looked = self.cluster.slots(), time.monotonic()
            while left or out:
                if time.monotonic() - looked > 1 or not slots:
                    slots, looked = self.cluster.slots(), time.monotonic()
                    self.cluster.keep_up()
                    self._still_there()
                    self._unpin(out, left)
                while left and len(out) < AHEAD * max(1, slots):
                    future, batch = self._submit(left, slots, look=look)
                    if future is not None:
                        out[future] = batch
                self._wait(out, left)
                self.told.progress(self.done, self.total, slots)
        except OSError as error:
            what = f"{error.filename or self.store.folder}: {error.strerror or error}"
            raise RunError(f"{what}; {AGAIN}") from None
        finally:
            self.store.refresh()
            for future in out:
                future.release()

    def _submit(self, left: deque[Piece], slots: int, *, look: bool) -> tuple[Future | None, tuple[Piece, ...]]:
        pieces = [left.popleft()]
        wanted = self._size(len(left) + 1, slots)
        while left and len(pieces) < wanted and self._together(pieces[0], left[0]):
            pieces.append(left.popleft())
        memory = max(piece.memory for piece in pieces)
        fit = self.cluster.with_room(memory)
        if fit == []:
            most = self.cluster.largest()
            why = f"it takes {size(memory)} of memory; the largest worker has {size(most)}"
            for piece in pieces:
                self._give_up(piece, why)
            return None, ()
        batch = Batch(self.build, tuple(pieces), str(self.store.folder), self.store.identity, look)
        where: dict[str, Any] = {}
        if fit is not None or self._unfit:
            every = [worker for worker in fit or self.cluster.names() if worker not in self._unfit]
            if not every:
                raise RunError(
                    f"{self.cluster.where}: no worker with {size(memory)} of memory can go on: "
                    f"{next(iter(self._unfit.values()), 'they have gone')}; {self._so_far()}"
                )
            where = {"workers": every}
        future = self.cluster.client.submit(run_batch, batch, pure=False, priority=-self.rank, **where)
        if where:
            self._pinned[future] = frozenset(where["workers"])
        future.add_done_callback(self._ended.put)
        return future, batch.pieces

    def _unpin(self, out: dict[Future, tuple[Piece, ...]], left: deque[Piece]) -> None:
        """Takes tasks back whose workers have all gone: the scheduler would wait for them for ever."""
        there = set(self.cluster.names())
        for future in [future for future, workers in self._pinned.items() if not workers & there]:
            del self._pinned[future]
            left.extendleft(reversed(out.pop(future)))
            future.release()

    def _size(self, left: int, slots: int) -> int:
        """How many simulations go into the next batch: fewer towards the end, so that all workers end together."""
        if not self._measured:
            return max(1, min(4, left // (4 * max(1, slots))))
        by_time = int(max(BATCH_S, TASK_S * slots) / max(self._each_s, 1e-6))
        return max(1, min(by_time, MOST, left // (2 * AHEAD * max(1, slots))))

    def _together(self, first: Piece, other: Piece) -> bool:
        return first.state == other.state and first.base is other.base and not {first.name, other.name} & self._alone

    def _wait(self, out: dict[Future, tuple[Piece, ...]], left: deque[Piece]) -> None:
        """Takes in what has ended, after a while at most."""
        ended: list[Future] = []
        with suppress(Empty):
            ended.append(self._ended.get(timeout=POLL_S))
            while True:
                ended.append(self._ended.get_nowait())
        for future in ended:
            try:
                report = future.result(timeout=RESULT_S) if future.status == "finished" else None
            except TimeoutError:
                # Its worker has died since, and the task is done again, for which somebody has to look after workers.
                future.add_done_callback(self._ended.put)
                continue
            except Exception:  # noqa: BLE001 - whatever it is, the future has it
                report = None
            if future not in out:
                continue
            pieces = out.pop(future)
            self._pinned.pop(future, None)
            if report is not None:
                self._reported(report, pieces, future, left)
            else:
                self._broken(future, pieces, left)
            future.release()

    def _reported(self, report: Report, pieces: tuple[Piece, ...], future: Future, left: deque[Piece]) -> None:
        by_name = {piece.name: piece for piece in pieces}
        for answer in report.answers:
            self._answered(answer, by_name.pop(answer.name))
        ran = sum(answer.ran for answer in report.answers)
        if ran:
            self._measured += ran
            # The last hundred count: a sweep goes from small drives to large ones.
            weight = ran / min(self._measured, 100)
            self._each_s += (report.wall_s / ran - self._each_s) * min(1.0, weight)
        for line in report.notes:
            alike = re.sub(r"\S*[\d/]\S*", "", line)
            if alike not in self.said:
                self.said.add(alike)
                self.told.note(line)
        if report.unfit:
            self._unfit_worker(report.unfit, future)
        left.extendleft(reversed(by_name.values()))

    def _answered(self, answer: Answer, piece: Piece) -> None:
        if answer.content is not None:
            self.store.put(piece.alias, answer.key, answer.content)
        self.keys[piece.name] = answer.key
        self.done += 1
        self.ran += answer.ran

    def _broken(self, future: Future, pieces: tuple[Piece, ...], left: deque[Piece]) -> None:
        """A task without a report: its workers died, or the scheduler has gone."""
        error = None if future.status in ("cancelled", "lost") else future.exception()
        if error is None:
            self._still_there()
        elif type(error).__name__ != "KilledWorker":
            raise RunError(f"a worker failed with {type(error).__name__}: {error}") from None
        for piece in pieces:
            if error is not None and len(pieces) == 1:
                self._give_up(piece, "its worker died each time that it was tried")
                continue
            # Alone, each shows whether it was the one.
            self._alone.add(piece.name)
            left.append(piece)

    def _give_up(self, piece: Piece, why: str) -> None:
        self.failed[piece.name] = why
        self.done += 1

    def _unfit_worker(self, why: str, future: Future) -> None:
        who = self.cluster.client.who_has([future]).get(future.key, ())
        for each in who:
            if each not in self._unfit:
                self._unfit[each] = why
                self.told.note(f"worker {each} is left out: {why}")
        if set(self.cluster.names()) <= set(self._unfit):
            raise RunError(f"{self.cluster.where}: no worker can go on: {why}; {self._so_far()}")

    def _still_there(self) -> None:
        if self.cluster.lost():
            raise RunError(f"{self.cluster.where}: the scheduler has gone; {self._so_far()}")

    def _so_far(self) -> str:
        return f"{self.done} of {self.total} simulations are kept, and the same command goes on from there"
