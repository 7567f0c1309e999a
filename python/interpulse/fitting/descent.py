"""The search for the parameters: points all over the bounds, and least squares from the best of them.

Simulations of the same seed see the same arrivals, so that figures move smoothly enough with parameters for derivatives
by differences of some percent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import qmc

from interpulse._core import ConfigError
from interpulse.fitting.emulator import APART, proposals
from interpulse.fitting.model import Point
from interpulse.fitting.squares import BENT, Way, bent, straight

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from interpulse.fitting.model import Answer, Model

FIRST = 10
"""Points all over the bounds for each parameter, rounded up to a power of two in all."""

PROPOSED = 8
"""Points that a stand-in for the simulator, made of what was simulated, proposes at a time, in different valleys."""

BEFORE = 6
"""So many times before the way down begins."""

AFTER = 3
"""And so many times after each: is there another valley as deep?"""

STARTS = 3
"""The best of all points, in different valleys, are gone on from to the end: so many."""

WAVES = 3
"""The latter is done at most so many times, ..."""

GOOD = 1.0
"""... until the sum of squares is below this for each figure: none is off by more than its tolerance."""

FEW = 4
"""And as many of what was proposed later, for so many steps."""

STEP = 0.06
"""Differences are taken over this part of a parameter's logarithm: 6 %."""

ROUNDS = 10
"""Most steps of least squares from one point."""

SECANTS = 6
"""Most steps where one parameter is held, with derivatives from elsewhere, ..."""

WALK = 2
"""... and with new ones, where that was not enough."""

MOST = 0.9
"""And no other is begun with at a place farther than this share of it, or of its inverse."""

SEEDS = 3
"""Seeds of the best of the first points: how much figures differ by chance is not to be explained by parameters."""

UNLIKE = 9.0
"""A choice whose sum of squares is this for each figure is not walked past: figures are three tolerances off."""

LOST = 5.0
"""The logarithm of the ratio that a figure is taken to be off by where there is none."""


TINY = 1e-12
"""What keeps a derivative of nothing, without chance, at nothing."""


@dataclass(frozen=True)
class Slopes:
    """What derivatives at a point say of its surroundings.

    Attributes:
        at: the point.
        jacobian: derivatives of the logarithms of figures by those of parameters.
        covariance: of the logarithms of parameters.
        enough: no sum of squares has to be below this.
    """

    at: Point
    jacobian: NDArray[np.float64]
    covariance: NDArray[np.float64]
    enough: float


class Descent:
    """Finds the point whose figures are nearest to those that are known.

    Attributes:
        ends: where ways down have ended.
        tolerances: of each figure as a share: what the file allows, and what seeds differ by.
    """

    def __init__(self, model: Model) -> None:
        spec = model.spec
        self._model = model
        self._targets = spec.targets()
        self._used = [number for number, (_, target) in enumerate(self._targets) if not target.held_out]
        self._low = np.array([math.log(each.low) for each in spec.continuous])
        self._high = np.array([math.log(each.high) for each in spec.continuous])
        self.tolerances = np.array([target.tolerance for _, target in self._targets])
        self._chance = np.zeros(len(self._targets))
        self._bend = np.array([BENT.get(each.kind, 0.0) for each in spec.continuous])
        self._priors = np.array(
            [
                [1 / math.log(each.within) if number == other else 0.0 for other in range(len(spec.continuous))]
                for number, each in enumerate(spec.continuous)
                if each.prior is not None
            ]
        ).reshape(-1, len(spec.continuous))
        counts = [len(each.axis.choices) for each in spec.discrete]
        self._choices = np.array([0.0] * len(spec.continuous) + counts)
        self._costs: dict[Point, float] = {}
        self.ends: list[Point] = []

    @property
    def tolerances_in_use(self) -> NDArray[np.float64]:
        """Of the figures that are not held out."""
        return self.tolerances[self._used]

    def run(self) -> Point:
        """The best point.

        Raises:
            ConfigError: nothing that was tried is a drive, or the cluster is not there.
            RunError: the cluster has gone, or nothing more can be written.
        """
        points = self._spread()
        self._model.check(points)
        found = self._evaluate(points)
        if not any(any(value is not None for value in answer.values) for answer in found):
            raise ConfigError(f"{self._model.spec.path}: no drive that was tried could be simulated: {found[0].why}")
        self._allow_for_chance(sorted(points, key=self.cost)[:STARTS])
        self._evaluate(points)
        self._propose(BEFORE)
        starts = self._valleys(STARTS)
        best = self._around(min((self._descend(start, ROUNDS) for start in starts), key=self.cost))
        for _ in range(WAVES):
            self._propose(AFTER)
            others = [point for point in self._valleys(2 * STARTS) if point not in starts and point not in self.ends]
            starts += others[:STARTS]
            best = min([best, *(self._descend(start, FEW) for start in others[:STARTS])], key=self.cost)
            if self._costs[best] < GOOD * len(self._used):
                break
            # Valleys are narrow and bent where tolerances are small: a new trust region knows nothing of the way.
            best = self._around(self._descend(best, ROUNDS))
        # Once more from there, with what chance does there.
        self._allow_for_chance([best])
        best = self._descend(best, ROUNDS)
        self._evaluate(self.ends)
        return min([best, *self.ends], key=self.cost)

    def rivals(self, best: Point, worse: float) -> list[Point]:
        """Where other ways down have ended with a sum of squares that is not greater by more than this."""
        return [each for each in self.ends if self.cost(each) <= self.cost(best) + worse]

    def walk(self, start: Point, known: Slopes, number: int, log: float) -> Point:
        """Where the others go when a parameter is held at another value.

        Args:
            start: the point to go from.
            known: derivatives elsewhere, which say where the others begin to look.
            number: of the parameter.
            log: what its logarithm is held at.
        """
        logs = np.array(start.logs)
        step = float(bent(np.array([log - logs[number]]), self._bend[[number]])[0])
        moved = np.clip(known.covariance[number] / known.covariance[number, number] * step, -MOST, MOST)
        logs = np.clip(logs + straight(moved, self._bend), self._low, self._high)
        logs[number] = log
        end = self._descend(Point(tuple(map(float, logs)), start.choices), SECANTS, number, known)
        return self._descend(end, WALK, number) if self.cost(end) > known.enough else end

    def improve(self, point: Point) -> Point:
        """The end of the way down from a point."""
        return self._descend(point, ROUNDS)

    def bounds(self, number: int) -> tuple[float, float]:
        """The logarithms that a parameter lies between."""
        return float(self._low[number]), float(self._high[number])

    def cost(self, point: Point) -> float:
        """The sum of squares of a point that was evaluated: of how far figures and priors are off, in tolerances."""
        return self._costs[point]

    def jacobian(self, point: Point, seeds: int = 1, moved: Iterable[int] | None = None) -> NDArray[np.float64]:
        """Derivatives of the logarithm of each figure in use by that of each parameter, by central differences.

        What chance may have made counts little: each is taken by the share of its square in the sum with what chance
        makes on average. Percentiles of writes would else seem to say something of every parameter.
        """
        columns: list[NDArray[np.float64]] = []
        numbers = range(len(point.logs)) if moved is None else [int(each) for each in moved]
        pairs = [self._beside(point, number) for number in numbers]
        ends = [each for pair in pairs for each in pair]
        self._evaluate(ends)
        answers = self._model.ask(ends, seeds)
        for place, (number, (low, high)) in enumerate(zip(numbers, pairs, strict=True)):
            apart = high.logs[number] - low.logs[number]
            below, above = (
                np.mean([self._logs(answer) for answer in answers[2 * place + end]], axis=0)[self._used]
                for end in range(2)
            )
            slopes = (above - below) / apart
            noise = self._chance[self._used] * math.sqrt(2 / seeds) / apart
            share = slopes**2 / np.maximum(slopes**2 + noise**2, TINY)
            columns.append(share * slopes)
        return np.array(columns).T.reshape(len(self._used), len(pairs))

    def residuals(self, point: Point) -> NDArray[np.float64]:
        """How far figures and priors are off, in tolerances."""
        (answer,) = self._evaluate([point])
        return self._residuals(point, answer)

    def _spread(self) -> list[Point]:
        spec = self._model.spec
        dimensions = len(spec.parameters)
        count = 2 ** math.ceil(math.log2(FIRST * dimensions))
        drawn = qmc.Sobol(dimensions, seed=spec.seed).random(count)
        middle = tuple(
            math.log(each.prior) if each.prior is not None else float((low + high) / 2)
            for each, low, high in zip(spec.continuous, self._low, self._high, strict=True)
        )
        return [Point(middle, tuple(len(each.axis.choices) // 2 for each in spec.discrete)), *map(self._point, drawn)]

    def _evaluate(self, points: Sequence[Point]) -> list[Answer]:
        answers = [each[0] for each in self._model.ask(points)]
        for point, answer in zip(points, answers, strict=True):
            self._costs[point] = float(np.sum(self._residuals(point, answer) ** 2))
        return answers

    def _allow_for_chance(self, points: Sequence[Point]) -> None:
        """Adds to tolerances what the figures of these points differ by between seeds: theirs, and those known."""
        given = np.array([target.tolerance for _, target in self._targets])
        several = [np.array([self._logs(answer) for answer in seeds]) for seeds in self._model.ask(points, SEEDS)]
        chance = np.mean([logs.var(axis=0, ddof=1) for logs in several], axis=0)
        self._chance = np.sqrt(chance)
        self.tolerances = np.sqrt(given**2 + 2 * chance)

    def _logs(self, answer: Answer) -> NDArray[np.float64]:
        known = [target.value for _, target in self._targets]
        pairs = zip(answer.values, known, strict=True)
        return np.array([LOST if value is None else math.log(value / wanted) for value, wanted in pairs])

    def _residuals(self, point: Point, answer: Answer) -> NDArray[np.float64]:
        off = (self._logs(answer) / self.tolerances)[self._used]
        priors = [
            (log - math.log(each.prior)) / math.log(each.within)
            for log, each in zip(point.logs, self._model.spec.continuous, strict=True)
            if each.prior is not None
        ]
        return np.concatenate([off, np.array(priors)])

    def _beside(self, point: Point, number: int) -> tuple[Point, Point]:
        ends = []
        for step in (-STEP, STEP):
            logs = list(point.logs)
            logs[number] = float(np.clip(logs[number] + step, self._low[number], self._high[number]))
            ends.append(Point(tuple(logs), point.choices))
        return ends[0], ends[1]

    def _descend(self, start: Point, rounds: int, held: int | None = None, known: Slopes | None = None) -> Point:
        """Least squares by a trust region within the bounds; the best point that it came by.

        Args:
            start: where it begins.
            rounds: most steps.
            held: a parameter that stays where it is.
            known: derivatives elsewhere, which are corrected by what steps come to, instead of new ones at each.
        """
        self._evaluate([start])
        way = Way(np.array(start.logs), (self._low, self._high), self._bend, held)
        if len(way.free) == 0:
            self.ends.append(start)
            return start
        seen = [start]

        def residuals(logs: NDArray[np.float64]) -> NDArray[np.float64]:
            seen.append(Point(tuple(map(float, logs)), start.choices))
            return self.residuals(seen[-1])

        def jacobian(logs: NDArray[np.float64]) -> NDArray[np.float64]:
            if known is None:
                slopes = self.jacobian(Point(tuple(map(float, logs)), start.choices), moved=way.free)
            else:
                # Times add up: the more a part is of a whole, the more the whole moves with it.
                slopes = (known.jacobian * np.exp(self._bend * (logs - np.array(known.at.logs))))[:, way.free]
            return np.vstack([slopes / self.tolerances_in_use[:, None], self._priors[:, way.free]])

        way.down(residuals, jacobian, rounds, once=known is not None)
        found = min((point for point in seen if point in self._costs), key=self.cost)
        if found not in self.ends:
            self.ends.append(found)
        return found

    def _around(self, best: Point) -> Point:
        """The best of a point and of where ways end that begin at other choices, each from the end at the one before.

        All are walked by, whichever is the best: another one that fits as well makes everything less sure.
        """
        gone: set[tuple[int, ...]] = {best.choices}
        while True:
            middle = best
            for number, each in enumerate(self._model.spec.discrete):
                for step in (-1, 1):
                    end = middle
                    while 0 <= end.choices[number] + step < len(each.axis.choices):
                        choices = (*end.choices[:number], end.choices[number] + step, *end.choices[number + 1 :])
                        if choices in gone:
                            break
                        gone.add(choices)
                        end = self._descend(Point(end.logs, choices), ROUNDS)
                        best = min(best, end, key=self.cost)
                        if self.cost(end) > self.cost(best) + UNLIKE * len(self._used):
                            break
            if best == middle:
                return best

    def _propose(self, times: int) -> None:
        """Simulates what an interpolation of all that was simulated thinks is good."""
        for _ in range(times):
            points = list(self._costs)
            answers = self._evaluate(points)
            rows = np.array([self._share(point) for point in points])
            residuals = np.array(
                [self._residuals(point, answer) for point, answer in zip(points, answers, strict=True)]
            )
            number = len(points)
            wanted = proposals(rows, residuals, self._choices, PROPOSED, self._model.spec.seed + number)
            self._evaluate([self._point(row) for row in wanted])

    def _valleys(self, count: int) -> list[Point]:
        """The best points so far that are apart from each other."""
        found: list[Point] = []
        for point in sorted(self._costs, key=self.cost):
            apart = (float(np.max(np.abs(self._share(point) - self._share(other)))) > APART for other in found)
            if len(found) < count and all(apart):
                found.append(point)
        return found

    def _share(self, point: Point) -> NDArray[np.float64]:
        """Where between the bounds a point lies."""
        logs = (np.array(point.logs) - self._low) / (self._high - self._low)
        return np.concatenate([logs, (np.array(point.choices) + 0.5) / np.maximum(self._choices[len(logs) :], 1)])

    def _point(self, share: NDArray[np.float64]) -> Point:
        logs = self._low + share[: len(self._low)] * (self._high - self._low)
        counts = self._choices[len(self._low) :]
        choices = np.clip(np.floor(share[len(self._low) :] * counts), 0, counts - 1)
        return Point(tuple(map(float, logs)), tuple(int(each) for each in choices))
