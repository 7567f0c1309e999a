"""Result of a ranking of suspension schemes: pairs by case, with the ranked figure and what each pair costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interpulse.lifetime.expected import Expected, LifeLimit
from interpulse.runs.estimate import Estimate
from interpulse.search.candidates import Candidate
from interpulse.search.cost import Ratio, extra, suspends
from interpulse.search.judge import shortfall
from interpulse.search.limits import Limit, Wear

OPERATIONS = ("program", "erase")


@dataclass
class Pair:
    """A scheme for programs and one for erases in one case, or the configuration as it is.

    Attributes:
        candidate: the settings.
        figure: the ranked figure.
        raws: a result for each seed, in the order of the seeds.
        same: labels of pairs with exactly the same figures.
        error: why the simulation failed; empty otherwise.
        life: expected life of the drive, where one is demanded.
    """

    candidate: Candidate
    figure: Limit
    raws: list[Mapping[str, Any]] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    error: str = ""
    life: Expected | None = None

    @property
    def value(self) -> Estimate | None:
        """The ranked figure in us: geometric mean over seeds; of one seed the interval of its window."""
        found = self.estimate(self.figure)
        if found is None or len(self.raws) > 1:
            return found
        own = self.figure.interval(self.raws[0])
        return found if own is None else Estimate(found.value, *own)

    def estimate(self, limit: Limit) -> Estimate | None:
        """A latency in us as geometric mean over seeds; None if a seed has none."""
        values = [limit.value(raw) for raw in self.raws]
        known = [value for value in values if value is not None and value > 0]
        return Estimate.geometric(known) if known and len(known) == len(values) else None

    @property
    def doubt(self) -> str:
        """Why the figure is not ranked: failure, overload, an unsteady window, too few requests; empty if it is."""
        if self.error:
            return self.error
        if behind := shortfall(self.raws):
            return behind
        unsteady = sum(raw.get("steady", {}).get("verdict") == "no" for raw in self.raws)
        if unsteady:
            return f"{unsteady} of {len(self.raws)} windows not steady"
        if self.value is None:
            return f"no {self.figure.kind} request completed"
        if any(self.figure.few(raw) for raw in self.raws):
            return f"fewer than ten requests beyond {self.figure.measure}"
        return ""

    @property
    def excluded(self) -> str:
        """Why the pair is not ranked: its doubt, or a life that is too short; empty if it is."""
        short = self.life is not None and self.life.lives is False
        return self.doubt or (f"expected life below {self.life.limit.years:.3g} years" if self.life and short else "")

    @property
    def iops(self) -> float:
        """Requests per second, mean over seeds."""
        return _mean([float(raw["iops"]) for raw in self.raws])

    @property
    def power(self) -> float | None:
        """Power of the flash array in mW, mean over seeds; None where the part has no currents."""
        found = [raw.get("power", {}).get("mean_mw", {}).get("total") for raw in self.raws]
        return _mean([float(each) for each in found]) if found and None not in found else None

    @property
    def extra(self) -> float:
        """Die time of suspension as a share of what programs and erases need without it."""
        return _mean([extra(raw) for raw in self.raws])

    @property
    def suspends(self) -> float:
        """Mean number of suspensions of a program plus that of an erase."""
        return _mean([suspends(raw, OPERATIONS) for raw in self.raws])

    @property
    def wear(self) -> float | None:
        """Wear that suspensions add, as a share of the wear by erases; None if nothing was erased."""
        found = [Wear(1.0).value(raw) for raw in self.raws]
        known = [each for each in found if each is not None]
        return _mean(known) if known else None

    def over(self, other: Pair) -> Ratio | None:
        """Ratio of the ranked figure to another pair's with the same seeds."""
        if len(self.raws) != len(other.raws):
            return None
        return Ratio.of([self.figure.value(raw) for raw in self.raws], [self.figure.value(raw) for raw in other.raws])

    @property
    def figures(self) -> list[Any]:
        """Results without labels, to find pairs that behave identically."""
        return [(raw["latency_us"], raw["counters"]) for raw in self.raws]

    def to_dict(self, other: Limit | None) -> dict[str, Any]:
        """As JSON; unknown values are absent."""
        found: dict[str, Any] = {
            "label": self.candidate.label,
            "set": dict(self.candidate.sets),
            "seeds": len(self.raws),
            "doubt": self.doubt or None,
            "same": self.same or None,
            self.figure.name: _json(self.value),
            **({other.name: _json(self.estimate(other))} if other is not None and self.raws else {}),
        }
        if self.raws:
            found |= {"iops": self.iops, "extra_die_time": self.extra, "suspends": self.suspends}
            found |= {"power_mw": self.power, "added_wear": self.wear}
        if self.life is not None:
            found["life"] = self.life.to_dict()
        return {key: value for key, value in found.items() if value is not None}


def _mean(values: Sequence[float]) -> float:
    return Estimate.of(values).value


def _json(of: Estimate | None) -> dict[str, float] | None:
    if of is None:
        return None
    found = {"value_us": of.value, "low_us": of.low, "high_us": of.high}
    return {key: value for key, value in found.items() if value is not None}


@dataclass
class CaseRanking:
    """Ranked pairs of one case.

    Attributes:
        case: name of the case.
        ranked: pairs with all seeds, best first.
        screened: pairs with one seed that are not among the best, best first.
        doubtful: pairs that cannot be ranked, with their reasons.
        none: the drive without suspension.
        ideal: ideal suspension of both operations, in no part: a bound for reads.
        configured: the configuration as it is.
    """

    case: str
    ranked: list[Pair]
    screened: list[Pair]
    doubtful: list[Pair]
    none: Pair
    ideal: Pair | None
    configured: Pair

    @property
    def best(self) -> Pair | None:
        """The pair with the lowest figure; None if no pair can be ranked."""
        return self.ranked[0] if self.ranked else None

    @property
    def as_good(self) -> list[Pair]:
        """Pairs whose difference from the best is within chance: the 95 % interval of the ratio contains 1."""
        if self.best is None:
            return []
        found = [(pair, pair.over(self.best)) for pair in self.ranked[1:]]
        return [pair for pair, ratio in found if ratio is None or ratio.low is None or ratio.low <= 1]


@dataclass
class Ranking:
    """Suspension schemes ranked by one figure.

    Attributes:
        figure: what is ranked.
        other: the figure beside it: the tail of the other kind of requests; None if the load has one kind.
        seeds: number of seeds of the ranked pairs.
        cases: a ranking for each case.
        refused: why a scheme cannot be tried, by operation and scheme.
        common: settings that all schemes share, by operation.
        life: the age that a drive has to reach; None if none is demanded.
        simulated: simulations that this search ran.
        kept: simulations from earlier searches.
        path: the result file.
    """

    figure: Limit
    other: Limit | None
    seeds: int
    cases: list[CaseRanking]
    refused: dict[str, dict[str, str]]
    common: dict[str, dict[str, str]]
    life: LifeLimit | None = None
    simulated: int = 0
    kept: int = 0
    path: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "rank": self.figure.name,
            "seeds": self.seeds,
            **({"life": self.life.to_dict()} if self.life else {}),
            "cases": {of.case: self._case(of) for of in self.cases},
            "refused": self.refused,
            "common": self.common,
            "simulated": self.simulated,
            "kept": self.kept,
        }

    def _case(self, of: CaseRanking) -> dict[str, Any]:
        single = {"none": of.none, "ideal": of.ideal, "configured": of.configured}
        lists = {"ranked": of.ranked, "screened": of.screened, "doubtful": of.doubtful}
        return {
            **{name: [pair.to_dict(self.other) for pair in pairs] for name, pairs in lists.items()},
            "as_good_as_the_first": [pair.candidate.label for pair in of.as_good],
            **{name: pair.to_dict(self.other) for name, pair in single.items() if pair is not None},
        }

    def __repr__(self) -> str:
        best = [f"{of.case}: {of.best.candidate.label if of.best else 'none can be ranked'}" for of in self.cases]
        return f"Ranking({self.figure.name}; {'; '.join(best)})"
