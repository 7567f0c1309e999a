"""Age of a drive: cycles, data ages and block reads that its host writes cause, as settings of a window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interpulse._core import ConfigError
from interpulse.lifetime.profile import YEAR_DAYS, Past, Profile
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.dataset import figure

DAY_NS = 86_400 * 10**9
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
        dwpd: drive writes per day before the present.
        errors: whether the drive has bit errors, so that ages and reads of data matter.
        dispersion: growth of the variance of the erases of places over that of their mean.
        offset: variance that does not grow.
        bounded: variance of the erases where wear levelling bounds it; otherwise None.
        path: days and mean cycles so far, stress included, from (0, 0).
        profile: loads to come; None if the load does not change.
    """

    dwpd: float
    errors: bool
    dispersion: float
    offset: float = 0.0
    bounded: float | None = None
    path: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, 0.0)])
    profile: Profile | None = None

    def advance(self, day: float, rates: Rates) -> None:
        """Wears the drive until `day` at the rates of the last window."""
        begun, cycles = self.path[-1]
        self.path.append((day, cycles + (day - begun) * self.per_day(rates)))

    def rest(self, day: float) -> None:
        """Leaves the drive without power until `day`."""
        self.path.append((day, self.cycles))

    def per_day(self, rates: Rates, dwpd: float | None = None) -> float:
        """Cycles per day."""
        return (self.dwpd if dwpd is None else dwpd) * rates.cycles * (1 + rates.stress)

    @property
    def cycles(self) -> float:
        """Mean cycles at present."""
        return self.path[-1][1]

    def day_of(self, cycles: float, rates: Rates) -> float:
        """The day with these mean cycles, beyond the path at the rates of the last window; infinite if never."""
        for (begun, low), (ended, high) in zip(self.path, self.path[1:], strict=False):
            if low < high and cycles <= high:
                return begun + (ended - begun) * max(0.0, cycles - low) / (high - low)
        day, last = self.path[-1]
        left = cycles - last
        for begin, end, period in (self.profile or Profile.of(None, 1, self.dwpd)).spans(day):
            rate = self.per_day(rates, period.dwpd)
            if period.power and left <= rate * (end - begin):
                return begin + left / rate
            left -= rate * (end - begin) if period.power else 0.0
        return math.inf

    def turn(self, rates: Rates) -> float:
        """Days in which all blocks are rewritten."""
        return 1 / (self.dwpd * rates.cycles)

    def sets(self, rates: Rates | None, past: Past | None = None) -> Sets:
        """The settings of a window at the present age.

        Args:
            rates: those of the window before, None for a new drive.
            past: in what time the data aged; None if nothing changed.
        """
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
        off: Sets = ()
        if past is not None:
            turn = min(round(turn * past.factor), LONGEST_NS)
            if past.off_days:
                length = min(round(past.off_days * DAY_NS), LONGEST_NS)
                off = (("errors.initial-off", f"{length}ns"), ("errors.initial-off-since", f"{past.since:.6g}"))
        ages = (("errors.initial-ages", "closed"), ("errors.initial-age", f"{turn}ns"), *off)
        return (*found, *ages, ("errors.initial-reads", str(min(round(reads), 2**32 - 1))))


def _number(raw: Mapping[str, Any], path: str) -> float:
    found = figure(raw, path)
    return float(found) if isinstance(found, int | float) else 0.0
