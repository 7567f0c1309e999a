"""Cost of suspension: additional die time, and suspensions per operation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interpulse.runs.estimate import Estimate

SAME = 0.001
"""Die time that differs by less is the same cost."""

_EXTRA = ("entry_time", "resume_time", "reload_time", "ramp_time", "program_redone_time", "erase_redone_time")
_OWED = ("program_owed_time", "erase_owed_time")


@dataclass(frozen=True, order=True)
class Cost:
    """In the order in which costs are compared.

    Attributes:
        steps: `extra` in steps of `SAME`.
        suspends: suspensions of a program plus those of an erase, in the mean.
        extra: die time of entering, leaving, reloading, doing again and ramps, as a share of the pulses that programs
            and erases need anyway.
    """

    steps: int
    suspends: float
    extra: float

    @classmethod
    def of(cls, extra: float, suspends: float) -> Cost:
        """A cost."""
        return cls(round(extra / SAME), suspends, extra)

    def with_(self, other: Cost) -> Cost:
        """What two ways cost together, as far as the one does not change the other."""
        return Cost.of(self.extra + other.extra, self.suspends + other.suspends)

    def to_dict(self) -> dict[str, float]:
        """As JSON."""
        return {"extra_die_time": self.extra, "suspends": self.suspends}


def extra(raw: Mapping[str, Any]) -> float:
    """The die time that suspending took, as a share of what programs and erases need anyway."""
    nand = raw["counters"]["nand"]
    owed = sum(nand.get(name, 0) for name in _OWED)
    return sum(nand.get(name, 0) for name in _EXTRA) / owed if owed else 0.0


def suspends(raw: Mapping[str, Any], operations: Sequence[str]) -> float:
    """Suspensions of an operation in the mean, added over these operations."""
    nand = raw["nand"]
    return math.fsum(nand["suspends"][of] / nand[f"{of}s"] if nand.get(f"{of}s") else 0.0 for of in operations)


def cost_of(cases: Sequence[Sequence[Mapping[str, Any]]], operations: Sequence[str]) -> Cost:
    """The largest of several cases, each with a result for each seed."""
    means = [
        (math.fsum(map(extra, raws)) / len(raws), math.fsum(suspends(raw, operations) for raw in raws) / len(raws))
        for raws in cases
    ]
    return Cost.of(max(each[0] for each in means), max(each[1] for each in means))


@dataclass(frozen=True)
class Ratio:
    """A figure of one configuration over that of another: the geometric mean over paired seeds, and its interval."""

    value: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, ours: Sequence[float | None], theirs: Sequence[float | None]) -> Ratio | None:
        """Pairs of the same seed; None where a figure is missing or not positive."""
        ratios = [a / b for a, b in zip(ours, theirs, strict=True) if a and b and a > 0 and b > 0]
        if len(ratios) < len(ours) or not ratios:
            return None
        found = Estimate.geometric(ratios)
        return cls(found.value, found.low, found.high)

    def text(self) -> str:
        """Such as `0.43 (0.42 to 0.44)`."""
        between = "" if self.low is None else f" ({self.low:.3g} to {self.high:.3g})"
        return f"{self.value:.3g}{between}"
