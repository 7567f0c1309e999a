"""Batches of cases that overlap: the next one begins while the last cases of those before it still run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from interpulse.runner import POLL_S
from interpulse.studies.sidebyside import begun

if TYPE_CHECKING:
    from interpulse._core import Progress
    from interpulse.runner import Watcher

T = TypeVar("T")

Keep: TypeAlias = Callable[[Mapping[str, dict[str, Any]]], None]
"""Takes in answers by the identity of their jobs."""


def overlapped(
    batches: Iterable[Sequence[T]],
    do: Callable[[Sequence[T], Watcher, Keep], None],
    watcher: Watcher,
    keep: Keep,
    *,
    few: int,
    jobs: int,
) -> None:
    """Does all batches, each in a thread that waits for it.

    Args:
        batches: the cases of each; none is asked for before it is to begin.
        do: runs one to its end, whoever is told then and whoever takes in its answers.
        watcher: who is told how all of them go, in one thread at a time.
        keep: takes in the answers of all of them, in any thread.
        few: the next begins when fewer cases than this have not ended: enough for all cores until it has been resolved.
        jobs: cores. One more batch than that goes on at most: the slowest cases of all others may hold a core each. So
            what batches take of memory is bounded, however long a case lasts.

    Raises:
        whatever the first of those that failed raises, after those have ended that went on beside it; none begins then.
        RunError where the system gives too few threads.
    """
    every = _Every(watcher, keep)
    futures: list[Future[None]] = []
    with ThreadPoolExecutor(jobs + 1, thread_name_prefix="interpulse-batch") as pool:
        try:
            for batch in batches:
                while every.left() >= few:
                    wait([each for each in futures if not each.done()], POLL_S, FIRST_COMPLETED)
                if any(each.done() and each.exception() for each in futures):
                    break
                futures.append(begun(pool, every.part(len(batch)).run, do, batch))
            wait(futures)
        except BaseException:
            # Leaving the pool waits for its threads.
            every.stop.set()
            raise
    for future in futures:
        future.result()


class _Every:
    """What all batches have in common."""

    def __init__(self, watcher: Watcher, keep: Keep) -> None:
        self.watcher = watcher
        self.keep = keep
        self.stop = Event()
        self._lock = Lock()
        self._parts: list[_Part] = []

    def part(self, cases: int) -> _Part:
        """One more batch, of so many cases."""
        part = _Part(self, cases)
        with self._lock:
            self._parts.append(part)
        return part

    def over(self, part: _Part) -> None:
        """A batch has ended, however it did."""
        with self._lock:
            self._parts.remove(part)

    def left(self) -> int:
        """Cases that have not ended."""
        with self._lock:
            return sum(part.left for part in self._parts)

    def tell(self) -> None:
        """Tells how all of them go."""
        with self._lock:
            self.watcher.progress([case for part in self._parts for case in part.cases])


class _Part:
    """One batch: who is told how it goes, and who takes in its answers."""

    def __init__(self, of: _Every, cases: int) -> None:
        self.left = cases
        self.cases: Sequence[Progress] = ()
        self._of = of

    def run(self, do: Callable[[Sequence[T], Watcher, Keep], None], batch: Sequence[T]) -> None:
        """Does it."""
        try:
            do(batch, self, self._keep)
        finally:
            self._of.over(self)

    def progress(self, cases: Sequence[Progress]) -> None:
        """Tells how all go. Raises KeyboardInterrupt where it is to end."""
        if self._of.stop.is_set():
            raise KeyboardInterrupt
        self.cases = cases
        self._of.tell()

    def note(self, line: str) -> None:
        """Passes a line of the simulator on."""
        self._of.watcher.note(line)

    def _keep(self, answers: Mapping[str, dict[str, Any]]) -> None:
        self.left -= len(answers)
        self._of.keep(answers)
