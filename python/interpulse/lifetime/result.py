"""Result of a life: figures of each window with intervals over seeds, and the end of each seed's drive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interpulse.lifetime.profile import Period, Profile
from interpulse.runs.estimate import Estimate

FIGURES: Mapping[str, str] = {
    "read_mean_us": "latency_us.read.mean",
    "read_p99_us": "latency_us.read.p99",
    "read_p99_9_us": "latency_us.read.p99.9",
    "read_p99_99_us": "latency_us.read.p99.99",
    "write_p99_us": "latency_us.write.p99",
    "write_p99_9_us": "latency_us.write.p99.9",
    "iops": "iops",
    "waf": "ftl.waf",
    "raw_bit_error_rate": "reliability.raw_bit_error_rate",
    "retried_share": "reliability.retried_share",
    "retry_steps_mean": "reliability.retry_steps_mean",
    "uncorrectable_reads": "reliability.uncorrectable.reads",
    "refreshed_blocks": "reliability.refreshed_blocks",
    "reclaimed_blocks": "reliability.reclaimed_blocks",
    "program_suspends": "nand.suspends.program",
    "erase_suspends": "nand.suspends.erase",
    "suspend_stress": "counters.wear.suspend_cycles",
    "power_mw": "power.mean_mw.total",
    "uj_per_request": "power.per_request_uj.total",
    "cycles_max": "counters.wear.cycles_max",
    "bad_blocks": "smart.grown_bad_blocks",
    "spare_blocks": "smart.spare_blocks",
}
"""Figures of a window: the name, and the path in a result (docs/RESULTS.md)."""


@dataclass(frozen=True)
class Age:
    """A window of full simulation.

    Attributes:
        day: age in days.
        drive_writes: host writes so far, in capacities.
        cycles: mean erases of a place so far, wear by suspensions included.
        seeds: seeds whose drives still live, ascending.
        values: values of each figure, in the order of the seeds.
    """

    day: float
    drive_writes: float
    cycles: float
    seeds: tuple[int, ...]
    values: Mapping[str, tuple[float, ...]]

    def estimate(self, figure: str) -> Estimate | None:
        """Mean and 95 % interval over seeds; None if the drive has no such figure."""
        found = self.values.get(figure)
        return Estimate.of(found) if found else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON; figures that the drive does not have are absent."""
        figures = {}
        for name, values in self.values.items():
            mean = Estimate.of(values)
            bounds = {} if mean.low is None else {"low": mean.low, "high": mean.high}
            figures[name] = {"mean": mean.value, **bounds, "values": list(values)}
        return {
            "day": self.day,
            "drive_writes": self.drive_writes,
            "cycles": self.cycles,
            "seeds": list(self.seeds),
            "figures": figures,
        }


@dataclass(frozen=True)
class End:
    """End of the drive of a seed.

    Attributes:
        day: when; of the ECC, the window with the first uncorrectable read of the host.
        why: `reserve` or `ecc`.
        after: the last day without it.
        reached: whether the life is as long; otherwise the day is extrapolated.
    """

    seed: int
    day: float
    why: str
    after: float
    reached: bool

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"seed": self.seed, "day": self.day, "why": self.why, "after": self.after, "reached": self.reached}


@dataclass
class Lifetime:
    """Life of the drive of a case.

    Attributes:
        case: name of the case.
        ages: its windows, by age.
        ends: ends of drives, by seed; a drive without an end is absent.
        dispersion: growth of the variance of the erases of places over that of their mean.
        offset: variance that does not grow.
        stress: wear by suspensions, as a share of all wear.
        notes: reservations.
    """

    case: str
    ages: list[Age] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
    dispersion: float = 0.0
    offset: float = 0.0
    stress: float = 0.0
    notes: list[str] = field(default_factory=list)

    def end(self) -> Estimate | None:
        """Mean day of the end over seeds, and its interval; None if a drive has no end."""
        if not self.ages or len(self.ends) < len(self.ages[0].seeds):
            return None
        return Estimate.of([each.day for each in self.ends])

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "case": self.case,
            "dispersion": self.dispersion,
            "variance_offset": self.offset,
            "suspension_share_of_wear": self.stress,
            "ages": [each.to_dict() for each in self.ages],
            "ends": [each.to_dict() for each in self.ends],
            "notes": self.notes,
        }


@dataclass
class Life:
    """Lives of all cases of a configuration.

    Attributes:
        cases: in the order of the configuration.
        years: length of the life.
        dwpd: drive writes per day.
        seeds: number of seeds.
        profile: periods of temperature, load and power; None if nothing changes.
        simulated: simulations that this call ran.
        kept: simulations from earlier calls.
        path: the result file.
    """

    cases: list[Lifetime]
    years: float
    dwpd: float
    seeds: int
    profile: Profile | None = None
    simulated: int = 0
    kept: int = 0
    path: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON, without what depends on earlier calls."""
        cases = [each.to_dict() for each in self.cases]
        periods = {"profile": [each.to_dict() for each in self.periods]} if self.periods else {}
        return {"years": self.years, "dwpd": self.dwpd, "seeds": self.seeds, **periods, "cases": cases}

    @property
    def periods(self) -> Sequence[Period]:
        """The periods of the profile; none without a file."""
        return self.profile.periods if self.profile is not None and self.profile.given else ()

    def __repr__(self) -> str:
        return "\n".join(f"{each.case}: {len(each.ages)} windows, {len(each.ends)} ends" for each in self.cases)
