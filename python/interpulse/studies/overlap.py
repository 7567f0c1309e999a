"""Overlapping batches of cases: a batch starts while the last cases of earlier ones still run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from interpulse.runs.runner import POLL_S
from interpulse.studies.threads import Call, Threads

if TYPE_CHECKING:
    from interpulse._core import Progress
    from interpulse.runs.runner import Watcher

T = TypeVar("T")

Keep: TypeAlias = Callable[[Mapping[str, dict[str, Any]]], None]
"""Receiver of answers by the identity of their jobs."""


def run_overlapping(
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
        batches: the cases of each; consumed one by one as batches start.
        do: runs one batch to its end, with the watcher and the receiver of its answers.
        watcher: receives the progress of all batches, from one thread at a time.
        keep: receives the answers of all batches, from any thread.
        few: the next batch starts when fewer cases than this are left, enough for all cores while it is resolved.
        jobs: cores. At most one more batch than cores runs at a time, since the slowest case of each of the others may
            hold a core; this bounds the memory of batches.

    Raises:
        the error of the first batch that failed, after the running ones have ended; no other starts.
        RunError where the system provides too few threads.
    """
    every = _Every(watcher, keep)
    calls: list[Call[None]] = []
    with Threads[None](jobs + 1) as threads:
        try:
            for batch in batches:
                while every.left() >= few:
                    threads.ended(POLL_S)
                if any(each.error for each in calls):
                    break
                calls.append(threads.submit(every.part(len(batch)).run, do, batch))
            while not all(each.done for each in calls):
                threads.ended()
        except BaseException:
            # Leaving the context waits for its threads.
            every.stop.set()
            raise
    for call in calls:
        call.result()


class _Every:
    """State shared by all batches."""

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
        """Removes a batch that has ended or failed."""
        with self._lock:
            self._parts.remove(part)

    def left(self) -> int:
        """Cases that have not ended."""
        with self._lock:
            return sum(part.left for part in self._parts)

    def report(self) -> None:
        """Reports the progress of all batches."""
        with self._lock:
            self.watcher.progress([case for part in self._parts for case in part.cases])


class _Part:
    """One batch, as a watcher and a receiver of answers."""

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
        """Reports progress. Raises KeyboardInterrupt after `stop` is set."""
        if self._of.stop.is_set():
            raise KeyboardInterrupt
        self.cases = cases
        self._of.report()

    def note(self, line: str) -> None:
        """Passes a line of the simulator on."""
        self._of.watcher.note(line)

    def _keep(self, answers: Mapping[str, dict[str, Any]]) -> None:
        self.left -= len(answers)
        self._of.keep(answers)
