"""Workloads and drives of Zambelli et al. 2021 for `suspend-tlc` and `suspend-tlc-power`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from interpulse.configuration.values import Value
from interpulse.runs.result import Result
from interpulse.studies.case import Sets

Measured: TypeAlias = "dict[str, list[Result]]"
"""Results by case name."""

DEPTHS = (16, 32, 64)
WRITES = (25, 75)
CACHES_MIB = (64, 256, 512)
LIMITS = (0, 5, 10)
"""Limits of suspends per program; 0 is without suspension."""

USUAL_MIB = 256
"""Cache of the preset, and of rows without a cache in their names."""

READINGS: dict[str, tuple[str, Sets]] = {
    "printed": (
        "nothing calibrated: 400 MT/s, entering costs nothing beyond the loop, programs of collection read nothing",
        {"part.bus-rate": "400MT/s", "part.program-suspend-entry": "0us", "ftl.imposed-reads": 0.0},
    ),
}
"""Other drives compared with the article like the preset: description and overrides."""

SENSITIVITIES: dict[str, tuple[str, Sets]] = {
    "codewords": (
        "reads move the codewords asked for; 400 MT/s, firmware 32 us; no reads of collection, no cost beyond the loop",
        {
            "part.read-transfer": "codewords",
            "part.bus-rate": "400MT/s",
            "part.program-suspend-entry": "0us",
            "host.firmware": "32us",
            "ftl.imposed-reads": 0.0,
        },
    ),
    "bus584": ("584 MT/s, which meets the baseline itself", {"part.bus-rate": "584MT/s"}),
    "no_copies": ("programs of collection read nothing", {"ftl.imposed-reads": 0.0}),
    "erases": ("collection erases, too", {"ftl.imposed-erases": True}),
    "entry0": ("entering costs nothing beyond the loop", {"part.program-suspend-entry": "0us"}),
    "exact": ("stops anywhere; entering takes 70 us and makes no progress", {"suspend.program.scheme": "exact"}),
    "annotated": (
        "the part as characterize suspend measures it: entering 5 us, resuming 60 us, word lines of 16.3 +- 0.8 loops",
        {
            "part.program-suspend-entry": "5us",
            "part.program-resume": "60us",
            "part.program-loops-sd": 0.84,
        },
    ),
    "batch": ("resumed after the reads that waited at the stop", {"suspend.program.resume": "batch"}),
    "setup": ("page buffer set-up of 20 us after each page load", {"part.buffer-setup": "20us"}),
    "frames": ("a cache of 1024 frames of 4 KiB", {"cache.size": "4MiB"}),
    "page": ("pages of a word line programmed one by one, each in t_PGM", {"part.program-mode": "page"}),
    "dies256": (
        "Table 1 read as 8 dies in each chip, two chips on a channel: 256 dies",
        {"geometry.chips-per-channel": 2, "geometry.dies-per-chip": 8},
    ),
}
"""Unprinted assumptions that change the headline: description and overrides."""

CHANGES = READINGS | SENSITIVITIES


@dataclass(frozen=True)
class Point:
    """A workload on a drive, with all limits of suspends."""

    depth: int
    writes: int
    cache_mib: int = USUAL_MIB
    sensitivity: str = ""

    @property
    def suffix(self) -> str:
        """Suffix of row names."""
        cache = "" if self.cache_mib == USUAL_MIB else f"_cache{self.cache_mib}"
        changed = f"_sens_{self.sensitivity}" if self.sensitivity in SENSITIVITIES else ""
        return f"qd{self.depth}_{self.writes}w{cache}{changed}" + (f"_{self.sensitivity}" if self.is_reading else "")

    @property
    def is_reading(self) -> bool:
        """Whether the article has figures for this point."""
        return self.sensitivity in READINGS

    def name(self, limit: int) -> str:
        """Name of the case with a limit."""
        return f"{self.suffix}_{'none' if limit == 0 else f'max{limit}'}"

    def sets(self, limit: int) -> Sets:
        """Overrides of the case with a limit."""
        sets: dict[str, Value] = {"flow.0.depth": self.depth, "flow.0.read": f"{100 - self.writes}%"}
        if self.cache_mib != USUAL_MIB:
            sets["cache.size"] = f"{self.cache_mib}MiB"
        if self == CDF:
            sets["report.histograms"] = True
        if limit:
            sets |= {"suspend.program.scheme": "loop-boundary", "suspend.program.max-suspends": limit}
        if self.sensitivity:
            changed = CHANGES[self.sensitivity][1]
            # Without suspension its other settings are illegal.
            sets |= {key: value for key, value in changed.items() if limit or not key.startswith("suspend.")}
        return sets


HEADLINE = Point(64, 25)
CDF = Point(64, 75)
"""Point of the article's Figure 12."""


IN_ALL_MIXES = ("page", "dies256")
"""Sensitivities that run with every workload: they move ranks among workloads."""

MIXES = tuple(Point(depth, writes) for writes in WRITES for depth in DEPTHS)
"""All workloads on the usual drive."""


def points() -> Iterator[Point]:
    """All points, the sensitivities last."""
    for depth in DEPTHS:
        for writes in WRITES:
            yield Point(depth, writes)
    # At other points writes never fill the smallest cache.
    for cache_mib in CACHES_MIB:
        if cache_mib != USUAL_MIB:
            yield Point(64, 75, cache_mib)
    for change in CHANGES:
        mixes = MIXES if change in IN_ALL_MIXES else (HEADLINE,)
        yield from (Point(mix.depth, mix.writes, sensitivity=change) for mix in mixes)
    # Only writes wait for frames.
    yield Point(64, 75, sensitivity="frames")
