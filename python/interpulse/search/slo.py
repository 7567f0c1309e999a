"""Service-level search: the largest load within latency limits, by bisection with confidence.

Each load is run with several seeds and judged as a whole: it holds, it misses, or it is open. The answer is an
interval: the largest load that was shown to hold, and the smallest above it that was shown to miss.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.configuration.values import plain, whole
from interpulse.search.judge import Judgement, State, judge, longer
from interpulse.search.limits import Limit, read_limits
from interpulse.search.load import Load
from interpulse.search.simulations import Simulations, folder_of
from interpulse.search.window import Window
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.engine import Progress, told_by

NAME = "slo.json"
"""The answer in the folder of a search."""

SEEDS = 5
PRECISION = 0.05
MOST_LOADS = 40
"""No search tries more loads of a case."""

LONGER = 4
"""A window that was not steady, or too short to tell, is tried once more so many times as long."""

STEP = 2.0
"""From a load that holds to the next one tried, until one misses."""

BACK = 4.0
"""From a load that misses to the next one tried, until one holds."""


@dataclass
class Tried:
    """One load of one case."""

    load: float
    judgement: Judgement
    times: float
    """How many times as long as configured its windows were."""
    iops: float
    blame: Mapping[str, float]
    """The shares of causes in the slowest 0.1 % of reads, of the first seed."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        more = {"slowest_reads": dict(self.blame)} if self.blame else {}
        return {"load": self.load, "iops": self.iops, "window_times": self.times, **more} | self.judgement.to_dict()


@dataclass
class Sustained:
    """What one case sustains.

    Attributes:
        case: its name.
        load: what the load is.
        tried: every load that was tried, in ascending order.
        note: why the search ended without both ends.
    """

    case: str
    load: Load
    tried: list[Tried] = field(default_factory=list)
    note: str = ""

    @property
    def sustains(self) -> float | None:
        """The largest load shown to hold with none shown to miss below it; None where there is none."""
        fails = self.fails
        held = [each.load for each in self.tried if each.judgement.state is State.HOLDS]
        return max((load for load in held if fails is None or load < fails), default=None)

    @property
    def fails(self) -> float | None:
        """The smallest load shown to miss; None where there is none."""
        return min((each.load for each in self.tried if each.judgement.state is State.MISSES), default=None)

    def at(self, load: float | None) -> Tried | None:
        """A load that was tried."""
        return next((each for each in self.tried if each.load == load), None)

    @property
    def binding(self) -> str:
        """The limit that ends it, empty where none was reached."""
        above = self.at(self.fails)
        if above is None:
            return ""
        return "what is offered" if not above.judgement.missed() else above.judgement.nearest().limit.name

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what is not known is absent."""
        named = {"sustains": self.sustains, "fails_from": self.fails, "binds": self.binding or None, "note": self.note}
        known = {key: value for key, value in named.items() if value not in (None, "")}
        tried = [each.to_dict() for each in self.tried]
        return {"case": self.case, "load": self.load.kind, "unit": self.load.unit, **known, "tried": tried}


@dataclass
class Slo:
    """What every case of a configuration sustains under limits.

    Attributes:
        cases: by their order in the configuration.
        limits: what was to be kept.
        seeds: with how many each load was run.
        simulated: simulations that were run for this call.
        kept: simulations that had been run before.
        path: the file of the answer.
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
    config: object,
    limits: Mapping[str, object],
    *,
    out: str | PathLike[str] | None = None,
    cases: Sequence[str] | None = None,
    seeds: int = SEEDS,
    precision: float = PRECISION,
    on: object = None,
    jobs: int | None = None,
    progress: Progress = None,
) -> Slo:
    """Finds the largest load that each case of a configuration sustains under latency limits.

    Args:
        config: a Config, the path of one, or a dictionary. Its pacing says what the load is: the rate of open flows,
            the depth of closed ones, or the speed of recorded ones; several flows rise together.
        limits: times with their unit by what they limit: `{"read_p99.9": "1ms", "write_p99": "5ms"}`.
        out: the folder of the store, by default the name of the configuration in the working folder.
        cases: names of cases; all unless given.
        seeds: with how many each load is run, at least 2.
        precision: the interval of the answer is at most so wide, as a share of the load.
        on: as `interpulse.sweep` takes it.
        jobs: workers of this machine, one for each core unless given; never changes the answer.
        progress: called with simulations done, those asked for so far, and how many can run at a time.

    Returns:
        For each case the largest load shown to hold and the smallest shown to miss, each with 95 % confidence.

    Raises:
        ConfigError: the configuration, a case or a limit cannot be used, or the cluster is not there.
        RunError: a simulation failed, or nothing more can be written; what had ended is kept.
        KeyboardInterrupt: Ctrl-C; what had ended is kept.
    """
    given, kept = Config.of(config), read_limits(limits)
    seeds = whole("seeds", seeds, "a number of seeds", 2, 1001)
    width = plain(precision, "precision")
    if not isinstance(width, int | float) or not 0.001 <= width <= 1:
        raise ConfigError(f"precision = {precision!r}: expected a share from 0.001 to 1")
    with Simulations(given, folder_of(given, out), told_by(progress), on=on, jobs=jobs) as simulations:
        chosen = choose(simulations.cases, cases)
        searches = [_Search(simulations, name, sets, kept, seeds, width) for name, sets in chosen.items()]
        # In rounds, so that all cases have simulations for all workers.
        while due := [(search, load) for search in searches if (load := search.next()) is not None]:
            rounds = [search.asks(load) for search, load in due]
            answers = iter(simulations.results([sets for asked in rounds for sets in asked]))
            for (search, load), asked in zip(due, rounds, strict=True):
                search.take(load, [next(answers) for _ in asked])
        found = Slo([each.found for each in searches], kept, seeds, simulations.simulated, simulations.kept)
        found.path = simulations.write(NAME, (json.dumps(found.to_dict(), indent=1) + "\n").encode())
        return found


def choose(all_cases: Mapping[str, Sets], wanted: Sequence[str] | None) -> dict[str, Sets]:
    """The cases that are wanted. Raises ConfigError where one is not there."""
    wanted = [wanted] if isinstance(wanted, str) else wanted
    for name in wanted or ():
        if name not in all_cases:
            raise ConfigError(f"--case {name}: there is no such case; expected one of {', '.join(all_cases)}")
    return {name: sets for name, sets in all_cases.items() if not wanted or name in wanted}


class _Search:
    """The loads of one case."""

    def __init__(
        self, simulations: Simulations, case: str, sets: Sets, limits: Sequence[Limit], seeds: int, precision: float
    ) -> None:
        values = simulations.values(sets)
        self.found = Sustained(case, Load.of(values, case))
        self._simulations = simulations
        self._sets, self._limits, self._seeds, self._precision = sets, limits, seeds, precision
        self._window = Window.of(values)
        self._times = 0.0
        """How many times as long windows are; 0 until one seed has told."""
        self._again = False
        """Whether the load that is tried has been found too short, and is tried with longer windows."""
        self._load = self.found.load.tidy(self.found.load.at)

    def next(self) -> float | None:
        """The load to run now, None where the answer is there."""
        if not self._times or self._again:
            return self._load
        if len(self.found.tried) >= MOST_LOADS:
            self.found.note = f"given up after {MOST_LOADS} loads"
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
        # What is open lies between: the gaps on both sides of it are closed, the wider one first.
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
