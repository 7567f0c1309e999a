"""Interface of a database under load on a mounted drive."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

READ = "read"
UPDATE = "update"

KINDS = (READ, UPDATE)
"""Kinds of transactions."""

SHARE_OF_READS = 0.75
"""Share of the transactions that only read."""


@dataclass(frozen=True)
class Load:
    """A load in wall time.

    Attributes:
        rate: transactions per second, which arrive as a Poisson process whatever becomes of earlier ones.
        warm_up: seconds before the window.
        window: seconds that are measured.
        seed: of accounts, kinds and arrivals.
    """

    rate: float
    warm_up: float
    window: float
    seed: int


Latencies = Mapping[str, Sequence[float]]
"""Wall seconds from the arrival of each transaction of the window to the answer to its commit, by kind."""


class Workload(Protocol):
    """A database and its load."""

    @property
    def programs(self) -> Sequence[str]:
        """Programs that it needs beside those of a file system."""

    def prepare(self, place: Path) -> None:
        """Makes the database below `place`."""

    def run(self, place: Path, load: Load, watch: Callable[[float], None]) -> Latencies:
        """Runs the load on the database below `place`; calls `watch` several times a second with the seconds so far.

        Raises:
            RunError: the database failed.
        """
