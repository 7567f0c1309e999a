"""Cost of suspension: additional die time, and suspensions per operation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interpulse.runs.estimate import Estimate

SAME = 0.001
"""Smallest difference in die time that counts as a different cost."""

_EXTRA = ("entry_time", "resume_time", "reload_time", "ramp_time", "program_redone_time", "erase_redone_time")
_OWED = ("program_owed_time", "erase_owed_time")


@dataclass(frozen=True, order=True)
class Cost:
    """Cost, with fields in order of comparison.

    Attributes:
        steps: `extra` in steps of `SAME`.
        suspends: mean number of suspensions of a program plus that of an erase.
        extra: die time of entries, resumes, reloads, repeated work and ramps, as a share of the pulses that programs
            and erases need without suspension.
    """

    steps: int
    suspends: float
    extra: float

    @classmethod
    def of(cls, extra: float, suspends: float) -> Cost:
        """Builds a cost."""
        return cls(round(extra / SAME), suspends, extra)

    def with_(self, other: Cost) -> Cost:
        """Combined cost of two variants, assuming that they do not interact."""
        return Cost.of(self.extra + other.extra, self.suspends + other.suspends)

    def to_dict(self) -> dict[str, float]:
        """As JSON."""
        return {"extra_die_time": self.extra, "suspends": self.suspends}


def extra(raw: Mapping[str, Any]) -> float:
    """Die time of suspension as a share of the time that programs and erases need without it."""
    nand = raw["counters"]["nand"]
    owed = sum(nand.get(name, 0) for name in _OWED)
    return sum(nand.get(name, 0) for name in _EXTRA) / owed if owed else 0.0


def suspends(raw: Mapping[str, Any], operations: Sequence[str]) -> float:
    """Mean number of suspensions per operation, summed over these operations."""
    nand = raw["nand"]
    return math.fsum(nand["suspends"][of] / nand[f"{of}s"] if nand.get(f"{of}s") else 0.0 for of in operations)


def cost_of(cases: Sequence[Sequence[Mapping[str, Any]]], operations: Sequence[str]) -> Cost:
    """The largest cost of several cases, each with one result per seed."""
    means = [
        (math.fsum(map(extra, raws)) / len(raws), math.fsum(suspends(raw, operations) for raw in raws) / len(raws))
        for raws in cases
    ]
    return Cost.of(max(each[0] for each in means), max(each[1] for each in means))


@dataclass(frozen=True)
class Ratio:
    """Ratio of a figure of two configurations: geometric mean over paired seeds, with its interval."""

    value: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, ours: Sequence[float | None], theirs: Sequence[float | None]) -> Ratio | None:
        """Pairs values of the same seed; None if a figure is missing or not positive."""
        ratios = [a / b for a, b in zip(ours, theirs, strict=True) if a and b and a > 0 and b > 0]
        if len(ratios) < len(ours) or not ratios:
            return None
        found = Estimate.geometric(ratios)
        return cls(found.value, found.low, found.high)

    def text(self) -> str:
        """Text such as `0.43 (0.42 to 0.44)`."""
        between = "" if self.low is None else f" ({self.low:.3g} to {self.high:.3g})"
        return f"{self.value:.3g}{between}"
