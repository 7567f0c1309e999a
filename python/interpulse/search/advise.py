"""Scheme search: the cheapest suspension scheme that keeps the latency limits.

Screening runs each program scheme with ideal erase suspension and each erase scheme with ideal program suspension, with
one seed and the shortest windows that the limits allow. Ideal suspension is a bound for reads and not for writes, so a
scheme that misses is also run without suspension of the other operation, and is ruled out if it misses a limit in both.
The remaining combinations run in order of cost with several seeds until one holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.lifetime.expected import LifeLimit, check_lives, expected
from interpulse.lifetime.profile import Given
from interpulse.search.advice import Advice, Option
from interpulse.search.candidates import (
    NONE,
    OPERATIONS,
    Candidate,
    Way,
    spaced,
    uncapped,
)
from interpulse.search.cost import Ratio, cost_of
from interpulse.search.judge import CLEARLY, State, judge
from interpulse.search.limits import AnyLimit, Wear, read_limits, read_share
from interpulse.search.setup import Setup, opened, read_part_limits
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.engine import ProgressObserver, observer_of
from interpulse.sweeps.simulations import Simulations

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from distributed import Client
    from distributed.deploy import Cluster

NAME = "advice.json"
SEEDS = 5
AS_GOOD = 1.05
"""Largest ratio of two figures of one seed that are taken as equal."""

AT_A_TIME = 4
"""Combinations per round."""

FURTHER = 3
"""Rounds after the first that has a combination that holds: the cost by which they are sorted is only expected."""

MOST = 40
"""Maximum number of tried combinations."""

LONGER = 4
"""Factor on the window of the single retry of options that are open because of short windows."""


def advise(
    config: Config | Mapping[str, Any] | str | PathLike[str],
    limits: Mapping[str, str | timedelta],
    *,
    max_suspends: int | None = None,
    wear: str | float | None = None,
    life: str | None = None,
    dwpd: float | None = None,
    profile: Given = None,
    without: Sequence[str] = (),
    out: str | PathLike[str] | None = None,
    cases: Sequence[str] | None = None,
    seeds: int = SEEDS,
    on: str | PathLike[str] | Client | Cluster | None = None,
    jobs: int | None = None,
    progress: ProgressObserver | Callable[[int, int, int], None] | None = None,
) -> Advice:
    """Finds the cheapest suspension schemes and settings that keep latency limits.

    Args:
        config: a Config, its path, or a dictionary; limits apply to each case.
        limits: as for `interpulse.slo`.
        max_suspends: maximum number of suspensions of one operation by the part's data sheet.
        wear: maximum wear added by suspensions, as a share of the wear by erases (`"2%"`).
        life: age that the drive has to reach (`"5y"`).
        dwpd: host writes per day until then, in capacities; by default 1.
        profile: as for `interpulse.life`: periods until then.
        without: schemes that the part does not support.
        out: the folder of the store; default: the name of the configuration in the working folder.
        cases: names of cases; default: all.
        seeds: number of seeds of a confirmation, at least 2.
        on: as for `interpulse.sweep`.
        jobs: local workers, by default one per core; never changes the result.
        progress: called with the numbers of finished, requested and concurrent simulations.

    Returns:
        The best option, and the limits that the others miss, with confidence intervals.

    Raises:
        ConfigError: the configuration or a limit cannot be used, or the cluster is unavailable.
        RunError: a simulation failed, or writing failed; finished simulations are kept.
        KeyboardInterrupt: Ctrl-C; finished simulations are kept.
    """
    every: list[AnyLimit] = list(read_limits(limits))
    if wear is not None:
        every.append(Wear(read_share(wear, "wear")))
    given, observer = Config.of(config), observer_of(progress)
    age = LifeLimit.read(life, dwpd, ("--life", "--dwpd", "--profile"), profile)
    seeds, cap, without = read_part_limits(seeds, max_suspends, without)
    with opened(given, every, observer, out=out, cases=cases, on=on, jobs=jobs) as setup:
        found = _Advisor(setup, every, cap, without, seeds, observer, age).advice()
        setup.store(found, NAME)
        return found


class _Advisor:
    def __init__(
        self,
        setup: Setup,
        limits: list[AnyLimit],
        cap: int | None,
        without: Sequence[str],
        seeds: int,
        observer: ProgressObserver,
        life: LifeLimit | None = None,
    ) -> None:
        self._life = life
        self._setup, self._limits, self._seeds, self._observer = setup, limits, seeds, observer
        self._bare, self._own = setup.bare, setup.own
        self._cases, self._own_cases = self._setup.cases, self._setup.own_cases
        self._values, self._windows = self._setup.values, self._setup.windows
        if any(isinstance(each, Wear) for each in limits):
            self._check_stress()
        if life is not None:
            check_lives(setup.bare, self._cases, life)
        self._ways, self.refused = self._setup.ways(limits, cap, without)
        self._times: dict[str, float] = {}

    def advice(self) -> Advice:
        """Runs the search."""
        configured = Option(Candidate(None, None))
        self._times = self._setup.lengths(self._limits)
        self._observer.note(f"the configuration as it is, with {self._seeds} seeds")
        self._run([configured], self._seeds, self._own, self._own_cases)
        self._live([configured], self._own, self._own_cases)
        if self._own is not self._bare:
            self._own.rest()
        bound, by_way = self._screen()
        impossible = self._impossible(bound, by_way, configured)
        options: list[Option] = []
        untried = 0
        if not impossible:
            options, untried = self._combine(by_way)
        # Of equal cost the tried combination: its settings name the schemes.
        best = self._cheapest((*options, configured))
        advice = Advice(
            self._limits,
            self._seeds,
            best,
            bound,
            configured,
            sorted(options, key=lambda each: each.order),
            by_way,
            self.refused,
            untried,
            impossible,
            self._life,
        )
        if best is not None:
            others = [each for each in (configured, *advice.options) if each.seeds == self._seeds and each is not best]
            advice.ratios = {each.candidate.label: dict(self._ratios(best, each)) for each in others}
        return advice

    def _check_stress(self) -> None:
        for case, values in self._values.items():
            keys = [f"suspend.{operation}.stress" for operation in OPERATIONS]
            if not any(float(values.get(key, "0").rstrip("%") or 0) for key in keys):
                raise ConfigError(
                    f"--wear: case {case}: seen {keys[0]} = 0 and {keys[1]} = 0, so suspensions add no wear; "
                    "expected the wear of one suspension, such as --set suspend.erase.stress=1%"
                )

    def _screen(self) -> tuple[Option, dict[str, list[tuple[Way, Option]]]]:
        values = next(iter(self._values.values()))
        nothing = {
            operation: Way(operation, NONE, ((f"suspend.{operation}.scheme", NONE),)) for operation in OPERATIONS
        }
        ideal = {
            operation: way if self._setup.legal(way.sets) is None else nothing[operation]
            for operation in OPERATIONS
            for way in [uncapped(operation, values)]
        }
        bound = Option(Candidate(ideal["program"], ideal["erase"]))

        def beside(way: Way, others: Mapping[str, Way]) -> Option:
            pair = {**others, way.operation: way}
            return Option(Candidate(pair["program"], pair["erase"]), counted=(way.operation,))

        tried = {operation: [(way, beside(way, ideal)) for way in self._ways[operation]] for operation in OPERATIONS}
        every = [bound, *(option for of in tried.values() for _, option in of)]
        self._observer.note(f"screening {len(every) - 1} ways, each with the other operation ideal")
        self._run(every, 1, screen=True)
        # Schemes that repeat work may starve: retry them with a minimum interval of one loop between suspensions.
        more = {
            operation: [
                (slower, beside(slower, ideal))
                for way, option in of
                if option.redone(operation) and (slower := spaced(way, values)) and not self._setup.legal(slower.sets)
            ]
            for operation, of in tried.items()
        }
        self._run([option for of in more.values() for _, option in of], 1, screen=True)
        by_way = {operation: [*tried[operation], *more[operation]] for operation in OPERATIONS}
        missed = [(way, option) for of in by_way.values() for way, option in of if option.state is State.MISSES]
        if missed:
            self._observer.note(
                f"{len(missed)} ways miss a limit; each again without suspension of the other operation"
            )
            for way, option in missed:
                option.beside_none = beside(way, nothing)
            self._run([option.beside_none for _, option in missed if option.beside_none is not None], 1, screen=True)
        return bound, by_way

    def _impossible(self, bound: Option, by_way: Mapping[str, Sequence[tuple[Way, Option]]], configured: Option) -> str:
        """The limit on reads that no scheme keeps; empty if that is not shown.

        Ideal suspension has to miss it, and to be at least as good as no suspension, as the configuration and as every
        way: otherwise less suspension is better for these reads, and ideal suspension is no bound.
        """
        ways = [option for of in by_way.values() for _, option in of]
        others = [*ways, *(each.beside_none for each in ways if each.beside_none is not None), configured]
        for case, judgement in bound.judgements.items():
            theirs = [each.judgements[case] for each in others if case in each.judgements]
            if judgement.behind and theirs and all(each.behind for each in theirs):
                return f"{case}: {judgement.behind}"
            for at, reading in enumerate(judgement.readings):
                if reading.state is not State.MISSES or getattr(reading.limit, "kind", "") != "read":
                    continue
                beside = [each.readings[at] for each in theirs]
                if all(each.state is State.MISSES for each in beside) and not any(
                    each.value is not None and (reading.value is None or each.value < reading.value / AS_GOOD)
                    for each in beside
                ):
                    return f"{case}: {reading.text()}" + (f"; {reading.why}" if reading.why else "")
        return ""

    def _combine(self, by_way: dict[str, list[tuple[Way, Option]]]) -> tuple[list[Option], int]:
        left = {
            operation: [(way, option) for way, option in of if not option.ruled_out] for operation, of in by_way.items()
        }
        pairs = sorted(
            ((a.least.with_(b.least), Option(Candidate(p, e))) for p, a in left["program"] for e, b in left["erase"]),
            key=lambda each: (each[0].steps, each[0].suspends, each[1].candidate.strange),
        )
        queue = [option for _, option in pairs]
        tried: list[Option] = []
        self._observer.note(f"{len(queue)} combinations are left, tried in the order of their cost")
        further = FURTHER
        while queue and len(tried) < MOST and further:
            best = self._cheapest(tried)
            further -= best is not None
            now, queue = queue[:AT_A_TIME], queue[AT_A_TIME:]
            self._run(now, 1, screen=True)
            # The whole round is confirmed, so that the best is compared with the next more expensive options.
            distinct: list[Option] = []
            for each in now:
                twin = next((other for other in distinct if other.figures == each.figures), None)
                if twin is not None:
                    twin.same.append(each.candidate.label)
                else:
                    distinct.append(each)
            # Once one holds, only combinations that turn out to cost less are of interest.
            hopeful = [each for each in distinct if each.state is not State.MISSES]
            cheaper = [each for each in hopeful if best is None or each.order < best.order]
            self._run(cheaper, self._seeds)
            self._live(cheaper, self._bare, self._cases)
            tried += distinct
        return tried, len(queue)

    def _cheapest(self, options: Sequence[Option]) -> Option | None:
        """The cheapest of those that were shown to hold with all seeds."""
        held = [each for each in options if each.state is State.HOLDS and each.seeds == self._seeds]
        return min(held, key=lambda each: each.order, default=None)

    def _run(
        self,
        options: Sequence[Option],
        seeds: int,
        by: Simulations | None = None,
        of: Mapping[str, Sets] | None = None,
        *,
        screen: bool = False,
    ) -> None:
        self._once(options, seeds, by or self._bare, of or self._cases, 1.0, screen=screen)
        if not screen:
            again = [each for each in options if any(judged.longer for judged in each.judgements.values())]
            scales = all(window.scales for window in self._windows.values())
            if again and scales:
                self._once(again, seeds, by or self._bare, of or self._cases, LONGER, screen=False)

    def _once(
        self,
        options: Sequence[Option],
        seeds: int,
        by: Simulations,
        of: Mapping[str, Sets],
        times: float,
        *,
        screen: bool,
    ) -> None:
        asked, where = [], []
        for option in options:
            for case, sets in of.items():
                # Only screening may use windows shorter than configured.
                length = self._times[case] if screen else max(1.0, self._times[case]) * times
                own = (*sets, *option.candidate.sets, *self._windows[case].sets(length))
                for repetition in range(seeds):
                    asked.append(by.with_seed(own, repetition))
                    where.append((option, case))
        for option in options:
            option.raws = {case: [] for case in of}
        for (option, case), answer in zip(where, by.run(asked), strict=True):
            if "error" in answer:
                option.error = answer["error"]["message"]
            else:
                option.raws[case].append(answer["raw"])
        for option in options:
            option.seeds = seeds
            if not option.error:
                margin = CLEARLY if screen else 1.0
                option.judgements = {
                    case: judge(raws, self._limits, margin=margin) for case, raws in option.raws.items()
                }
                option.cost = cost_of(list(option.raws.values()), option.counted)

    def _live(self, options: Sequence[Option], by: Simulations, of: Mapping[str, Sets]) -> None:
        """Estimates the life of the options that keep all other limits."""
        held = [each for each in options if each.state is State.HOLDS]
        if self._life is None or not held:
            return
        self._observer.note(f"the expected life of {len(held)} options")
        where = [(option, case, own) for option in held for case, own in of.items()]
        asked = [(case, own, option.candidate.sets) for option, case, own in where]
        for (option, case, _), found in zip(where, expected(by, asked, self._life, self._seeds), strict=True):
            option.lives[case] = found

    def _ratios(self, best: Option, other: Option) -> Iterable[tuple[str, Ratio]]:
        for case, raws in best.raws.items():
            theirs = other.raws.get(case, [])
            if len(theirs) != len(raws):
                continue
            figures = [(limit.name, limit.value) for limit in self._limits if not isinstance(limit, Wear)]
            for name, value in [*figures, ("requests a second", lambda raw: float(raw["iops"]))]:
                if ratio := Ratio.of([value(raw) for raw in raws], [value(raw) for raw in theirs]):
                    yield f"{case}: {name}", ratio
