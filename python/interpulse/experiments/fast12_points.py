"""Points of `fast12`: workloads, drives, policies, speeds, and their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interpulse.runs.result import Result
from interpulse.studies.case import Sets

if TYPE_CHECKING:
    from interpulse.runs.latency import Kind

CELLS = ("slc", "mlc")

_READS_FIRST: Sets = {"schedule.policy": "read-priority"}
_ERASE: Sets = {"suspend.erase.scheme": "pulse-remainder"}

POLICIES: Mapping[str, Sets] = {
    "fifo": {},
    "rps": _READS_FIRST,
    "per": {**_READS_FIRST, "schedule.long-operations": "as-read"},
    "pe0": {**_READS_FIRST, "schedule.long-operations": "zero"},
    "ips": {**_READS_FIRST, **_ERASE, "suspend.program.scheme": "inter-phase"},
    "ipc": {**_READS_FIRST, **_ERASE, "suspend.program.scheme": "intra-phase-cancel"},
    "wser": {
        **_READS_FIRST,
        **_ERASE,
        "suspend.program.scheme": "intra-phase-cancel",
        "suspend.erase.for-host-writes": True,
        # Reads keep the highest priority, even over a write inside an erase.
        "part.suspend-support": "nested",
        "suspend.nesting": True,
    },
}
"""First-in first-out; read priority; programs and erases as long as a read, or of no length; the paper's two program
suspensions with its erase suspension; the same with erases that writes suspend."""

SPEEDS = (0.5, 1.0, 2.0, 3.0, 4.0)
"""Speeds of the traces. At the calibrated one, programs and erases double the read latency."""

CONTENTION = 2.0
"""Printed factor by which programs and erases lengthen reads."""

SWEPT = ("fifo", "rps", "pe0", "ipc")
"""Policies that run at all speeds."""

DEPTH = 3
"""Calibrated `ftl.gc-depth` of the configuration files."""
DEPTHS = (2, 4)
"""Other depths, as sensitivities."""

ROWS = 60_000
"""Replayed rows of a real trace: the file server writes little before row 30,000."""

SUSPENSION = ("fifo", "rps", "ipc")
"""Policies that the headlines compare."""

JSA14 = (2.0, 8)
"""Speed and `ftl.gc-depth`, calibrated on the pair of figures in JSA'14."""

JSA14_POLICIES = ("fifo", "rps", "wser")
"""Policies that this pair compares."""

TOLERANCE = 5.0
"""Maximum distance from the printed figure in percentage points."""


@dataclass(frozen=True)
class Workload:
    """A trace of the paper.

    Attributes:
        name: the paper's name, in lower case.
        twin: row or file of its statistical twin.
        trace: file in `INTERPULSE_TRACES`, if any.
    """

    name: str
    twin: str
    trace: str | None = None


WORKLOADS = (
    Workload("f1", "financial-1", "financial1_first10k.disksim.zst"),
    Workload("f2", "financial-2"),
    Workload("dap", "dap.toml"),
    Workload("msn", "msn", "msn_fileserver_disk5.ssdsim-ms.zst"),
    Workload("c3", "cello-3"),
    Workload("c8", "cello-8"),
)


@dataclass(frozen=True)
class Point:
    """A bar group of the paper's figures: a workload on a drive, at a speed."""

    cell: str
    workload: str
    speed: float
    depth: int = DEPTH

    def name(self, policy: str) -> str:
        """Name of the case under a policy."""
        depth = "" if self.depth == DEPTH else f"_depth{self.depth}"
        return f"{self.cell}_{self.workload}_x{self.speed:g}{depth}_{policy}"


def points(speed: float, depth: int = DEPTH) -> Iterator[Point]:
    """Twelve bar groups at one speed, in the order of the slides."""
    for cell in CELLS:
        for workload in WORKLOADS:
            yield Point(cell, workload.name, speed, depth)


class Measured:
    """Results by point and policy."""

    def __init__(self, results: Mapping[str, list[Result]]) -> None:
        self._results = results

    def latency(self, point: Point, policy: str, kind: Kind) -> list[float]:
        """Mean latency in microseconds, one value per repetition."""
        return [result.latency_us[kind]["mean"] for result in self._results[point.name(policy)]]

    def ratio(self, point: Point, policy: str, base: str, kind: Kind = "read") -> list[float]:
        """Ratio of mean latencies under two policies, one value per repetition."""
        pairs = zip(self.latency(point, policy, kind), self.latency(point, base, kind), strict=True)
        return [ours / theirs for ours, theirs in pairs]

    def mean_ratio(self, at: Iterable[Point], policy: str, base: str, kind: Kind = "read") -> list[float]:
        """Mean of the ratios over points."""
        ratios = [self.ratio(point, policy, base, kind) for point in at]
        return [sum(each) / len(each) for each in zip(*ratios, strict=True)]
