"""Service-level search: the largest load within latency limits, by bisection with confidence.

Each load is run with several seeds and either holds, misses, or is open. The answer is an interval: the largest load
shown to hold, and the smallest load above it shown to miss.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.configuration.values import plain, whole
from interpulse.search.judge import Judgement, State, check_enough, judge, longer
from interpulse.search.limits import Limit, read_limits
from interpulse.search.load import Load
from interpulse.search.traffic import check_traffic
from interpulse.search.window import Window
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.engine import ProgressObserver, observer_of
from interpulse.sweeps.simulations import Simulations, choose, folder_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from distributed import Client
    from distributed.deploy import Cluster

NAME = "slo.json"
"""The result file in the folder of a search."""

SEEDS = 5
PRECISION = 0.05
MOST_LOADS = 40
"""Maximum number of loads per case."""

LONGER = 4
"""Factor on the window of the single retry after an unsteady or too short window."""

STEP = 2.0
"""Factor from a load that holds to the next load, until one misses."""

BACK = 4.0
"""Divisor from a load that misses to the next load, until one holds."""


@dataclass
class Tried:
    """A tried load of a case."""

    load: float
    judgement: Judgement
    times: float
    """Factor on the configured window."""
    iops: float
    blame: Mapping[str, float]
    """Shares of causes in the slowest 0.1 % of reads, first seed."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        more = {"slowest_reads": dict(self.blame)} if self.blame else {}
        return {"load": self.load, "iops": self.iops, "window_times": self.times, **more} | self.judgement.to_dict()


@dataclass
class Sustained:
    """Sustained load of a case.

    Attributes:
        case: name of the case.
        load: the kind of load.
        tried: all tried loads, ascending.
        note: why the search ended without both ends of the interval.
    """

    case: str
    load: Load
    tried: list[Tried] = field(default_factory=list)
    note: str = ""

    @property
    def sustains(self) -> float | None:
        """The largest load shown to hold with no miss below it; None if there is none."""
        fails = self.fails
        held = [each.load for each in self.tried if each.judgement.state is State.HOLDS]
        return max((load for load in held if fails is None or load < fails), default=None)

    @property
    def fails(self) -> float | None:
        """The smallest load shown to miss; None if there is none."""
        return min((each.load for each in self.tried if each.judgement.state is State.MISSES), default=None)

    def at(self, load: float | None) -> Tried | None:
        """The record of a tried load."""
        return next((each for each in self.tried if each.load == load), None)

    @property
    def binding(self) -> str:
        """The binding limit; empty if no load missed."""
        above = self.at(self.fails)
        if above is None:
            return ""
        return "what is offered" if not above.judgement.missed() else above.judgement.nearest().limit.name

    def to_dict(self) -> dict[str, Any]:
        """As JSON; unknown values are absent."""
        named = {"sustains": self.sustains, "fails_from": self.fails, "binds": self.binding or None, "note": self.note}
        known = {key: value for key, value in named.items() if value not in (None, "")}
        tried = [each.to_dict() for each in self.tried]
        return {"case": self.case, "load": self.load.kind, "unit": self.load.unit, **known, "tried": tried}


@dataclass
class Slo:
    """Sustained loads of all cases of a configuration.

    Attributes:
        cases: in the order of the configuration.
        limits: the limits.
        seeds: number of seeds per load.
        simulated: simulations that this call ran.
        kept: simulations from earlier calls.
        path: the result file.
    """

    cases: list[Sustained]
    limits: list[Limit]
    seeds: int
    simulated: int = 0
    kept: int = 0
    path: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        limits = {each.name: each.bound for each in self.limits}
        return {
            "limits_us": limits,
            "seeds": self.seeds,
            "simulated": self.simulated,
            "kept": self.kept,
            "cases": [each.to_dict() for each in self.cases],
        }

    def __repr__(self) -> str:
        lines = [
            f"{each.case}: sustains {each.load.said(each.sustains)}, fails from {each.load.said(each.fails)}"
            + (f" by {each.binding}" if each.binding else "")
            for each in self.cases
        ]
        return "\n".join(lines)


def slo(
    config: Config | Mapping[str, Any] | str | PathLike[str],
    limits: Mapping[str, str | timedelta],
    *,
    out: str | PathLike[str] | None = None,
    cases: Sequence[str] | None = None,
    seeds: int = SEEDS,
    precision: float = PRECISION,
    on: str | PathLike[str] | Client | Cluster | None = None,
    jobs: int | None = None,
    progress: ProgressObserver | Callable[[int, int, int], None] | None = None,
) -> Slo:
    """Finds the largest load that each case of a configuration sustains under latency limits.

    Args:
        config: a Config, its path, or a dictionary. The load is the rate of open flows, the depth of closed flows, or
            the speed of recorded flows; all flows scale together.
        limits: times with units by measure: `{"read_p99.9": "1ms", "write_p99": "5ms"}`.
        out: the folder of the store; default: the name of the configuration in the working folder.
        cases: names of cases; default: all.
        seeds: number of seeds per load, at least 2.
        precision: maximum width of the resulting interval, as a share of the load.
        on: as for `interpulse.sweep`.
        jobs: local workers, by default one per core; never changes the result.
        progress: called with the numbers of finished, requested and concurrent simulations.

    Returns:
        For each case the largest load shown to hold and the smallest shown to miss, each with 95 % confidence.

    Raises:
        ConfigError: the configuration, a case or a limit cannot be used, or the cluster is unavailable.
        RunError: a simulation failed, or writing failed; finished simulations are kept.
        KeyboardInterrupt: Ctrl-C; finished simulations are kept.
    """
    given, kept = Config.of(config), read_limits(limits)
    seeds = whole("seeds", seeds, "a number of seeds", 2, 1001)
    width = plain(precision, "precision")
    if not isinstance(width, int | float) or not 0.001 <= width <= 1:
        raise ConfigError(f"precision = {precision!r}: expected a share from 0.001 to 1")
    with Simulations(given, folder_of(given, out), observer_of(progress), on=on, jobs=jobs) as simulations:
        chosen = choose(simulations.cases, cases)
        check_traffic(kept, map(simulations.values, chosen.values()), simulations.path)
        searches = [_Search(simulations, name, sets, kept, seeds, width) for name, sets in chosen.items()]
        # Rounds over all cases keep all workers busy.
        while due := [(search, load) for search in searches if (load := search.next()) is not None]:
            rounds = [search.asks(load) for search, load in due]
            answers = iter(simulations.results([sets for asked in rounds for sets in asked]))
            for (search, load), asked in zip(due, rounds, strict=True):
                search.take(load, [next(answers) for _ in asked])
        found = Slo([each.found for each in searches], kept, seeds, simulations.simulated, simulations.kept)
        found.path = simulations.write(NAME, (json.dumps(found.to_dict(), indent=1) + "\n").encode())
        return found


class _Search:
    def __init__(
        self, simulations: Simulations, case: str, sets: Sets, limits: Sequence[Limit], seeds: int, precision: float
    ) -> None:
        values = simulations.values(sets)
        self.found = Sustained(case, Load.of(values, case))
        self._simulations = simulations
        self._sets, self._limits, self._seeds, self._precision = sets, limits, seeds, precision
        self._window = Window.of(values)
        self._stops = any(key.endswith(".stop") and value != "not set" for key, value in values.items())
        """Whether a flow ends at an instant, so that more load has more requests."""
        self._times = 0.0
        """Factor on windows; 0 until the first seed has been measured."""
        self._again = False
        """Whether the current load is retried with longer windows."""
        self._load = self.found.load.tidy(self.found.load.at)

    def next(self) -> float | None:
        """The next load to run; None if the search has ended."""
        if not self._times or self._again:
            return self._load
        if len(self.found.tried) >= MOST_LOADS:
            self.found.note = f"stopped after {MOST_LOADS} loads"
            return None
        found = self._following()
        if found is not None:
            self._load = found
        return found

    def asks(self, load: float) -> list[Sets]:
        """The simulations of a load."""
        times = max(1.0, self._times) * (LONGER if self._again else 1)
        sets = (*self._sets, *self.found.load.sets(load), *self._window.sets(times))
        seeds = self._seeds if self._times else 1
        return [self._simulations.with_seed(sets, repetition) for repetition in range(seeds)]

    def take(self, load: float, raws: list[Mapping[str, Any]]) -> None:
        """Judges a load."""
        if not self._times:
            if not self._stops:
                check_enough(self.found.case, raws[0], self._limits, scales=self._window.scales)
            self._times = float(longer(raws[0], self._limits)) if self._window.scales else 1.0
            return
        judgement = judge(raws, self._limits)
        if judgement.longer and self._window.scales and not self._again:
            self._again = True
            return
        times = self._times * (LONGER if self._again else 1)
        self._again = False
        mean = sum(raw["iops"] for raw in raws) / len(raws)
        blame = raws[0].get("tail_blame", {}).get("p99.9", {}).get("shares", {})
        most = dict(sorted(blame.items(), key=lambda each: -each[1])[:3])
        self.found.tried.append(Tried(load, judgement, times, mean, most))
        self.found.tried.sort(key=lambda each: each.load)

    def _following(self) -> float | None:
        load, tried = self.found.load, {each.load for each in self.found.tried}
        if not tried:
            return self._load
        low, high = self.found.sustains, self.found.fails
        if high is None:
            return self._or_end(load.tidy(max(tried) * STEP), tried, "no load that was tried misses a limit")
        below = {each for each in tried if each < high}
        if low is None:
            return self._or_end(load.tidy(min(tried) / BACK), tried, "no load that was tried was shown to hold")
        # Open loads lie between the two ends: bisect the gaps on both sides, the wider one first.
        inside = sorted({low, high, *(each for each in below if each > low)})
        gaps = [(inside[0], inside[1]), (inside[-2], inside[-1])]
        for a, b in sorted(set(gaps), key=lambda gap: -gap[1] / gap[0]):
            middle = load.between(a, b)
            if b / a > 1 + self._precision and a < middle < b:
                return middle
        return None

    def _or_end(self, load: float, tried: set[float], why: str) -> float | None:
        if load in tried:
            self.found.note = why
            return None
        return load
