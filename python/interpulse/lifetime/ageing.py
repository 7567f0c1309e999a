"""Age of a drive: cycles, data ages and block reads that its host writes cause, as settings of a window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interpulse._core import ConfigError
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.dataset import figure

DAY_NS = 86_400 * 10**9
YEAR_DAYS = 365
LONGEST_NS = 20 * YEAR_DAYS * DAY_NS
"""Largest data age of a configuration."""


@dataclass(frozen=True)
class Rates:
    """What the host writes cause, as one window measured it.

    Attributes:
        waf: write amplification.
        cycles: erases of a place per drive write, mean.
        stress: wear that suspensions add, as a share of these.
        reads: page reads of a block until as many blocks are closed as the drive has.
    """

    waf: float
    cycles: float
    stress: float
    reads: float

    @classmethod
    def of(cls, raw: Mapping[str, Any], values: Mapping[str, str]) -> Rates | None:
        """The rates of a result; None if its window wrote nothing."""
        waf, written = figure(raw, "ftl.waf"), figure(raw, "ftl.host_pages")
        if not isinstance(waf, int | float) or not written:
            return None
        spare = 1 + _number(raw, "capacity.over_provisioning")
        pages = _number(raw, "ftl.page_consumption.total")
        # Blocks of planes that the programs of the window fill.
        blocks = pages / int(values["part.pages-per-block"])
        stress = _number(raw, "counters.nand.suspend_stress") / 1e6 / blocks
        return cls(waf, waf / spare, stress, _number(raw, "reliability.page_reads") / blocks)

    @classmethod
    def mean(cls, every: list[Rates]) -> Rates:
        """The mean over seeds."""
        names = ("waf", "cycles", "stress", "reads")
        return cls(*(sum(getattr(each, name) for each in every) / len(every) for name in names))


@dataclass
class Ageing:
    """Wear of a drive over its life.

    Attributes:
        dwpd: drive writes per day.
        errors: whether the drive has bit errors, so that ages and reads of data matter.
        dispersion: growth of the variance of the erases of places over that of their mean.
        offset: variance that does not grow.
        bounded: variance of the erases where wear levelling bounds it; otherwise None.
        path: days and mean cycles so far, stress included, from (0, 0).
    """

    dwpd: float
    errors: bool
    dispersion: float
    offset: float = 0.0
    bounded: float | None = None
    path: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, 0.0)])

    def advance(self, day: float, rates: Rates) -> None:
        """Wears the drive until `day` at the rates of the last window."""
        begun, cycles = self.path[-1]
        self.path.append((day, cycles + (day - begun) * self.per_day(rates)))

    def per_day(self, rates: Rates) -> float:
        """Cycles per day."""
        return self.dwpd * rates.cycles * (1 + rates.stress)

    @property
    def cycles(self) -> float:
        """Mean cycles at present."""
        return self.path[-1][1]

    def day_of(self, cycles: float, rates: Rates) -> float:
        """The day with these mean cycles; beyond the path at the rates of the last window."""
        for (begun, low), (ended, high) in zip(self.path, self.path[1:], strict=False):
            if low < high and cycles <= high:
                return begun + (ended - begun) * max(0.0, cycles - low) / (high - low)
        day, last = self.path[-1]
        return day + (cycles - last) / self.per_day(rates)

    def sets(self, rates: Rates | None) -> Sets:
        """The settings of a window at the present age; `rates` of the window before, None for a new drive."""
        variance = self.offset + self.dispersion * self.cycles
        if self.bounded is not None:
            variance = min(variance, self.bounded)
        dispersion = variance / self.cycles if self.cycles else self.dispersion
        found: Sets = (
            ("precondition.wear", "drawn"),
            ("precondition.cycles", str(round(self.cycles))),
            ("precondition.cycles-dispersion", f"{min(dispersion, 1000.0):.6g}"),
        )
        if not self.errors:
            return found
        turn, reads = 0, 0.0
        if rates is not None:
            turn, reads = round(DAY_NS / (self.dwpd * rates.cycles)), rates.reads
        if turn > LONGEST_NS:
            years = turn / DAY_NS / YEAR_DAYS
            raise ConfigError(
                f"dwpd = {self.dwpd:g}: all blocks are rewritten within {years:.0f} years; expected a rate at which "
                "they are within 20 years"
            )
        ages = (("errors.initial-ages", "closed"), ("errors.initial-age", f"{turn}ns"))
        return (*found, *ages, ("errors.initial-reads", str(min(round(reads), 2**32 - 1))))


def _number(raw: Mapping[str, Any], path: str) -> float:
    found = figure(raw, path)
    return float(found) if isinstance(found, int | float) else 0.0
