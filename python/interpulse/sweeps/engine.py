"""Sweep engine: batches of simulations on workers; each answer is stored as soon as it is complete.

The number of tasks in the scheduler is bounded. Batches last seconds, so that neither the scheduler nor the network
limits a sweep, and become shorter towards its end.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TypeAlias

from interpulse._core import RunError
from interpulse.sweeps.batch import Answer, Batch, Piece, Report
from interpulse.sweeps.cluster import Cluster, Task
from interpulse.sweeps.store import Store
from interpulse.sweeps.worker import run_batch
from interpulse.tables.format import size

BATCH_S = 3.0
"""Minimum target duration of a batch."""

TASK_S = 0.01
"""Time of a task in the scheduler and the driver, which all workers share: more workers need longer batches."""

MOST = 256
"""Maximum number of simulations in a batch: a worker holds a lock, an open file, for each."""

AHEAD = 2
"""Submitted batches per slot, so that no worker waits for the driver."""

POLL_S = 0.1

AGAIN = "finished simulations are kept, and the same command resumes from there"
"""End of messages on errors that stop a sweep or a search."""

RESULT_S = 2.0
"""Timeout of the transfer of a report."""

_KEY = re.compile(r'^case "[0-9a-f]{32}": ')
"""Key by which a note names a simulation, which says nothing to users."""


class ProgressObserver:
    """Observer of a sweep's progress; this base class calls an optional function."""

    def __init__(self, function: Callable[[int, int, int], None] | None = None) -> None:
        self._function = function

    def progress(self, done: int, total: int, workers: int) -> None:
        """Called about ten times a second."""
        if self._function is not None:
            self._function(done, total, workers)

    def note(self, line: str) -> None:
        """Called for each line that the user should see."""

    def until(self, ends_at: float) -> None:
        """Called if the work ends at this instant of the monotonic clock at the latest."""


Progress: TypeAlias = ProgressObserver | Callable[[int, int, int], None] | None
"""An observer, a progress function, or None."""


def observer_of(progress: Progress) -> ProgressObserver:
    """The observer for a `progress` argument."""
    return progress if isinstance(progress, ProgressObserver) else ProgressObserver(progress)


@dataclass
class Engine:
    """Executor of a sweep.

    Attributes:
        cluster: the workers.
        store: the store of answers.
        build: build of the simulator.
        observer: receives progress and notes.
        failed: reasons of simulations without an answer, which are not stored.
        said: notes of workers, without figures; each is reported once.
        rank: priority among the studies of a cluster; lower ranks run first.
    """

    cluster: Cluster
    store: Store
    build: str
    observer: ProgressObserver
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
    _ended: SimpleQueue[Task] = field(default_factory=SimpleQueue)
    _pinned: dict[Task, frozenset[str]] = field(default_factory=dict)
    """Tasks restricted to some workers."""

    def run(self, pieces: Sequence[Piece]) -> None:
        """Runs all pieces.

        Raises:
            RunError: the cluster was lost, no worker is fit, or the store cannot be written, such as on a full disk;
                finished simulations are kept.
            KeyboardInterrupt: Ctrl-C.
        """
        # Pieces with the same preconditioned state are adjacent, so that a batch builds or loads the state once.
        bases = {id(piece.base): at for at, piece in enumerate(pieces)}
        order = sorted(range(len(pieces)), key=lambda at: (pieces[at].state, bases[id(pieces[at].base)]))
        left = deque(pieces[at] for at in order)
        look = not self.store.empty
        out: dict[Task, tuple[Piece, ...]] = {}
        try:
            slots, looked = self.cluster.slots(), time.monotonic()
            while left or out:
                if time.monotonic() - looked > 1 or not slots:
                    slots, looked = self.cluster.slots(), time.monotonic()
                    self.cluster.keep_up()
                    self._still_there()
                    self._unpin(out, left)
                while left and len(out) < AHEAD * max(1, slots):
                    task, batch = self._submit(left, slots, look=look)
                    if task is not None:
                        out[task] = batch
                self._wait(out, left)
                self.observer.progress(self.done, self.total, slots)
        except OSError as error:
            what = f"{error.filename or self.store.folder}: {error.strerror or error}"
            raise RunError(f"{what}; {AGAIN}") from None
        finally:
            self.store.refresh()
            for task in out:
                task.release()

    def _submit(self, left: deque[Piece], slots: int, *, look: bool) -> tuple[Task | None, tuple[Piece, ...]]:
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
        where: list[str] | None = None
        if fit is not None or self._unfit:
            every = [worker for worker in fit or self.cluster.names() if worker not in self._unfit]
            if not every:
                raise RunError(
                    f"{self.cluster.where}: no worker with {size(memory)} of memory can continue: "
                    f"{next(iter(self._unfit.values()), 'all are gone')}; {self._so_far()}"
                )
            where = every
        task = self.cluster.submit(run_batch, batch, self.rank, where)
        if where is not None:
            self._pinned[task] = frozenset(where)
        task.add_done_callback(self._ended.put)
        return task, batch.pieces

    def _unpin(self, out: dict[Task, tuple[Piece, ...]], left: deque[Piece]) -> None:
        """Takes back tasks whose workers are all lost: the scheduler would wait for them forever."""
        there = set(self.cluster.names())
        for task in [task for task, workers in self._pinned.items() if not workers & there]:
            del self._pinned[task]
            left.extendleft(reversed(out.pop(task)))
            task.release()

    def _size(self, left: int, slots: int) -> int:
        """Size of the next batch: smaller towards the end, so that all workers finish together."""
        if not self._measured:
            return max(1, min(4, left // (4 * max(1, slots))))
        by_time = int(max(BATCH_S, TASK_S * slots) / max(self._each_s, 1e-6))
        return max(1, min(by_time, MOST, left // (2 * AHEAD * max(1, slots))))

    def _together(self, first: Piece, other: Piece) -> bool:
        return first.state == other.state and first.base is other.base and not {first.name, other.name} & self._alone

    def _wait(self, out: dict[Task, tuple[Piece, ...]], left: deque[Piece]) -> None:
        """Processes finished tasks, waiting for at most `POLL_S`."""
        ended: list[Task] = []
        with suppress(Empty):
            ended.append(self._ended.get(timeout=POLL_S))
            while True:
                ended.append(self._ended.get_nowait())
        for task in ended:
            try:
                report = task.result(timeout=RESULT_S) if task.status == "finished" else None
            except TimeoutError:
                # The worker died meanwhile and the scheduler reruns the task; the caller replaces workers.
                task.add_done_callback(self._ended.put)
                continue
            except Exception:  # noqa: BLE001 - whatever it is, the task has it
                report = None
            if task not in out:
                continue
            pieces = out.pop(task)
            self._pinned.pop(task, None)
            if report is not None:
                self._reported(report, pieces, task, left)
            else:
                self._broken(task, pieces, left)
            task.release()

    def _reported(self, report: Report, pieces: tuple[Piece, ...], task: Task, left: deque[Piece]) -> None:
        by_name = {piece.name: piece for piece in pieces}
        for answer in report.answers:
            self._answered(answer, by_name.pop(answer.name))
        ran = sum(answer.ran for answer in report.answers)
        if ran:
            self._measured += ran
            # Moving average over a hundred, as a sweep may go from small drives to large ones.
            weight = ran / min(self._measured, 100)
            self._each_s += (report.wall_s / ran - self._each_s) * min(1.0, weight)
        for line in (_KEY.sub("", noted) for noted in report.notes):
            alike = re.sub(r"\S*[\d/]\S*", "", line)
            if alike not in self.said:
                self.said.add(alike)
                self.observer.note(line)
        if report.unfit:
            self._unfit_worker(report.unfit, task)
        left.extendleft(reversed(by_name.values()))

    def _answered(self, answer: Answer, piece: Piece) -> None:
        if answer.content is not None:
            self.store.put(piece.alias, answer.key, answer.content)
        self.keys[piece.name] = answer.key
        self.done += 1
        self.ran += answer.ran

    def _broken(self, task: Task, pieces: tuple[Piece, ...], left: deque[Piece]) -> None:
        """Handles a task without a report: its workers died, or the scheduler was lost."""
        error = None if task.status in ("cancelled", "lost") else task.exception()
        if error is None:
            self._still_there()
        elif type(error).__name__ not in ("KilledWorker", "WorkerDiedError"):
            raise RunError(f"a worker failed with {type(error).__name__}: {error}") from None
        for piece in pieces:
            if error is not None and len(pieces) == 1:
                self._give_up(piece, "its worker died each time that it was tried")
                continue
            # Run alone, each piece shows whether it is the cause.
            self._alone.add(piece.name)
            left.append(piece)

    def _give_up(self, piece: Piece, why: str) -> None:
        self.failed[piece.name] = why
        self.done += 1

    def _unfit_worker(self, why: str, task: Task) -> None:
        new = [each for each in self.cluster.workers_of(task) if each not in self._unfit]
        self._unfit |= dict.fromkeys(new, why)
        if set(self.cluster.names()) <= set(self._unfit):
            raise RunError(f"{self.cluster.where}: no worker can continue: {why}; {self._so_far()}")
        for each in new:
            self.observer.note(f"worker {each} is left out: {why}")

    def _still_there(self) -> None:
        if self.cluster.lost():
            raise RunError(f"{self.cluster.where}: the scheduler is gone; {self._so_far()}")

    def _so_far(self) -> str:
        return f"{self.done} of {self.total} simulations are kept, and the same command resumes from there"
