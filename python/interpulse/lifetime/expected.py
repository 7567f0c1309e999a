"""Expected life of candidates of a search: lives of two windows, the new drive and the drive at the demanded age."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from interpulse._core import ConfigError
from interpulse.configuration.values import plain
from interpulse.lifetime import dispersion
from interpulse.lifetime.life import DWPD, CaseLife, simulate
from interpulse.lifetime.profile import MOST_DWPD, YEAR_DAYS, Given, Profile, age_in_days
from interpulse.lifetime.result import Lifetime
from interpulse.runs.estimate import Estimate
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.simulations import Simulations

MOST_YEARS = 100.0


@dataclass(frozen=True)
class LifeLimit:
    """Age that a drive has to reach.

    Attributes:
        days: the age.
        dwpd: drive writes per day until then, where the profile has no others.
        profile: periods of temperature, load and power until then; None if nothing changes.
    """

    days: float
    dwpd: float
    profile: Profile | None = None

    @classmethod
    def read(cls, life: object, dwpd: object, places: tuple[str, str, str], profile: Given = None) -> LifeLimit | None:
        """Reads an age such as `5y`, a rate and the path of a profile; None without an age.

        Raises:
            ConfigError: a mistake, with its place.
        """
        at_life, at_dwpd, at_profile = places
        if life is None:
            path = str(profile) if isinstance(profile, PathLike) else profile
            for place, seen in ((at_dwpd, dwpd), (at_profile, path)):
                if seen is not None:
                    raise ConfigError(f"{place}: seen {seen!r} without {at_life}; expected both, or none")
            return None
        days = age_in_days(life, at_life)
        if not 0 < days <= MOST_YEARS * YEAR_DAYS:
            raise ConfigError(f"{at_life}: seen {life!r}; expected an age above 0 and up to {MOST_YEARS:g}y")
        rate = DWPD if dwpd is None else plain(dwpd, at_dwpd)
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 < rate <= MOST_DWPD:
            raise ConfigError(f"{at_dwpd}: seen {dwpd!r}; expected drive writes per day above 0, up to {MOST_DWPD:g}")
        periods = None if profile is None else Profile.of(profile, days / YEAR_DAYS, float(rate))
        return cls(days, float(rate), periods)

    @property
    def years(self) -> float:
        """The age in years."""
        return self.days / YEAR_DAYS

    @property
    def text(self) -> str:
        """The limit in words."""
        periods = "" if self.profile is None else f" and the {len(self.profile.periods)} periods of its profile"
        return f"a life of at least {years(self.days)} at {self.dwpd:g} drive writes per day{periods}"

    @property
    def periods(self) -> Profile:
        """The profile; one period of the rate without."""
        return self.profile or Profile.of(None, self.years, self.dwpd)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        periods = {} if self.profile is None else {"profile": [each.to_dict() for each in self.profile.periods]}
        return {"years": self.years, "dwpd": self.dwpd, **periods}


@dataclass(frozen=True)
class Expected:
    """Expected life of a drive.

    Attributes:
        found: its two windows and its ends.
        limit: the demanded age.
    """

    found: Lifetime
    limit: LifeLimit

    @property
    def end(self) -> Estimate | None:
        """Mean day of the end over seeds; None if a drive has none."""
        return self.found.end()

    @property
    def early(self) -> bool:
        """Whether a drive reads uncorrectable data at the demanded age, or before."""
        return any(end.why == "ecc" for end in self.found.ends)

    @property
    def lives(self) -> bool | None:
        """Whether the drive reaches the age with 95 % confidence; None if that is open."""
        if self.early:
            return False
        if not self.found.ends:
            # A drive without an end was simulated at the age, unless its error table ends before.
            return True if self.found.ages and self.found.ages[-1].day >= self.limit.days else None
        days = [end.day for end in self.found.ends]
        if (end := self.end) is None:
            return True if min(days) >= self.limit.days else None
        low, high = (end.value if bound is None else bound for bound in (end.low, end.high))
        return True if low >= self.limit.days else False if high < self.limit.days else None

    @property
    def excess(self) -> float:
        """Violation of the limit: at most 0 if the drive reaches the age."""
        lives, end = self.lives, self.end
        low = 0.0 if self.early or end is None else end.value if end.low is None else max(end.low, 1.0)
        short = self.limit.days / low - 1 if low else 1.0
        return min(short, 0.0) if lives else max(short, 1e-9)

    @property
    def text(self) -> str:
        """The end in years with its interval, such as `6.2 (6.0 to 6.4)`."""
        if self.early:
            last = max(end.day for end in self.found.ends if end.why == "ecc")
            return f"at most {_number(last)}: uncorrectable reads"
        end = self.end
        if end is None:
            return "no end" if not self.found.ends else f"from {_number(min(each.day for each in self.found.ends))}"
        between = "" if end.low is None or end.high is None else f" ({_number(end.low)} to {_number(end.high)})"
        return f"{_number(end.value)}{between}"

    @property
    def why(self) -> str:
        """Why the age is missed or open; empty if it is reached."""
        lives = self.lives
        if lives:
            return ""
        state = "not shown to reach" if lives is None else "below"
        return f"expected life, years: {self.text}, {state} {_number(self.limit.days)}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON; unknown values are absent."""
        found: dict[str, Any] = {"lives": self.lives, "ends": [each.to_dict() for each in self.found.ends]}
        if (end := self.end) is not None:
            found["years"] = end.value / YEAR_DAYS
            if end.low is not None and end.high is not None:
                found |= {"low": end.low / YEAR_DAYS, "high": end.high / YEAR_DAYS}
        return found | {"suspension_share_of_wear": self.found.stress, "notes": self.found.notes}


def check_lives(simulations: Simulations, cases: Mapping[str, Sets], limit: LifeLimit) -> None:
    """Raises ConfigError unless the drives of these cases have a life with the periods of the profile."""
    for sets in cases.values():
        _check_life(simulations, sets, limit.periods)


def _check_life(simulations: Simulations, sets: Sets, profile: Profile) -> None:
    values = simulations.values(sets)
    dispersion.check(values, simulations.path)
    dispersion.asks(values)
    profile.check(lambda own: simulations.plan((*sets, *own)))


def expected(
    simulations: Simulations, asked: Sequence[tuple[str, Sets, Sets]], limit: LifeLimit, seeds: int
) -> list[Expected]:
    """The expected lives of candidates.

    Args:
        simulations: those of the search, in whose store the windows are kept.
        asked: name of the case, its overrides, and those of the candidate, which affect no preconditioning.
        limit: age and load.
        seeds: number of drives.

    Raises:
        ConfigError: the configuration has no life.
        RunError: a simulation failed.
    """
    profile = limit.periods
    days = profile.days(limit.years, 2)
    lives = [CaseLife(simulations, case, (*own, *more), profile, days, seeds, plain=own) for case, own, more in asked]
    simulate(simulations, lives)
    return [Expected(each.ended(), limit) for each in lives]


def years(days: float) -> str:
    """An age as text."""
    return f"{_number(days)} years"


def _number(days: float) -> str:
    return f"{days / YEAR_DAYS:.2f}".rstrip("0").rstrip(".")
