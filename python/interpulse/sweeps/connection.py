"""Connection to a scheduler, shared by concurrent studies."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from threading import Lock
from typing import TYPE_CHECKING, Self

from interpulse.sweeps import cluster

if TYPE_CHECKING:
    from interpulse.runs.runner import Watcher
    from interpulse.sweeps.cluster import Cluster

LOOK_AGAIN_S = 0.1
"""Interval at which a study that waits for the connection checks for a stop."""


class Connection:
    """Connection to the workers of a scheduler, opened with the first missing job."""

    def __init__(self, on: object) -> None:
        """Checks the address without connecting.

        Raises:
            ConfigError: `on` is not a scheduler, or Dask is not installed.
        """
        cluster.need_packages(on)
        cluster.check_place(on)
        self._on = on
        self._ends = ExitStack()
        self._lock = Lock()
        self._found: Cluster | None = None
        self._failure: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    @property
    def there(self) -> Cluster | None:
        """The cluster, None before the first connection."""
        return self._found

    def cluster(self, watcher: Watcher) -> Cluster:
        """The cluster, once a worker is available. A failure is final: later calls raise it again.

        Raises:
            ConfigError: no scheduler, or workers with another build of interpulse.
            KeyboardInterrupt: raised by the watcher.
        """

        def waiting() -> None:
            watcher.progress([])

        self._locked(waiting)
        try:
            if self._failure is not None:
                raise self._failure
            if self._found is None:
                self._found = self._ends.enter_context(cluster.remote(self._on, watcher.note, waiting))
            return self._found
        except Exception as error:
            self._failure = error
            raise
        finally:
            self._lock.release()

    def _locked(self, waiting: Callable[[], None]) -> None:
        while not self._lock.acquire(timeout=LOOK_AGAIN_S):
            waiting()
