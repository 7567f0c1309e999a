"""Figures of flows in fio's terms, from the rows of all requests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError, Handle, Plan
from interpulse.configuration.extras import require
from interpulse.logs.columns import Rows
from interpulse.logs.options import LogOptions
from interpulse.logs.recording import Taking
from interpulse.runs.fio.histogram import BUCKETS, bucket_of

if TYPE_CHECKING:
    import numpy as np

KINDS = ("read", "write", "trim", "flush")
SAMPLE_NS = 500_000_000
"""Length of fio's samples of bandwidth and requests (bwavgtime)."""

LAT_NS = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
LAT_MS = (*LAT_NS, 2000)
DEPTHS = (2, 4, 8, 16, 32, 64)


@dataclass
class Kind:
    """Requests of a kind of one flow; latencies in ns.

    Attributes:
        counts: by bucket of fio's histogram.
        samples: bytes and requests that ended in each sample of the flow's time.
    """

    requests: int = 0
    bytes: int = 0
    total: int = 0
    squares: float = 0.0
    least: int = 0
    most: int = 0
    counts: list[int] = field(default_factory=lambda: [0] * BUCKETS)
    samples: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, other: Kind) -> None:
        """Adds requests of another flow; samples are kept apart."""
        if not other.requests:
            return
        self.least = min(self.least, other.least) if self.requests else other.least
        self.most = max(self.most, other.most)
        self.requests += other.requests
        self.bytes += other.bytes
        self.total += other.total
        self.squares += other.squares
        self.counts = [a + b for a, b in zip(self.counts, other.counts, strict=True)]

    @property
    def mean(self) -> float:
        """Mean latency."""
        return self.total / self.requests if self.requests else 0.0

    @property
    def deviation(self) -> float:
        """Standard deviation of the sample."""
        if self.requests < 2:
            return 0.0
        return math.sqrt(max(0.0, self.squares - self.total * self.mean) / (self.requests - 1))


@dataclass
class FlowFigures:
    """Requests of one flow.

    Attributes:
        end_ns: when its last request ended, from the beginning of the window.
        times: arrivals and ends of all reads, writes and trims.
        levels: latencies by fio's limits: 10 of ns, 10 of us, 12 of ms.
    """

    kinds: dict[str, Kind] = field(default_factory=lambda: {kind: Kind() for kind in KINDS})
    end_ns: int = 0
    times: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = field(default_factory=list)
    levels: list[int] = field(default_factory=lambda: [0] * (len(LAT_NS) * 2 + len(LAT_MS) + 1))

    def depths(self) -> list[int]:
        """Requests by the number outstanding at their submission, themselves included: 1, 2 to 3, ... 64 and more."""
        import numpy as np

        levels = np.searchsorted(np.array(DEPTHS), self._outstanding(), side="right")
        return [int(count) for count in np.bincount(levels, minlength=len(DEPTHS) + 1)]

    def most_outstanding(self) -> int:
        """Most requests outstanding at a time."""
        return int(self._outstanding().max(initial=0))

    def _outstanding(self) -> np.ndarray[Any, Any]:
        """Requests outstanding at each submission, itself included."""
        import numpy as np

        if not self.times:
            return np.zeros(0, np.int64)
        arrivals = np.sort(np.concatenate([each for each, _ in self.times]))
        ends = np.sort(np.concatenate([each for _, each in self.times]))
        return np.arange(1, len(arrivals) + 1) - np.searchsorted(ends, arrivals, side="right")


class FioRecording:
    """Recording of one case for fio's output; it takes the place of `logs.recording.Recording`.

    Attributes:
        flows: figures by the name of the flow.
    """

    def __init__(self, plan: Plan, starts_ns: Callable[[str], int]) -> None:
        """`starts_ns`: start of a flow from the beginning of the window, by its name.

        Raises:
            ConfigError: numpy is missing, or the plan has several cases.
        """
        require("numpy", "frames", "--output-format fio-json")
        if len(plan.case_names) > 1:
            raise ConfigError(
                f"--output-format: seen {len(plan.case_names)} cases; fio's output is of one: expected --case with "
                f"one of {', '.join(plan.case_names)}"
            )
        self.plan = plan
        self.asked = LogOptions.of(["requests"], None, None)
        self.names: list[str] = []
        self.notes: list[str] = []
        self.problems: list[str] = []
        self.following = False
        self.flows: dict[str, FlowFigures] = {}
        self._starts_ns = starts_ns

    def records(self) -> list[str]:
        """The recording request of the case: all requests."""
        return [self.asked.record()]

    def records_of_second(self) -> list[str]:
        """There is no second run."""
        return []

    def taking(self, handle: Handle) -> AbstractContextManager[object]:
        """Takes rows from a run inside the context."""
        return Taking(handle, self.take, self.problems)

    def finish(self) -> None:
        """Nothing is open."""

    def take(self, rows: Rows) -> None:
        """Takes rows of requests."""
        if rows.table != "requests":
            return
        import numpy as np

        columns = rows.columns
        flow, kind = columns["flow"], columns["kind"]
        arrival, latency = columns["arrival_ns"].numbers(), columns["latency_ns"].numbers()
        size = columns["size_bytes"].numbers()
        for number in np.unique(flow.numbers()):
            name = flow.names[number]
            figures = self.flows.setdefault(name, FlowFigures())
            of_flow = flow.numbers() == number
            start = self._starts_ns(name)
            for code in np.unique(kind.numbers()[of_flow]):
                word = kind.names[code]
                if word not in KINDS:
                    continue
                chosen = of_flow & (kind.numbers() == code)
                _add(figures, word, arrival[chosen] - start, latency[chosen], size[chosen])


def _add(
    figures: FlowFigures,
    word: str,
    arrival: np.ndarray[Any, Any],
    latency: np.ndarray[Any, Any],
    size: np.ndarray[Any, Any],
) -> None:
    import numpy as np

    kind, ends = figures.kinds[word], arrival + latency
    counts = np.bincount(bucket_of(latency), minlength=BUCKETS)
    part = Kind(
        len(latency),
        int(size.sum()),
        int(latency.sum()),
        float((latency.astype(np.float64) ** 2).sum()),
        int(latency.min()),
        int(latency.max()),
        [int(count) for count in counts],
    )
    kind.add(part)
    figures.end_ns = max(figures.end_ns, int(ends.max()))
    if word == "flush":
        return
    places = np.maximum(ends, 0) // SAMPLE_NS
    for place in np.unique(places):
        of_place = places == place
        seen_bytes, seen = kind.samples.get(int(place), (0, 0))
        kind.samples[int(place)] = seen_bytes + int(size[of_place].sum()), seen + int(of_place.sum())
    figures.times.append((arrival.copy(), ends))
    for first, unit, limits in ((0, 1, LAT_NS), (10, 1000, LAT_NS), (20, 1_000_000, LAT_MS)):
        within = latency >= unit if unit > 1 else latency >= 0
        if unit < 1_000_000:
            within &= latency < 1000 * unit
        levels = np.searchsorted(np.array(limits), latency[within] // unit, side="right")
        for place, count in enumerate(np.bincount(levels, minlength=len(limits) + 1)):
            # Nothing is beyond the last limit of ns and us.
            if count:
                figures.levels[first + place] += int(count)


def merged(flows: Sequence[FlowFigures], word: str) -> Kind:
    """Requests of a kind of several flows."""
    found = Kind()
    for flow in flows:
        found.add(flow.kinds[word])
    return found
