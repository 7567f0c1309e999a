"""Confidence regions: all points that fit as well as the best, explored beyond its neighbourhood."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from interpulse.fitting.model import Point
from interpulse.fitting.optimiser import Optimiser
from interpulse.fitting.parameters import Continuous
from interpulse.fitting.uncertainty import DETERMINED, NORMAL_95, WIDER, scale_of

SURE = (WIDER * NORMAL_95) ** 2
"""Increase of the scaled sum of squares at the end of a 95 % interval."""

BETTER = 1.0
"""Decrease of the sum of squares at which the exploration starts again from the new best point."""

ROUNDS = 40
"""Maximum number of rounds."""

FIRST, LEAST, MOST = 0.06, 0.02, 0.25
"""First, shortest and longest step in the logarithm of a parameter."""

LITTLE = 0.2
"""Shortest step as a share of the extent of the region, if that is more than `LEAST`."""

FARTHER = 1.5
"""Factor on the step after a success."""

TRIES = 2
"""Failures in a row that halve the step; each failure improves the surrogate."""

CHOICES = 3
"""Other choices whose regions are explored, the best first."""


@dataclass
class _End:
    """One end of the region in one parameter."""

    step: float = FIRST
    failed: int = 0


class ConfidenceRegion:
    """The points that fit as well as the best point.

    Derivatives describe only the neighbourhood of a point. The exploration therefore moves each parameter outwards in
    both directions, as a profile likelihood does, and takes the others from the minimum of the local surrogate. A
    point that fits as well becomes the new end. All ends of a round are simulated together.

    Attributes:
        best: the best point.
    """

    def __init__(self, optimiser: Optimiser, parameters: Sequence[Continuous], best: Point) -> None:
        self.best = best
        self._descent = optimiser
        self._parameters = parameters
        self._ends: dict[tuple[tuple[int, ...], int, int], _End] = {}

    def explore(self) -> None:
        """Extends the region; a better point on the way replaces the best one.

        Raises:
            BudgetSpentError: the time is over; the region is what is known of it.
        """
        if not self._parameters:
            return
        optimiser = self._descent
        begun = optimiser.cost(self.best)
        for _ in range(ROUNDS):
            pushed = self._pushes()
            lowest = [optimiser.lowest_near(low) for low in self._lows()]
            optimiser.evaluate([point for _, point in pushed] + lowest)
            best = min([self.best, *lowest, *(point for _, point in pushed)], key=optimiser.cost)
            moved = optimiser.cost(best) < optimiser.cost(self.best) - BETTER / 10
            self.best = best
            enough = self._enough()
            for end, point in pushed:
                if optimiser.cost(point) <= enough:
                    end.step = min(FARTHER * end.step, MOST)
                    end.failed = 0
                else:
                    end.failed += 1
                    if end.failed % TRIES == 0:
                        end.step /= 2
            if optimiser.cost(best) < begun - BETTER:
                begun = optimiser.cost(best)
                self._ends.clear()
            elif not moved and not pushed:
                break

    def rivals(self) -> list[Point]:
        """All points that fit as well, including the best one."""
        near = self._descent.near(self._enough())
        return near if self.best in near else [self.best, *near]

    def _enough(self) -> float:
        figures = len(self._descent.tolerances_in_use)
        scale = scale_of(self._descent.residuals(self.best)[:figures], len(self._parameters))
        return self._descent.cost(self.best) + SURE * scale

    def _lows(self) -> list[Point]:
        """The best points of all choices that fit nearly as well, the best first."""
        found: dict[tuple[int, ...], Point] = {}
        enough = self._enough()
        for point in sorted(self._descent.near(2 * enough - self._descent.cost(self.best)), key=self._descent.cost):
            found.setdefault(point.choices, point)
        return list(found.values())[: CHOICES + 1]

    def _pushes(self) -> list[tuple[_End, Point]]:
        """The next point beyond each end that is not final."""
        optimiser, rivals, enough = self._descent, self.rivals(), self._enough()
        found = []
        for number in range(len(self._parameters)):
            reached = max(abs(point.logs[number] - self.best.logs[number]) for point in rivals)
            if reached > math.log1p(DETERMINED):
                continue
            low, high = optimiser.bounds(number)
            for lowest in self._lows():
                region = sorted(
                    {lowest, *(point for point in rivals if point.choices == lowest.choices)},
                    key=lambda point, number=number: (point.logs[number], point.logs),  # type: ignore[misc]
                )
                for side in (-1, 1) if optimiser.cost(lowest) <= enough else ():
                    state = self._ends.setdefault((lowest.choices, number, side), _End())
                    end = region[0 if side < 0 else -1]
                    far = abs(end.logs[number] - lowest.logs[number])
                    log = min(max(end.logs[number] + side * state.step, low), high)
                    if state.step >= max(LEAST, LITTLE * far) and log != end.logs[number]:
                        found.append((state, optimiser.lowest_near(end, (number, log))))
        return found
