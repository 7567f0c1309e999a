"""Threads of a study: calls and their ends pass through queues, so that Ctrl-C cannot leave a lock held.

`concurrent.futures` holds locks of `threading.Condition`, which Python code acquires: a `KeyboardInterrupt` between the
acquisition and the `with` block leaves such a lock held, and a thread that needs it waits forever. The thread that
receives Ctrl-C uses `SimpleQueue` here, which the interpreter implements without that gap.
"""

from __future__ import annotations

from _thread import start_new_thread
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Generic, Self, TypeVar

from interpulse._core import RunError

T = TypeVar("T")


POLL_S = 0.1
"""Longest delay where Ctrl-C has taken the notice of an ended call out of its queue."""


class Call(Generic[T]):
    """A submitted call.

    Attributes:
        begun: whether a thread has taken it, and it is not cancelled.
        done: whether it has ended; a cancelled call never does.
        error: what it raised, or None.
    """

    def __init__(self, function: Callable[..., T], given: tuple[Any, ...]) -> None:
        self.begun = False
        self.done = False
        self.error: BaseException | None = None
        self._function = function
        self._given = given

    def run(self) -> None:
        """Makes the call in this thread."""
        try:
            self._result = self._function(*self._given)
        except BaseException as error:  # noqa: BLE001 - `result` raises it
            self.error = error
        self.done = True

    def result(self) -> T:
        """The result of a call that has ended; raises its error."""
        if self.error is not None:
            raise self.error
        return self._result


class Threads(Generic[T]):
    """Threads that make calls in the order of submission; leaving the context waits for those that run.

    After an exception in the context, calls that have not begun are cancelled.
    """

    def __init__(self, most: int) -> None:
        """Starts no thread yet; at most `most` run at a time."""
        self._most = most
        self._waiting: SimpleQueue[Call[T] | None] = SimpleQueue()
        self._ended: SimpleQueue[Call[T]] = SimpleQueue()
        self._calls: list[Call[T]] = []
        self._cancelled = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._cancelled = True
        self._wait()

    def submit(self, function: Callable[..., T], *given: Any) -> Call[T]:  # noqa: ANN401 - as the function takes them
        """Submits a call. Raises RunError where the system provides no thread."""
        if len(self._calls) < self._most:
            try:
                # `Thread.start` waits for a `Condition` (see the top of the file).
                start_new_thread(self._serve, ())
            except RuntimeError as error:
                raise RunError(f"the system provides no more threads or memory ({error}): use fewer --jobs") from None
        call = Call(function, given)
        self._calls.append(call)
        self._waiting.put(call)
        return call

    def ended(self, timeout_s: float | None = None) -> list[Call[T]]:
        """Calls that have ended since the last time: at least one, or none after the timeout."""
        ended = []
        try:
            ended.append(self._ended.get(timeout=timeout_s))
            while True:
                ended.append(self._ended.get_nowait())
        except Empty:
            return ended

    def cancel(self) -> None:
        """Cancels calls that have not begun, and waits for those that run."""
        self._cancelled = True
        self._wait()

    def _wait(self) -> None:
        """Waits for all calls and ends the threads; a Ctrl-C meanwhile is raised after that."""
        self._waiting.put(None)
        interrupt = None
        while self._running():
            try:
                self._ended.get(timeout=POLL_S)
            except Empty:
                continue
            except KeyboardInterrupt as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def _running(self) -> bool:
        if self._cancelled:
            return any(call.begun and not call.done for call in self._calls)
        return not all(call.done for call in self._calls)

    def _serve(self) -> None:
        while (call := self._waiting.get()) is not None:
            call.begun = True  # Before the test: who cancels sees it, or this thread sees the cancellation.
            if self._cancelled:
                call.begun = False
            else:
                call.run()
                self._ended.put(call)
        self._waiting.put(None)  # For the next thread.
