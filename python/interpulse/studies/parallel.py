"""Parallel studies and seeds: a thread each, which plans, waits and evaluates.

Their jobs run wherever a core is idle. Tasks are ordered: a core goes to the first task with a job for it, so that
later tasks use the cores that the slowest cases of earlier ones leave idle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event
from typing import TypeVar

from interpulse.studies.threads import Threads

T = TypeVar("T")


def run_parallel(tasks: Sequence[Callable[[], T]], jobs: int, stop: Event) -> list[T]:
    """The results of tasks, in their order. A failed task does not stop the others.

    Args:
        tasks: a single task runs in the calling thread.
        jobs: cores. Twice as many tasks run at a time: while half of them have one case left, the others plan or have
            more.
        stop: set when this thread is interrupted, as by Ctrl-C; tasks check it, and this call waits for them.

    Raises:
        the error of the first task that failed; RunError where the system provides too few threads.
    """
    if len(tasks) == 1:
        return [tasks[0]()]
    with Threads[T](min(len(tasks), 2 * jobs)) as threads:
        try:
            calls = [threads.submit(task) for task in tasks]
            left = len(calls)
            while left:
                left -= len(threads.ended())
        except BaseException:
            stop.set()
            raise
    return [call.result() for call in calls]
