"""Studies, or seeds of one, that go on side by side: each in a thread that plans, waits and evaluates.

What they have done goes on where a core is idle. They have an order: a core goes to the first that has something for
it, so that what comes later fills what the slowest cases of those before it leave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event
from typing import Any, TypeVar

from interpulse._core import RunError

T = TypeVar("T")


def side_by_side(tasks: Sequence[Callable[[], T]], jobs: int, stop: Event) -> list[T]:
    """What tasks come to, in their order. One that fails keeps none of the others from its end.

    Args:
        tasks: what to do; only one is done in this thread itself.
        jobs: for how many cores. Twice as many tasks go on at a time: while as many as there are cores have one case
            left, the others plan or have more.
        stop: set where this thread is to end before they do, as by Ctrl-C; tasks look at it, and are waited for.

    Raises:
        whatever the first of those that failed raises; RunError where the system gives too few threads.
    """
    if len(tasks) == 1:
        return [tasks[0]()]
    with ThreadPoolExecutor(min(len(tasks), 2 * jobs), thread_name_prefix="interpulse-study") as pool:
        try:
            futures = [begun(pool, task) for task in tasks]
            wait(futures)
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def begun(pool: ThreadPoolExecutor, task: Callable[..., T], *given: Any) -> Future[T]:  # noqa: ANN401 - as it takes them
    """Has a pool do something. Raises RunError where the system gives no thread for it."""
    try:
        return pool.submit(task, *given)
    except RuntimeError as error:
        raise RunError(f"the system gives no more threads or memory for them ({error}): use fewer --jobs") from None
