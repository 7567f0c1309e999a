"""Simulated drive as a function of its parameters: the figures under each load."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interpulse._core import ConfigError, RunError
from interpulse.files.cache import parse_size
from interpulse.fitting.budget import BudgetSpentError
from interpulse.fitting.spec import BLOCKS, Spec
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.check import PLANES
from interpulse.sweeps.simulations import Simulations

MOST_WINDOW = 2**33
"""Maximum number of bytes written in a window."""

TOGETHER, ROUND_S = 8, 10.0
"""Points simulated together at first, and the time of a round later: the best drive so far is known after each."""


@dataclass(frozen=True)
class Point:
    """Values of all parameters.

    Attributes:
        logs: natural logarithms of the continuous parameters, in basic units.
        choices: the index of each discrete parameter.
    """

    logs: tuple[float, ...]
    choices: tuple[int, ...]


@dataclass(frozen=True)
class Answer:
    """Figures of a point in the order of the fit; None if a simulation failed or no request completed.

    Attributes:
        why: the reason for a missing figure.
        open: numbers of held-out figures that are None because their loads have not been simulated yet.
    """

    values: tuple[float | None, ...]
    why: str = ""
    open: frozenset[int] = frozenset()

    @property
    def complete(self) -> bool:
        """Whether no simulated figure is missing."""
        return not any(value is None and number not in self.open for number, value in enumerate(self.values))


def window(values: Mapping[str, str], blocks: int = BLOCKS) -> int:
    """Bytes that fill so many blocks in each lane of a drive with these settings."""
    pages = blocks * math.prod(int(values[key]) for key in (*PLANES, "part.pages-per-block"))
    return min(pages * parse_size(values["part.page-size"], "part.page-size"), MOST_WINDOW)


class Model:
    """Simulates points; the store keeps all simulations, so that no point runs twice.

    Attributes:
        fitted: numbers of the loads with a figure that is not held out; a search needs no others.
    """

    def __init__(self, spec: Spec, simulations: Simulations, seen: Callable[[], None] = lambda: None) -> None:
        """Begins without points; `seen` is called after each round of simulated points."""
        self.spec = spec
        self.fitted = tuple(
            number for number, load in enumerate(spec.loads) if not all(target.held_out for target in load.targets)
        )
        self.asked = 0
        self._simulations = simulations
        self._seen = seen
        self._spent_s, self._ran = 0.0, 0
        self._best: tuple[float, Point | None] = (math.inf, None)
        self._known: dict[tuple[Point, int], Answer] = {}
        self._windows: dict[tuple[int, ...], int] = {}
        self._raws: dict[tuple[Point, int], list[Mapping[str, Any] | None]] = {}

    def settings(self, point: Point) -> Sets:
        """The settings of a point."""
        found: list[tuple[str, str]] = []
        for parameter, log in zip(self.spec.continuous, point.logs, strict=True):
            found += parameter.sets(math.exp(log))
        for discrete, number in zip(self.spec.discrete, point.choices, strict=True):
            found += discrete.sets(number)
        return tuple(found)

    def check(self, points: Sequence[Point]) -> None:
        """Raises ConfigError if none of the points is a valid drive, or if the first valid one rejects a load."""
        why = ""
        for point in points:
            sets = (*self.spec.sets, *self.settings(point))
            try:
                self._simulations.plan(sets)
            except ConfigError as error:
                why = why or str(error)
                continue
            for load in self.spec.loads:
                try:
                    self._simulations.plan((*sets, *load.sets(self.spec.requests, 0)))
                except ConfigError as error:
                    raise ConfigError(f"{load.place}: load {load.name}: {error}") from None
            return
        raise ConfigError(f"{self.spec.path}: no tried drive is valid: {why}")

    def ask(self, points: Sequence[Point], seeds: int = 1, *, predict: bool = False) -> list[list[Answer]]:
        """The figures of points for each seed; with `predict` also those of loads of which all are held out.

        Raises:
            ConfigError: the cluster is unavailable.
            RunError: the cluster was lost, or writing failed; finished simulations are kept.
            BudgetSpentError: the time is over; what is known of the points is in `known`.
        """
        wanted = [(point, seed) for point in dict.fromkeys(points) for seed in range(seeds)]
        loads = range(len(self.spec.loads)) if predict else self.fitted
        missing = [each for each in wanted if each not in self._known or (predict and self._known[each].open)]
        while missing:
            now = missing[: self._together()]
            missing = missing[len(now) :]
            self._round(now, loads)
            self._seen()
        return [[self._known[point, seed] for seed in range(seeds)] for point in points]

    def known(self, point: Point, seed: int = 0) -> Answer | None:
        """The figures of a point with a seed; None if it was not simulated under every fitted load."""
        return self._known.get((point, seed))

    @property
    def each_s(self) -> float:
        """Duration of a simulation, divided by those that ran at the same time; 0 if none ran."""
        return self._spent_s / self._ran if self._ran else 0.0

    def _together(self) -> int:
        """Points of the next round."""
        point_s = self.each_s * len(self.fitted)
        return max(TOGETHER, int(ROUND_S / point_s)) if point_s else TOGETHER

    def _round(self, keys: Sequence[tuple[Point, int]], loads: Sequence[int]) -> None:
        asks = {key: self._asks(*key, loads) for key in keys}
        begun, before = time.monotonic(), self._simulations.simulated
        try:
            answers = iter(self._simulations.run([each for asked in asks.values() for each in asked]))
        except (BudgetSpentError, KeyboardInterrupt):
            # Points whose simulations have all ended are kept.
            for key, asked in asks.items():
                stored = [self._simulations.stored(each) for each in asked]
                if None not in stored:
                    self._keep(key, loads, [each for each in stored if each is not None])
            raise
        finally:
            self._spent_s += time.monotonic() - begun
            self._ran += self._simulations.simulated - before
        for key, asked in asks.items():
            self._keep(key, loads, [next(answers) for _ in asked])

    def _keep(self, key: tuple[Point, int], loads: Sequence[int], answers: Sequence[Mapping[str, Any]]) -> None:
        answer = self._answer(key, dict(zip(loads, answers, strict=True)))
        self.asked += key not in self._known
        self._known[key] = answer
        point, seed = key
        if seed == 0 and answer.complete and (off := self._off(answer)) < self._best[0]:
            self._best = off, point

    def _off(self, answer: Answer) -> float:
        """Sum of squares of the deviations of figures that are not held out, in tolerances of the file."""
        pairs = zip(answer.values, self.spec.targets(), strict=True)
        return sum(
            (math.log((value or 0) / target.value) / target.tolerance) ** 2
            for value, (_, target) in pairs
            if not target.held_out
        )

    @property
    def best_seen(self) -> Point | None:
        """The point whose figures, with one seed, are nearest so far."""
        return self._best[1]

    def raw(self, point: Point, seed: int = 0) -> list[Mapping[str, Any] | None]:
        """The complete results of a simulated point, one per load; None if it failed or has not been simulated."""
        return self._raws[point, seed]

    def _asks(self, point: Point, seed: int, loads: Sequence[int]) -> list[Sets]:
        sets = (*self.spec.sets, *self.settings(point))
        # Sizes are counts and therefore choices.
        if point.choices not in self._windows:
            try:
                self._windows[point.choices] = window(self._simulations.values(sets), self.spec.blocks)
            except ConfigError:
                self._windows[point.choices] = 0
        size = self._windows[point.choices]
        own = [self.spec.loads[number].sets(self.spec.requests, size) for number in loads]
        return [self._simulations.with_seed((*sets, *each), seed) for each in own]

    def _answer(self, key: tuple[Point, int], answers: Mapping[int, Mapping[str, Any]]) -> Answer:
        """The figures of a point from the answers by number of the load."""
        values: list[float | None] = []
        why = ""
        raws: list[Mapping[str, Any] | None] = []
        unknown: set[int] = set()
        for number, load in enumerate(self.spec.loads):
            answer = answers.get(number)
            if answer is None:
                unknown |= set(range(len(values), len(values) + len(load.targets)))
                raw = None
            else:
                raw = answer.get("raw")
            raws.append(raw)
            if raw is None and answer is not None:
                error = answer["error"]
                if error["kind"] in ("bug", "worker"):
                    raise RunError(error["message"])
                why = why or error["message"]
            values += [None if raw is None else target.of(raw, load.block) for target in load.targets]
        self._raws[key] = raws
        return Answer(tuple(values), why, frozenset(unknown))
