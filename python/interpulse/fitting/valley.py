"""How far a valley goes: its ends are pushed outwards while figures stay as near."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from interpulse.fitting.certainty import DETERMINED, NORMAL_95, WIDER, scale_of
from interpulse.fitting.descent import Descent
from interpulse.fitting.model import Point
from interpulse.fitting.parameters import Continuous

SURE = (WIDER * NORMAL_95) ** 2
"""A point fits as well where its sum of squares is greater by no more than this, weighed: a 95 % interval's end."""

BETTER = 1.0
"""A point that is so much lower than the lowest is where all is begun again."""

ROUNDS = 40
"""Most times that the ends are pushed."""

FIRST = 0.06
"""The first push, of the logarithm of a parameter, ..."""

MOST = 0.25
"""... the longest ..."""

LEAST = 0.02
"""... and the shortest, ..."""

LITTLE = 0.2
"""... unless this share of how far the valley goes is more: then that is."""

FARTHER = 1.5
"""Where a push succeeds, the next one is so many times as long."""

TRIES = 2
"""So many that fail make the next ones half as long: what failed has taught the surface."""

CHOICES = 3
"""Other choices that fit as well have valleys, too: so many of them are followed, the lowest."""


@dataclass
class _Way:
    """One end of a valley."""

    step: float = FIRST
    failed: int = 0


class Valley:
    """What fits as well as the best point.

    From derivatives alone one knows a point's surroundings; valleys bend. So from each end of the valley, of each
    parameter to either side, that parameter is moved on, and the others to where the surface learnt from all points
    around that end is lowest. Where figures are as near, that is the new end. All ends are pushed at a time.

    Attributes:
        best: the best point.
    """

    def __init__(self, descent: Descent, parameters: Sequence[Continuous], best: Point) -> None:
        self.best = best
        self._descent = descent
        self._parameters = parameters
        self._ways: dict[tuple[tuple[int, ...], int, int], _Way] = {}

    def explore(self) -> None:
        """Pushes the ends; what is found lower on the way is the best point from then on."""
        if not self._parameters:
            return
        descent = self._descent
        begun = descent.cost(self.best)
        for _ in range(ROUNDS):
            pushed = self._pushes()
            lowest = [descent.lowest_near(low) for low in self._lows()]
            descent.evaluate([point for _, point in pushed] + lowest)
            best = min([self.best, *lowest, *(point for _, point in pushed)], key=descent.cost)
            moved = descent.cost(best) < descent.cost(self.best) - BETTER / 10
            self.best = best
            enough = self._enough()
            for way, point in pushed:
                if descent.cost(point) <= enough:
                    way.step = min(FARTHER * way.step, MOST)
                    way.failed = 0
                else:
                    way.failed += 1
                    if way.failed % TRIES == 0:
                        way.step /= 2
            if descent.cost(best) < begun - BETTER:
                begun = descent.cost(best)
                self._ways.clear()
            elif not moved and not pushed:
                break

    def rivals(self) -> list[Point]:
        """All points that fit as well, the best one among them."""
        near = self._descent.near(self._enough())
        return near if self.best in near else [self.best, *near]

    def _enough(self) -> float:
        figures = len(self._descent.tolerances_in_use)
        scale = scale_of(self._descent.residuals(self.best)[:figures], len(self._parameters))
        return self._descent.cost(self.best) + SURE * scale

    def _lows(self) -> list[Point]:
        """The lowest points of choices that fit as well or nearly, the best one first."""
        found: dict[tuple[int, ...], Point] = {}
        enough = self._enough()
        for point in sorted(self._descent.near(2 * enough - self._descent.cost(self.best)), key=self._descent.cost):
            found.setdefault(point.choices, point)
        return list(found.values())[: CHOICES + 1]

    def _pushes(self) -> list[tuple[_Way, Point]]:
        """Where each end that is not the last is pushed to."""
        descent, rivals, enough = self._descent, self.rivals(), self._enough()
        found = []
        for number in range(len(self._parameters)):
            reached = max(abs(point.logs[number] - self.best.logs[number]) for point in rivals)
            if reached > math.log1p(DETERMINED):
                continue
            low, high = descent.bounds(number)
            for lowest in self._lows():
                valley = sorted(
                    {lowest, *(point for point in rivals if point.choices == lowest.choices)},
                    key=lambda point, number=number: (point.logs[number], point.logs),  # type: ignore[misc]
                )
                for side in (-1, 1) if descent.cost(lowest) <= enough else ():
                    way = self._ways.setdefault((lowest.choices, number, side), _Way())
                    end = valley[0 if side < 0 else -1]
                    far = abs(end.logs[number] - lowest.logs[number])
                    log = min(max(end.logs[number] + side * way.step, low), high)
                    if way.step >= max(LEAST, LITTLE * far) and log != end.logs[number]:
                        found.append((way, descent.lowest_near(end, (number, log))))
        return found
