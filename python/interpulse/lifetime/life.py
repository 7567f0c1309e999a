"""Life of a drive: windows one after another, each at the age that the windows before it have led to."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.configuration.values import plain, whole
from interpulse.lifetime import dispersion
from interpulse.lifetime.ageing import Ageing, Rates
from interpulse.lifetime.profile import Given, Past, Profile, temperature
from interpulse.lifetime.result import FIGURES, Age, End, Life, Lifetime
from interpulse.studies.case import derived_seed
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.dataset import figure
from interpulse.sweeps.engine import ProgressObserver, observer_of
from interpulse.sweeps.simulations import Simulations, choose, folder_of

if TYPE_CHECKING:
    from distributed import Client
    from distributed.deploy import Cluster

NAME = "life.json"
"""The result file in the folder of a life."""

YEARS, DWPD, WINDOWS, SEEDS = 5.0, 1.0, 12, 4


def life(
    config: Config | Mapping[str, Any] | str | PathLike[str],
    *,
    years: float = YEARS,
    dwpd: float = DWPD,
    windows: int = WINDOWS,
    seeds: int = SEEDS,
    profile: Given = None,
    cases: Sequence[str] | None = None,
    out: str | PathLike[str] | None = None,
    on: str | PathLike[str] | Client | Cluster | None = None,
    jobs: int | None = None,
    progress: ProgressObserver | Callable[[int, int, int], None] | None = None,
) -> Life:
    """Simulates the life of a drive: windows of its load at growing ages, from new to its last day.

    Args:
        config: a Config, its path, or a dictionary; its load is that of every window.
        years: length of the life.
        dwpd: host writes per day, in capacities, which wear the drive and age its data.
        windows: number of windows, at equal distances.
        seeds: number of seeds, each a drive with endurances of its own.
        profile: the path of a file with periods of temperature, load and power (docs/LIFE.md), or a dictionary.
        cases: names of cases; default: all.
        out: the folder of the store; default: the name of the configuration in the working folder.
        on: as for `interpulse.sweep`.
        jobs: local workers, by default one per core; never changes the result.
        progress: called with the numbers of finished, requested and concurrent simulations.

    Returns:
        Figures of each window with 95 % intervals over seeds, and the ends of the drives: the reserve of bad blocks is
        exhausted, or a read of the host is uncorrectable.

    Raises:
        ConfigError: the configuration or an argument cannot be used, or the cluster is unavailable.
        RunError: a simulation failed, or writing failed; finished simulations are kept.
        KeyboardInterrupt: Ctrl-C; finished simulations are kept.
    """
    given = Config.of(config)
    length, rate = _positive("years", years, 100.0), _positive("dwpd", dwpd, 100_000.0)
    count = whole("windows", windows, "a number of windows", 2, 1001)
    drives = whole("seeds", seeds, "a number of seeds", 1, 1001)
    observer = _Observer(observer_of(progress))
    periods = Profile.of(profile, length, rate)
    with Simulations(given, folder_of(given, out), observer, on=on, jobs=jobs) as simulations:
        lives = [
            CaseLife(simulations, name, sets, periods, periods.days(length, count), drives)
            for name, sets in choose(simulations.cases, cases).items()
        ]
        simulate(simulations, lives, observer)
        ended = [each.ended() for each in lives]
        found = Life(ended, length, rate, drives, periods, simulations.simulated, simulations.kept)
        found.path = simulations.write(NAME, (json.dumps(found.to_dict(), indent=1) + "\n").encode())
        return found


def simulate(simulations: Simulations, lives: Sequence[CaseLife], observer: _Observer | None = None) -> None:
    """Simulates lives until all have ended, in rounds over all, which keep all workers busy."""
    while due := [(each, asked) for each in lives if (asked := each.asks())]:
        if observer is not None:
            observer.notes = all(each.worn for each in lives)
        answers = iter(simulations.results([sets for _, asked in due for sets in asked]))
        for each, asked in due:
            each.take([next(answers) for _ in asked])


class _Observer(ProgressObserver):
    """Passes progress on, and notes unless the simulations only count erases."""

    def __init__(self, inner: ProgressObserver) -> None:
        super().__init__()
        self._inner = inner
        self.notes = False

    def progress(self, done: int, total: int, workers: int) -> None:
        self._inner.progress(done, total, workers)

    def note(self, line: str) -> None:
        if self.notes:
            self._inner.note(line)

    def until(self, ends_at: float) -> None:
        self._inner.until(ends_at)


def _positive(name: str, value: object, most: float) -> float:
    found = plain(value, name)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found <= most:
        raise ConfigError(f"{name} = {value!r}: expected a number greater than 0 and at most {most:g}")
    return float(found)


class CaseLife:
    """Life of one case: first its dispersion, then window after window."""

    def __init__(
        self,
        simulations: Simulations,
        case: str,
        sets: Sets,
        profile: Profile,
        days: list[float],
        seeds: int,
        plain: Sets | None = None,
    ) -> None:
        """`plain`: overrides for counting erases, where others of `sets` do not affect these."""
        self.found = Lifetime(case)
        self._plain = sets if plain is None else plain
        self._simulations, self._sets, self._profile, self._days = simulations, sets, profile, days
        self._values = simulations.values(sets)
        dispersion.check(self._values, simulations.path)
        profile.check(lambda own: simulations.plan((*sets, *own)))
        self._alive = list(range(seeds))
        self._ran = self._unsteady = 0
        self._over = False
        """Whether the error table has ended."""
        self._ageing: Ageing | None = None
        self._rates: Rates | None = None
        self._reserve: dict[int, float] = {}
        """Cycles at which the reserve of a seed's drive is exhausted."""
        if not self._ends_by_ecc and self._values.get("faults.wear-out", "never") == "never":
            self.found.notes.append(
                "nothing ends this drive: it has no bit errors (errors.table) and no wear-out (faults.wear-out)"
            )

    @property
    def worn(self) -> bool:
        """Whether the dispersion is known and windows run."""
        return self._ageing is not None

    @property
    def _ends_by_ecc(self) -> bool:
        return self._values.get("errors.table", "ideal") != "ideal"

    def asks(self) -> list[Sets]:
        """The next simulations; none at the end of the life."""
        if self._ageing is None:
            return [(*self._plain, *sets) for sets in dispersion.asks(self._values)]
        number = len(self.found.ages)
        if self._over or number == len(self._days) or not self._alive:
            return []
        day = self._days[number]
        past = self._advance(day) if self._rates is not None else None
        load = self._profile.load(day)
        sets = (*self._sets, *load.sets, *temperature(load), *self._ageing.sets(self._rates, past))
        if self._alive and number > 0:
            # The error table may end before the drive does.
            try:
                self._simulations.plan(sets)
            except ConfigError as error:
                self.found.notes.append(f"the windows end at day {self._days[number - 1]:.0f}: {error}")
                self._over = True
                return []
        return [self._simulations.with_seed(sets, seed) for seed in self._alive]

    def _advance(self, day: float) -> Past | None:
        """Ages the drive until a day. Returns the past of its data; None if nothing has changed."""
        assert self._ageing is not None
        assert self._rates is not None
        begun = self._ageing.path[-1][0]
        if begun < day:
            if self._profile.at(begun).power:
                self._ageing.dwpd = self._profile.at(begun).dwpd
                self._ageing.advance(day, self._rates)
                self._exhausted(day)
            else:
                self._ageing.rest(day)
        if not self._profile.given or not self._ends_by_ecc:
            return None
        energy, celsius = (float(self._values[f"errors.{key}"]) for key in ("activation-energy-ev", "temperature-c"))
        return self._profile.past(day, self._ageing.turn(self._rates), energy, celsius)

    def take(self, raws: list[Mapping[str, Any]]) -> None:
        """Takes the results of the simulations asked for."""
        if self._ageing is None:
            self._begin(dispersion.measure(raws))
            return
        day = self._days[len(self.found.ages)]
        for seed, raw in zip(self._alive, raws, strict=True):
            cycles = figure(raw, "smart.reserve_ends_at_cycles")
            if isinstance(cycles, int | float):
                self._reserve[seed] = float(cycles)
        raws = self._writable(day, raws)
        if not raws:
            return
        rates = [found for raw in raws if (found := Rates.of(raw, self._values)) is not None]
        if not rates:
            raise ConfigError(
                f"{self._simulations.path}: case {self.found.case}: the window wrote nothing; expected a load with "
                "writes, in a window that is long enough for them"
            )
        self._rates = Rates.mean(rates)
        self._ran += len(raws)
        self._unsteady += sum(figure(raw, "steady.verdict") != "yes" for raw in raws)
        self._add(day, raws)
        for seed, raw in zip(list(self._alive), raws, strict=True):
            if figure(raw, "reliability.uncorrectable.reads"):
                before = self.found.ages[-2].day if len(self.found.ages) > 1 else 0.0
                self._end(End(self._seed(seed), day, "ecc", before, reached=True), seed)

    def ended(self) -> Lifetime:
        """The life, with the ends to come."""
        if self._ageing is not None and self._rates is not None:
            for seed in list(self._alive):
                if seed in self._reserve:
                    day = self._ageing.day_of(self._reserve[seed], self._rates)
                    if math.isfinite(day):
                        self._end(End(self._seed(seed), day, "reserve", day, reached=day <= self._days[-1]), seed)
            stress = self._rates.stress
            self.found.stress = stress / (1 + stress)
        if self._unsteady:
            self.found.notes.append(
                f"{self._unsteady} of {self._ran} windows were not shown to be steady: longer ones (run.requests) make "
                "write amplification, and with it the wear, more certain"
            )
        self.found.ends.sort(key=lambda end: end.seed)
        return self.found

    def _begin(self, found: dispersion.Dispersion) -> None:
        gap = self._values.get("ftl.wear-gap", "not set")
        # Uniform within the gap, and one erase beyond it at either end.
        bounded = (int(gap) + 2) ** 2 / 12 if gap.isdigit() else None
        self._ageing = Ageing(
            self._profile.periods[0].dwpd,
            self._ends_by_ecc,
            found.value,
            found.offset,
            bounded,
            profile=self._profile,
        )
        self.found.dispersion = found.value
        self.found.offset = found.offset
        if found.static and bounded is None:
            self.found.notes.append(
                "some data is never moved, so its blocks hardly wear, and the others end the drive earlier than here: "
                "ftl.wear-gap levels the wear"
            )

    def _exhausted(self, day: float) -> None:
        """Ends the drives whose reserve was exhausted since the last window."""
        assert self._ageing is not None
        assert self._rates is not None
        for seed in list(self._alive):
            cycles = self._reserve.get(seed)
            if cycles is not None and cycles <= self._ageing.cycles:
                at = min(day, self._ageing.day_of(cycles, self._rates))
                self._end(End(self._seed(seed), at, "reserve", at, reached=True), seed)

    def _writable(self, day: float, raws: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The results of drives that accept writes; ends the others, whose reserve was exhausted within the window."""
        found = []
        for seed, raw in zip(list(self._alive), raws, strict=True):
            if figure(raw, "smart.read_only"):
                self._end(End(self._seed(seed), day, "reserve", day, reached=True), seed)
            else:
                found.append(raw)
        return found

    def _end(self, end: End, seed: int) -> None:
        self.found.ends.append(end)
        self._alive.remove(seed)

    def _add(self, day: float, raws: list[Mapping[str, Any]]) -> None:
        assert self._ageing is not None
        values = {}
        for name, path in FIGURES.items():
            found = [figure(raw, path) for raw in raws]
            if all(isinstance(each, int | float) for each in found):
                values[name] = tuple(float(each) for each in found if each is not None)
        seeds = tuple(self._seed(each) for each in self._alive)
        self.found.ages.append(Age(day, self._profile.writes(day), self._ageing.cycles, seeds, values))

    def _seed(self, repetition: int) -> int:
        return derived_seed(self._simulations.seed, repetition)
