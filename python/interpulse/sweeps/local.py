"""Local workers of a sweep: child processes, each of which receives batches over a socket pair of its own.

Nothing listens: a socket pair has no address, so that no other process or user can reach a worker.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING

from interpulse._core import RunError
from interpulse.sweeps.check import BASE_BYTES
from interpulse.sweeps.cluster import Cluster, Task, remote
from interpulse.tables.format import size

if TYPE_CHECKING:
    from interpulse.sweeps.batch import Batch, Report

RESTARTS = 100
"""Maximum number of dead local workers before a sweep fails."""

TRIES = 3
"""A simulation that runs alone is given up when its worker has died this often."""

HERE = "this machine"


class WorkerDiedError(Exception):
    """The worker of a task has died each time that it was tried."""


class _LocalTask:
    """A submitted batch.

    Not a `concurrent.futures.Future`: Ctrl-C can leave the lock of one held (`studies/threads.py`).

    Attributes:
        status: as in `Task`.
    """

    def __init__(self, function: Callable[[Batch], Report], batch: Batch) -> None:
        self.call = (function, batch)
        self.tries = TRIES if len(batch.pieces) == 1 else 1
        self.status = "pending"
        self._answer: Report | Exception | None = None
        self._callbacks: list[Callable[[_LocalTask], object]] = []
        self._lock = Lock()

    def result(self, timeout: float | None = None) -> Report:
        """The report; raises the error of the task, and TimeoutError if it has not ended after so many seconds."""
        ended = SimpleQueue[_LocalTask]()
        self.add_done_callback(ended.put)
        try:
            ended.get(timeout=timeout)
        except Empty:
            raise TimeoutError(f"the task is {self.status}") from None
        if isinstance(self._answer, Exception):
            raise self._answer
        assert self._answer is not None, f"the task is {self.status}"
        return self._answer

    def exception(self) -> BaseException | None:
        """The error of a task that has ended, or None."""
        return self._answer if isinstance(self._answer, Exception) else None

    def release(self) -> None:
        """Drops the task; one that waits does not run."""
        with self._lock:
            if self.status == "pending":
                self.status = "cancelled"

    def end(self, answer: Report | Exception) -> None:
        """Ends the task, unless it is cancelled, and notifies the callbacks."""
        with self._lock:
            if self.status != "pending":
                return
            self._answer = answer
            self.status = "error" if isinstance(answer, Exception) else "finished"
        for function in self._callbacks:
            function(self)

    def add_done_callback(self, function: Callable[[_LocalTask], object]) -> None:
        """Calls a function with the task when it has ended."""
        with self._lock:
            if self.status == "pending":
                self._callbacks.append(function)
                return
        function(self)


class _Child:
    """A worker process and the connection to it."""

    def __init__(self) -> None:
        self.connection, other = Pipe()
        try:
            self.process = _started(other)
        except BaseException:
            self.connection.close()
            raise
        finally:
            other.close()

    def run(self, task: _LocalTask) -> Report | Exception:
        """The report of a task, or its error. Raises EOFError or OSError if the process has died."""
        self.connection.send(task.call)
        answer: Report | Exception = self.connection.recv()
        return answer

    def end(self) -> int:
        """Kills the process; returns its exit code. Finished simulations are in the store."""
        self.process.kill()
        code = self.process.wait()
        self.connection.close()
        return code


class Local(Cluster):
    """Local worker processes, one simulation at a time in each; a thread of this process waits for each."""

    where = HERE

    def __init__(self, jobs: int) -> None:
        """Starts the workers. Raises OSError if the system does not provide the processes or descriptors."""
        self._tasks: SimpleQueue[_LocalTask | None] = SimpleQueue()
        self._lock = Lock()
        self._children: dict[int, _Child] = {}
        self._ended = False
        self._failure: str | None = None
        self._died = 0
        self._threads: list[Thread] = []
        try:
            for number in range(jobs):
                self._children[number] = _Child()
            for number in range(jobs):
                thread = Thread(target=self._serve, args=(number,), name=f"interpulse-worker-{number}", daemon=True)
                thread.start()
                self._threads.append(thread)
        except BaseException:
            self.end()
            raise

    @property
    def processes(self) -> list[subprocess.Popen[bytes]]:
        """The worker processes."""
        with self._lock:
            return [child.process for child in self._children.values()]

    def slots(self) -> int:
        """Number of simulations that can run now."""
        return len(self._threads)

    def names(self) -> list[str]:
        """One name for all workers: what makes one of them unfit, a missing file or a full disk, affects all."""
        return [HERE]

    def submit(
        self,
        function: Callable[[Batch], Report],
        batch: Batch,
        rank: int,  # noqa: ARG002 - one study has the workers
        workers: Collection[str] | None,  # noqa: ARG002 - all have one name
    ) -> Task:
        """Submits a batch; batches run in the order of their submission."""
        task = _LocalTask(function, batch)
        self._tasks.put(task)
        return task

    def workers_of(self, task: Task) -> list[str]:  # noqa: ARG002 - any
        """The name of all workers."""
        return [HERE]

    def keep_up(self) -> None:
        """Raises RunError if too many workers have died, or one could not be replaced."""
        if self._failure is not None:
            raise RunError(self._failure)

    def sweep_up(self, identity: str) -> None:
        """Does nothing: local workers write to the driver's store."""

    def end(self) -> None:
        """Kills the workers."""
        with self._lock:
            self._ended = True
            children = list(self._children.values())
        for child in children:
            child.process.kill()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()
        for child in children:
            child.end()

    def _serve(self, number: int) -> None:
        while (task := self._tasks.get()) is not None and not self._ended:
            if task.status == "pending":
                task.end(self._answer(number, task))

    def _answer(self, number: int, task: _LocalTask) -> Report | Exception:
        """The report of a task, or its error; replaces the worker if it dies."""
        for _ in range(task.tries):
            try:
                return self._children[number].run(task)
            except (EOFError, OSError) as error:
                if not self._replaced(number):
                    return RunError(self._failure or f"the workers have ended ({type(error).__name__})")
        return WorkerDiedError("its worker died")

    def _replaced(self, number: int) -> bool:
        with self._lock:
            if self._ended or self._failure is not None:
                return False
            code = self._children[number].end()
            self._died += 1
            if self._died > RESTARTS:
                self._failure = f"{self._died} workers have died, the last with exit code {code}"
                return False
            try:
                self._children[number] = _Child()
            except OSError as error:
                self._failure = f"a dead worker cannot be replaced: {error.strerror or error}"
                return False
            return True


def workers(
    on: object, jobs: int | None, memory: int, note: Callable[[str], None], most: int | None = None
) -> AbstractContextManager[Cluster]:
    """The workers of a scheduler (see `remote`), or `jobs` local workers, by default one per core.

    At most `most` local workers start. Raises as `local` and `remote`.
    """
    if on is not None:
        return remote(on, note)
    cores = len(os.sched_getaffinity(0)) if jobs is None else jobs
    return local(cores if most is None else min(cores, most), memory, note)


@contextmanager
def local(jobs: int, memory: int, note: Callable[[str], None]) -> Iterator[Local]:
    """Local workers, fewer than `jobs` if memory is short for simulations of `memory` bytes each.

    Raises:
        RunError: too little memory for one worker, or the system does not provide processes or descriptors.
    """
    import psutil

    free = psutil.virtual_memory().available
    fit = free // max(memory, BASE_BYTES)
    if fit < 1:
        raise RunError(f"a simulation takes {size(memory)} of memory, {size(free)} are free")
    if fit < jobs:
        note(f"a simulation takes {size(memory)} of memory, {size(free)} are free: {fit} at a time")
    with ExitStack() as ends:
        try:
            workers = Local(min(jobs, int(fit)))
        except (OSError, RuntimeError) as error:
            why = getattr(error, "strerror", None) or error
            raise RunError(f"workers of this machine cannot be started: {why}") from None
        ends.callback(workers.end)
        yield workers


def _started(connection: Connection) -> subprocess.Popen[bytes]:
    # Workers import the same package as this process, and nothing from the working folder.
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    number = connection.fileno()
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "interpulse.sweeps.worker_process", str(number)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": path, "PYTHONWARNINGS": "ignore"},
        pass_fds=(number,),
        start_new_session=True,
    )
