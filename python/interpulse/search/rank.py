"""Ranking of suspension schemes: every pair that the part allows, by one latency figure, with what each pair costs.

All pairs run with one seed. The best of each case run with all seeds and are ranked by the mean, and so do the drive
without suspension, with ideal suspension and as configured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.lifetime.expected import LifeLimit, check_lives, expected
from interpulse.lifetime.profile import Given
from interpulse.runs.steadiness import overload_advice
from interpulse.search.candidates import (
    BOUND,
    NONE,
    OPERATIONS,
    Candidate,
    Way,
    uncapped,
)
from interpulse.search.judge import LEAST_BEYOND, MOST_LONGER
from interpulse.search.limits import Limit, read_figure
from interpulse.search.ranking import CaseRanking, Pair, Ranking
from interpulse.search.setup import Setup, opened, read_part_limits
from interpulse.search.window import Window
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.engine import ProgressObserver, observer_of
from interpulse.sweeps.simulations import Simulations

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Client
    from distributed.deploy import Cluster

NAME = "ranking.json"
SEEDS = 3

CONFIRMED = 12
"""Pairs of each case that run with all seeds: the best of the first seed."""


def rank(
    config: Config | Mapping[str, Any] | str | PathLike[str],
    figure: str,
    *,
    max_suspends: int | None = None,
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
) -> Ranking:
    """Ranks the pairs of suspension schemes that the part allows by one latency figure.

    Args:
        config: a Config, its path, or a dictionary.
        figure: such as `read-p99.99` or `write-mean`; lower is better.
        max_suspends: maximum number of suspensions of one operation by the part's data sheet.
        life: age that the drive of a ranked pair has to reach (`"5y"`).
        dwpd: host writes per day until then, in capacities; by default 1.
        profile: as for `interpulse.life`: periods until then.
        without: schemes that the part does not support.
        out: the folder of the store; default: the name of the configuration in the working folder.
        cases: names of cases; default: all. Each is ranked on its own.
        seeds: number of seeds of the best pairs, at least 2.
        on: as for `interpulse.sweep`.
        jobs: local workers, by default one per core; never changes the result.
        progress: called with the numbers of finished, requested and concurrent simulations.

    Returns:
        For each case the pairs, best first, with 95 % intervals.

    Raises:
        ConfigError: the configuration or the figure cannot be used, the load is too short for the percentile or
            more than the drive serves, or the cluster is unavailable.
        RunError: a simulation failed, or writing failed; finished simulations are kept.
        KeyboardInterrupt: Ctrl-C; finished simulations are kept.
    """
    wanted = read_figure(figure, "rank")
    given, observer = Config.of(config), observer_of(progress)
    age = LifeLimit.read(life, dwpd, ("--life", "--dwpd", "--profile"), profile)
    seeds, cap, without = read_part_limits(seeds, max_suspends, without)
    with opened(given, [wanted], observer, out=out, cases=cases, on=on, jobs=jobs) as setup:
        found = _Ranker(setup, wanted, cap, without, seeds, observer, age).ranking()
        setup.store(found, NAME)
        return found


class _Ranker:
    def __init__(
        self,
        setup: Setup,
        figure: Limit,
        cap: int | None,
        without: Sequence[str],
        seeds: int,
        observer: ProgressObserver,
        life: LifeLimit | None = None,
    ) -> None:
        self._life = life
        self._setup, self._figure, self._seeds, self._observer = setup, figure, seeds, observer
        for case, window in setup.windows.items():
            _check_window(case, window, figure)
        if life is not None:
            check_lives(setup.bare, setup.cases, life)
        self._ways, self._refused = setup.ways([], cap, without)
        self._times: dict[str, float] = {}

    def ranking(self) -> Ranking:
        """Runs the search."""
        self._observer.note("the configuration as it is, with one seed")
        # Shorter windows than configured would save time and unsettle the order.
        self._times = {case: max(1.0, times) for case, times in self._setup.lengths([self._figure]).items()}
        self._check_load()
        pairs = [Candidate(p, e) for p in self._ways["program"] for e in self._ways["erase"]]
        self._observer.note(f"{len(pairs)} pairs of schemes, each with one seed")
        by_case = {case: [Pair(candidate, self._figure) for candidate in pairs] for case in self._setup.cases}
        self._run([(case, pair) for case, of in by_case.items() for pair in of], 1)
        cases = {case: self._sort(case, of) for case, of in by_case.items()}
        self._observer.note(f"the best {CONFIRMED} of each case with {self._seeds} seeds")
        single = [(c, pair) for c, of in cases.items() for pair in (of.none, of.ideal, *of.ranked) if pair is not None]
        self._run(single, self._seeds)
        self._live(single, self._setup.bare, self._setup.cases)
        if self._setup.own is not self._setup.bare:
            self._setup.bare.rest()
        configured = [(case, of.configured) for case, of in cases.items()]
        self._run(configured, self._seeds, own=True)
        self._live(configured, self._setup.own, self._setup.own_cases)
        for of in cases.values():
            self._order(of)
        other = _other(self._figure, [pair for of in cases.values() for pair in of.ranked])
        return Ranking(
            self._figure, other, self._seeds, list(cases.values()), self._refused, self._common(), self._life
        )

    def _check_load(self) -> None:
        """Refuses a case that is overloaded without suspension, which only takes time of the dies."""
        none = [(case, Pair(self._nothing(), self._figure)) for case in self._setup.cases]
        self._run(none, 1)
        for case, pair in none:
            for raw in pair.raws:
                if text := overload_advice(raw):
                    raise ConfigError(f"rank: case {case}, without suspension: {text}")

    def _nothing(self) -> Candidate:
        return Candidate(*(self._way(operation, NONE) for operation in OPERATIONS))

    def _sort(self, case: str, pairs: Sequence[Pair]) -> CaseRanking:
        """Merges pairs that behave identically, and chooses those that run with all seeds."""
        distinct: list[Pair] = []
        for pair in pairs:
            twin = next((each for each in distinct if not pair.error and each.figures == pair.figures), None)
            if twin is None:
                distinct.append(pair)
            elif pair.candidate.strange < twin.candidate.strange:
                # The pair whose schemes were published for these operations gives its name.
                twin.same.append(twin.candidate.label)
                twin.candidate = pair.candidate
            else:
                twin.same.append(pair.candidate.label)
        doubtful = [pair for pair in distinct if pair.doubt]
        sure = sorted((pair for pair in distinct if not pair.doubt), key=_value)
        values = self._setup.values[case]
        ideal = [uncapped(operation, values) for operation in OPERATIONS]
        bound = Pair(Candidate(*ideal), self._figure) if not any(self._setup.legal(way.sets) for way in ideal) else None
        return CaseRanking(
            case,
            sure[:CONFIRMED],
            sure[CONFIRMED:],
            doubtful,
            Pair(self._nothing(), self._figure),
            bound,
            Pair(Candidate(None, None), self._figure),
        )

    def _order(self, of: CaseRanking) -> None:
        """Sorts by all seeds."""
        of.doubtful = [*(pair for pair in of.ranked if pair.excluded), *of.doubtful]
        of.ranked = sorted((pair for pair in of.ranked if not pair.excluded), key=_value)

    def _live(self, pairs: Sequence[tuple[str, Pair]], by: Simulations, cases: Mapping[str, Sets]) -> None:
        """Estimates the life of pairs."""
        if self._life is None:
            return
        self._observer.note(f"the expected life of {len(pairs)} pairs")
        asked = [(case, cases[case], pair.candidate.sets) for case, pair in pairs]
        for (_, pair), found in zip(pairs, expected(by, asked, self._life, self._seeds), strict=True):
            pair.life = found

    def _way(self, operation: str, scheme: str) -> Way:
        return Way(operation, scheme, ((f"suspend.{operation}.scheme", scheme),))

    def _run(self, pairs: Sequence[tuple[str, Pair]], seeds: int, *, own: bool = False) -> None:
        by = self._setup.own if own else self._setup.bare
        cases = self._setup.own_cases if own else self._setup.cases
        asked: list[Sets] = []
        for case, pair in pairs:
            window = self._setup.windows[case].sets(self._times[case])
            asked += [
                by.with_seed((*cases[case], *pair.candidate.sets, *window), repetition) for repetition in range(seeds)
            ]
        answers = iter(by.run(asked))
        for _, pair in pairs:
            pair.raws = []
            for answer in [next(answers) for _ in range(seeds)]:
                if "error" in answer:
                    pair.error = answer["error"]["message"]
                else:
                    pair.raws.append(answer["raw"])

    def _common(self) -> dict[str, dict[str, str]]:
        """Settings besides the scheme that all schemes with suspension have in common."""
        found: dict[str, dict[str, str]] = {}
        for operation, of in self._ways.items():
            each = [dict(way.sets[1:]) for way in of if way.scheme not in (NONE, BOUND)]
            first = each[0] if each else {}
            found[operation] = {key: v for key, v in first.items() if all(sets.get(key) == v for sets in each)}
        return found


def _value(pair: Pair) -> float:
    return pair.value.value if pair.value is not None else math.inf


def _other(figure: Limit, pairs: Sequence[Pair]) -> Limit | None:
    """The tail of the other kind of requests, at the highest percentile up to 99.9 that all pairs know."""
    kind = "read" if figure.kind == "write" else "write"
    for measure in ("p99.9", "p99", "mean"):
        limit = Limit(kind, measure, math.inf)
        raws = [raw for pair in pairs for raw in pair.raws]
        if raws and all(limit.value(raw) is not None and not limit.few(raw) for raw in raws):
            return limit
    return None


def _check_window(case: str, window: Window, figure: Limit) -> None:
    """Refuses a percentile that even the longest window of this case has too few requests for.

    Raises:
        ConfigError: if all requests of that window were of the ranked kind, fewer than ten would lie beyond it.
    """
    if window.key != "run.requests" or figure.measure == "mean":
        return
    needed = math.ceil(round(LEAST_BEYOND / figure.share, 6))
    if window.length * MOST_LONGER < needed:
        raise ConfigError(
            f"rank: case {case}: seen run.requests = {window.length:,.0f}; {figure.name} needs {needed:,} requests, "
            f"{LEAST_BEYOND} of them beyond it, and a ranking extends a window at most {MOST_LONGER} times: "
            f"expected run.requests of at least {math.ceil(needed / MOST_LONGER):,}, or a lower percentile"
        )


def words(of: Mapping[str, str]) -> str:
    """Settings as text: `max-suspends=10`."""
    return ", ".join(f"{key.rsplit('.', 1)[1]}={value}" for key, value in of.items())
