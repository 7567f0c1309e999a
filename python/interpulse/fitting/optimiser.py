"""Optimiser: global sampling of the bounds, then descents from the best points.

Each step goes to the minimum of a local surrogate of all points so far. A step costs one simulation of each load, and
the surrogate averages out the variation of figures from point to point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.stats import qmc

from interpulse._core import ConfigError
from interpulse.fitting.budget import BudgetSpentError
from interpulse.fitting.coordinates import ADDITIVE, Array, to_additive
from interpulse.fitting.emulator import APART, proposals
from interpulse.fitting.model import Answer, Model, Point
from interpulse.fitting.surrogate import REACH, Surrogate

FIRST = 10
"""Sobol points for each parameter; their total is rounded up to a power of two."""

PROPOSED = 8
"""Points that the emulator proposes in a batch."""

BEFORE, AFTER = 6, 3
"""Batches of proposals before the descents, and in each wave after them."""

STARTS = 3
"""Descents from the best points, and in each wave."""

WAVES = 3
"""Maximum number of waves: proposals, then short descents."""

GOOD = 1.0
"""Sum of squares for each figure that ends the waves: no figure deviates by more than its tolerance."""

FEW = 4
"""Steps of a descent in a wave, at most."""

STEP = 0.06
"""Step of a central difference, in the logarithm of a parameter."""

ROUNDS = 10
"""Steps of a descent, at most."""

SHORTER, LONGER = 0.5, 1.5
"""Factors on the trust region after a failed and a successful step."""

ENOUGH, IDLE = 0.01, 4
"""A descent ends after so many steps in a row that each reduce the sum of squares by less than this share."""

BESIDE = 0.15
"""Distance of the points that determine derivatives."""

SEEDS = 3
"""Seeds from which the variance of figures by chance is estimated."""

DOUBTED = 4
"""Ratio of unsmoothed to wanted sum of squares beyond which a point is ignored."""

SETTLED = 3
"""Iterations between roughness and the weights of the surrogate."""

UNLIKE = 9.0
"""Sum of squares for each figure at which the walk over choices turns back."""

LOST = 5.0
"""Logarithm of the ratio that replaces a missing figure."""

CANDIDATES = 8
"""Points with the least sums of squares of which the smoothed one decides, where the search was stopped."""

TINY = 1e-12
"""Lower limit of the denominator for a derivative without noise."""


class Optimiser:
    """Finds the point with the least deviation from the known figures.

    Attributes:
        ends: the final points of all descents.
        tolerances: of each figure, as a share: that of the file plus the variation between seeds and near points.
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
        self._between_seeds = self._chance
        self._exponents = np.array([ADDITIVE.get(each.kind, 0.0) for each in spec.continuous])
        self._priors = np.array(
            [
                [1 / math.log(each.within) if number == other else 0.0 for other in range(len(spec.continuous))]
                for number, each in enumerate(spec.continuous)
                if each.prior is not None
            ]
        ).reshape(-1, len(spec.continuous))
        self._middle = np.array([math.log(each.prior or 1) for each in spec.continuous])
        counts = [len(each.axis.choices) for each in spec.discrete]
        self._choices = np.array([0.0] * len(spec.continuous) + counts)
        self._costs: dict[Point, float] = {}
        self._smooth: dict[Point, tuple[int, float]] = {}
        self._figures: dict[Point, Array] = {}
        self.ends: list[Point] = []

    @property
    def tolerances_in_use(self) -> Array:
        """Tolerances of the figures that are not held out."""
        return self.tolerances[self._used]

    def run(self) -> Point:
        """The best point.

        Raises:
            ConfigError: no tried point is a valid drive, or the cluster is not available.
            RunError: the cluster was lost, or writing failed.
            BudgetSpentError: the time is over; `best_so_far` is known.
        """
        points = self.spread
        self._model.check(points)
        found = self.evaluate(points)
        if not any(any(value is not None for value in answer.values) for answer in found):
            raise ConfigError(f"{self._model.spec.path}: no tried drive could be simulated: {found[0].why}")
        self._allow_for_chance(sorted(points, key=self._costs.__getitem__)[:STARTS])
        self._propose(BEFORE)
        starts = self._distinct(STARTS)
        best = self._around(min((self._descend(start, ROUNDS) for start in starts), key=self.cost))
        self._allow_for_roughness(best)
        for _ in range(WAVES):
            self._propose(AFTER)
            others = [point for point in self._distinct(2 * STARTS) if point not in starts and point not in self.ends]
            starts += others[:STARTS]
            best = min([best, *(self._descend(start, FEW) for start in others[:STARTS])], key=self.cost)
            if self.cost(best) < GOOD * len(self._used):
                break
            best = self._around(self._descend(best, ROUNDS))
        # Chance and roughness at the best point may differ from those at the first points.
        self._allow_for_chance([best])
        self._allow_for_roughness(best)
        best = self._descend(best, ROUNDS)
        return min([best, *self.near(self.cost(best))], key=self.cost)

    def near(self, enough: float) -> list[Point]:
        """All points with at most this sum of squares."""
        looked = DOUBTED * (enough + len(self._used))
        return [point for point, seen in self._costs.items() if seen <= looked and self.cost(point) <= enough]

    def lowest_near(self, point: Point, held: tuple[int, float] | None = None, reach: float = REACH) -> Point:
        """The minimum of the local surrogate around a point.

        Args:
            point: the centre of the surrogate.
            held: number and logarithm of a fixed parameter.
            reach: largest move of a parameter.
        """
        surrogate = self._surrogate(point, self._chance)
        nothing = Point(tuple(0.0 for _ in point.logs), point.choices)
        priors = self._priors, self._expected(nothing)
        logs = surrogate.lowest(self.tolerances_in_use, priors, (self._low, self._high), held, reach)
        return Point(tuple(map(float, logs)), point.choices)

    def _surrogate(self, point: Point, chance: Array) -> Surrogate:
        known = [each for each in self._figures if each.choices == point.choices]
        return Surrogate(
            np.array(point.logs),
            self._exponents,
            np.array([each.logs for each in known]),
            np.array([self._figures[each] for each in known])[:, self._used],
            chance[self._used],
        )

    def bounds(self, number: int) -> tuple[float, float]:
        """Lower and upper logarithm of a parameter."""
        return float(self._low[number]), float(self._high[number])

    def cost(self, point: Point) -> float:
        """The sum of squares of the deviations of an evaluated point, in tolerances.

        Taken from the surrogate around the point: of unsmoothed figures the best point would be the luckiest one.
        """
        known = len(self._figures)
        if self._smooth.get(point, (0, 0.0))[0] != known:
            self._smooth[point] = known, float(np.sum(self.residuals(point) ** 2))
        return self._smooth[point][1]

    def residuals(self, point: Point) -> Array:
        """Deviations of figures and priors in tolerances, from the surrogate around the point."""
        if point not in self._figures:
            (answer,) = self.evaluate([point])
            return self._residuals(point, answer)
        figures = self._surrogate(point, self._chance).figures(np.zeros(len(point.logs)))
        return np.concatenate([figures / self.tolerances_in_use, self._expected(point)])

    def jacobian(self, point: Point, seeds: int = 1) -> Array:
        """Derivatives of the logarithms of figures by those of parameters, by central differences.

        Each derivative is weighted by the share of its square in the sum with the variance from chance: noisy
        percentiles would otherwise seem to depend on every parameter.
        """
        columns: list[Array] = []
        pairs = [self._beside(point, number) for number in range(len(point.logs))]
        ends = [each for pair in pairs for each in pair]
        self.evaluate(ends)
        answers = self._model.ask(ends, seeds)
        for number, (low, high) in enumerate(pairs):
            apart = high.logs[number] - low.logs[number]
            below, above = (
                np.mean([self._logs(answer) for answer in answers[2 * number + end]], axis=0)[self._used]
                for end in range(2)
            )
            slopes = (above - below) / apart
            noise = self._chance[self._used] * math.sqrt(2 / seeds) / apart
            share = slopes**2 / np.maximum(slopes**2 + noise**2, TINY)
            columns.append(share * slopes)
        return np.array(columns).T.reshape(len(self._used), len(pairs))

    @cached_property
    def spread(self) -> list[Point]:
        """The first points, which cover the bounds."""
        spec = self._model.spec
        dimensions = len(spec.parameters)
        count = 2 ** math.ceil(math.log2(FIRST * dimensions))
        drawn = qmc.Sobol(dimensions, seed=spec.seed).random(count)
        middle = tuple(
            math.log(each.prior) if each.prior is not None else float((low + high) / 2)
            for each, low, high in zip(spec.continuous, self._low, self._high, strict=True)
        )
        return [Point(middle, tuple(len(each.axis.choices) // 2 for each in spec.discrete)), *map(self._point, drawn)]

    def evaluate(self, points: Sequence[Point]) -> list[Answer]:
        """Simulates points with one seed. Raises BudgetSpentError, with what is known taken over."""
        try:
            answers = [each[0] for each in self._model.ask(points)]
        except (BudgetSpentError, KeyboardInterrupt):
            for point in points:
                self._take(point, self._model.known(point))
            raise
        for point, answer in zip(points, answers, strict=True):
            self._take(point, answer)
        return answers

    def _take(self, point: Point, answer: Answer | None) -> None:
        if answer is None:
            return
        if answer.complete:
            self._figures[point] = self._logs(answer)
        self._costs[point] = float(np.sum(self._residuals(point, answer) ** 2))

    def best_so_far(self) -> Point | None:
        """The best point of all that were simulated under every load; None if there is none."""
        known = sorted(self._figures, key=self._costs.__getitem__)[:CANDIDATES]
        return min(known, key=self.cost, default=None)

    def allow_for_chance_of_predictions(self, answers: Sequence[Answer]) -> None:
        """Adds the variation between seeds to the tolerances of held-out figures that no search has simulated."""
        for number in range(len(self._targets)):
            values = [answer.values[number] for answer in answers]
            known = [math.log(value) for value in values if value]
            if number not in self._used and self._chance[number] == 0 and len(known) == len(values) > 1:
                self.tolerances[number] = math.hypot(
                    self.tolerances[number], math.sqrt(2) * float(np.std(known, ddof=1))
                )

    def settle(self, best: Point) -> None:
        """Adds the variation of figures at the best point to the tolerances, where the search was stopped early."""
        self._allow_for_chance([best])

    def _allow_for_chance(self, points: Sequence[Point]) -> None:
        """Adds the variation of figures between seeds to the tolerances."""
        asked = self._model.ask(points, SEEDS)
        several = [np.array([self._logs(answer) for answer in seeds]) for seeds in asked]
        self._between_seeds = np.sqrt(np.mean([logs.var(axis=0, ddof=1) for logs in several], axis=0))
        unknown = frozenset[int]().union(*(answer.open for seeds in asked for answer in seeds))
        self._between_seeds[sorted(unknown)] = 0
        self._set_chance(self._between_seeds)

    def _allow_for_roughness(self, point: Point) -> None:
        """Adds the variation of figures between near points with the same seed to the tolerances."""
        chance = self._between_seeds
        for _ in range(SETTLED):
            rough = self._surrogate(point, chance).rough()
            if rough is None:
                return
            chance = chance.copy()
            chance[self._used] = np.maximum(self._between_seeds[self._used], rough)
        self._set_chance(chance)

    def _set_chance(self, chance: Array) -> None:
        given = np.array([target.tolerance for _, target in self._targets])
        self._chance = chance
        self.tolerances = np.sqrt(given**2 + 2 * chance**2)
        self._smooth.clear()
        self.evaluate(list(self._costs))

    def _logs(self, answer: Answer) -> Array:
        known = [target.value for _, target in self._targets]
        pairs = zip(answer.values, known, strict=True)
        return np.array([LOST if value is None else math.log(value / wanted) for value, wanted in pairs])

    def _residuals(self, point: Point, answer: Answer) -> Array:
        off = (self._logs(answer) / self.tolerances)[self._used]
        return np.concatenate([off, self._expected(point)])

    def _expected(self, point: Point) -> Array:
        """Deviations of parameters from their priors."""
        off: Array = self._priors @ (np.array(point.logs) - self._middle)
        return off

    def _beside(self, point: Point, number: int) -> tuple[Point, Point]:
        ends = []
        for step in (-STEP, STEP):
            logs = list(point.logs)
            logs[number] = float(np.clip(logs[number] + step, self._low[number], self._high[number]))
            ends.append(Point(tuple(logs), point.choices))
        return ends[0], ends[1]

    def _descend(self, start: Point, rounds: int) -> Point:
        """The best point of a descent; each step goes to the minimum of a surrogate of all points so far."""
        self.evaluate([start])
        if not start.logs or start not in self._figures:
            return start
        at, reach, idle = start, REACH, 0
        for _ in range(rounds):
            if self._few(at):
                self.evaluate([end for number in range(len(at.logs)) for end in self._beside(at, number)])
            to = self.lowest_near(at, reach=reach)
            self.evaluate([to])
            before = self.cost(at)
            at = min(at, to, key=self.cost)
            better = before - self.cost(at)
            reach = min(reach * LONGER, REACH) if better > 0 else reach * SHORTER
            idle = 0 if better > ENOUGH * before else idle + 1
            if idle == IDLE:
                break
        self.ends.append(at)
        return at

    def _few(self, point: Point) -> bool:
        """Whether too few points are near to determine derivatives."""
        near = [
            to_additive(np.array(each.logs) - np.array(point.logs), self._exponents)
            for each in self._figures
            if each.choices == point.choices
        ]
        beside = [moved for moved in near if np.max(np.abs(moved)) < BESIDE]
        return len(beside) <= 2 * len(point.logs)

    def _around(self, best: Point) -> Point:
        """The best point of descents at other choices, each started from the end at the neighbouring choice.

        All choices are visited: another choice that fits as well widens the intervals.
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
        for _ in range(times):
            points = list(self._costs)
            answers = self.evaluate(points)
            rows = np.array([self._share(point) for point in points])
            residuals = np.array(
                [self._residuals(point, answer) for point, answer in zip(points, answers, strict=True)]
            )
            number = len(points)
            wanted = proposals(rows, residuals, self._choices, PROPOSED, self._model.spec.seed + number)
            self.evaluate([self._point(row) for row in wanted])

    def _distinct(self, count: int) -> list[Point]:
        """The best points so far with a minimum distance from each other."""
        found: list[Point] = []
        for point in sorted(self._costs, key=self._costs.__getitem__):
            apart = (float(np.max(np.abs(self._share(point) - self._share(other)))) > APART for other in found)
            if len(found) < count and all(apart):
                found.append(point)
        return found

    def _share(self, point: Point) -> Array:
        """Position of a point between the bounds, from 0 to 1."""
        logs = (np.array(point.logs) - self._low) / (self._high - self._low)
        return np.concatenate([logs, (np.array(point.choices) + 0.5) / np.maximum(self._choices[len(logs) :], 1)])

    def _point(self, share: Array) -> Point:
        logs = self._low + share[: len(self._low)] * (self._high - self._low)
        counts = self._choices[len(self._low) :]
        choices = np.clip(np.floor(share[len(self._low) :] * counts), 0, counts - 1)
        return Point(tuple(map(float, logs)), tuple(int(each) for each in choices))
