"""The workloads and drives of Zambelli et al. 2021 that `suspend-tlc` and `suspend-tlc-power` simulate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interpulse.result import Result
    from interpulse.studies.case import Sets
    from interpulse.values import Value

Measured: TypeAlias = "dict[str, list[Result]]"
"""The results by the name of their case."""

DEPTHS = (16, 32, 64)
WRITES = (25, 75)
CACHES_MIB = (64, 256, 512)
LIMITS = (0, 5, 10)
"""Most suspends of a program; 0 is without suspension."""

USUAL_MIB = 256
"""The preset's cache: that of the rows whose name says none."""

SENSITIVITIES: dict[str, tuple[str, Sets]] = {
    "entry70": ("suspend entry of 70 us", {"part.program-suspend-entry": "70us"}),
    "entry125": ("suspend entry of 125 us, one ISPP loop", {"part.program-suspend-entry": "125us"}),
    "bus1200": (
        "1200 MT/s, firmware calibrated anew to 66 us",
        {"part.bus-rate": "1200MT/s", "host.firmware": "66us"},
    ),
    "entry125_bus1200": (
        "suspend entry of 125 us, 1200 MT/s, firmware 66 us",
        {"part.program-suspend-entry": "125us", "part.bus-rate": "1200MT/s", "host.firmware": "66us"},
    ),
    "annotated": (
        "the part as characterize suspend measures it: entering 5 us, resuming 60 us, word lines of 16.3 +- 0.8 loops",
        {
            "part.program-suspend-entry": "5us",
            "part.program-resume": "60us",
            "part.program-loops-sd": 0.84,
        },
    ),
    "exact70": (
        "stops anywhere, entering takes 70 us and makes no progress",
        {"suspend.program.scheme": "exact", "part.program-suspend-entry": "70us"},
    ),
    "batch": ("resumed after the reads that waited at the stop", {"suspend.program.resume": "batch"}),
    "one_read": (
        "resumed after each read: resume = timer, 1 ns after the read",
        {"suspend.program.resume": "timer", "suspend.program.resume-after": "1ns"},
    ),
    "batch_entry70": (
        "resumed after the reads that waited at the stop, suspend entry of 70 us",
        {"suspend.program.resume": "batch", "part.program-suspend-entry": "70us"},
    ),
    "batch_entry70_bus1200": (
        "the same with 1200 MT/s, firmware 66 us",
        {
            "suspend.program.resume": "batch",
            "part.program-suspend-entry": "70us",
            "part.bus-rate": "1200MT/s",
            "host.firmware": "66us",
        },
    ),
    "fifo": ("first-in first-out instead of read priority", {"schedule.policy": "fifo"}),
    "spread": ("program loops of word lines with a standard deviation of 1", {"part.program-loops-sd": 1.0}),
}
"""What the article does not print and what moves its headline: in words, and as overrides."""


@dataclass(frozen=True)
class Point:
    """One workload on one drive, with every limit of suspends."""

    depth: int
    writes: int
    cache_mib: int = USUAL_MIB
    sensitivity: str = ""

    @property
    def suffix(self) -> str:
        """How the names of its rows end."""
        cache = "" if self.cache_mib == USUAL_MIB else f"_cache{self.cache_mib}"
        return f"qd{self.depth}_{self.writes}w{cache}" + (f"_sens_{self.sensitivity}" if self.sensitivity else "")

    def name(self, limit: int) -> str:
        """The name of its case with a limit."""
        return f"{self.suffix}_{'none' if limit == 0 else f'max{limit}'}"

    def sets(self, limit: int) -> Sets:
        """The overrides of that case."""
        sets: dict[str, Value] = {
            "flow.0.depth": self.depth,
            "flow.0.read": f"{100 - self.writes}%",
            "cache.size": f"{self.cache_mib}MiB",
        }
        if self == CDF:
            sets["report.histograms"] = True
        if limit:
            sets |= {"suspend.program.scheme": "loop-boundary", "suspend.program.max-suspends": limit}
        if self.sensitivity:
            changed = SENSITIVITIES[self.sensitivity][1]
            # Without suspension there is nothing to say about how it is done.
            sets |= {key: value for key, value in changed.items() if limit or not key.startswith("suspend.")}
        return sets


HEADLINE = Point(64, 25)
CDF = Point(64, 75)
"""The point of the article's Figure 12."""


MIXES = tuple(Point(depth, writes) for writes in WRITES for depth in DEPTHS)
"""Every workload on the usual drive."""


def points() -> Iterator[Point]:
    """Every point, the sensitivities last."""
    for cache_mib in (USUAL_MIB, *(size for size in CACHES_MIB if size != USUAL_MIB)):
        for depth in DEPTHS:
            for writes in WRITES:
                yield Point(depth, writes, cache_mib)
    for sensitivity in SENSITIVITIES:
        yield Point(HEADLINE.depth, HEADLINE.writes, sensitivity=sensitivity)
