"""How far a valley goes: parameters are held elsewhere while the others are searched anew."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from interpulse.fitting.certainty import DETERMINED, NORMAL_95, WIDER, covariance_of, scale_of
from interpulse.fitting.descent import SEEDS, Slopes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interpulse.fitting.descent import Descent
    from interpulse.fitting.model import Point
    from interpulse.fitting.parameters import Continuous

SURE = 9.0
"""Nothing is determined that is another where a sum of squares is worse by less than this, weighed: three sigmas."""

BETTER = 1.0
"""A way that ends so much lower is gone on with: what was taken for the lowest point was not."""

AGAIN = 3
"""So many times at most."""

FARTHER = 1.5
"""Where a valley goes on, it is tried again at so many times the distance."""

STEPS = 8
"""At most so often."""

CHOICES = 3
"""Other choices that fit as well have valleys, too: so many of them are walked along."""


class Valley:
    """What fits as well as the best point.

    From derivatives alone one knows a point's surroundings; valleys bend. So the parameter that moves most along the
    longest of them is held at places where figures should be off, and the others are searched with least squares: where
    figures are not off there, it is held farther away. And so is every other parameter that seems determined.

    Attributes:
        best: the best point.
    """

    def __init__(self, descent: Descent, parameters: Sequence[Continuous], best: Point) -> None:
        self.best = best
        self._descent = descent
        self._parameters = parameters

    def explore(self) -> None:
        """Walks along it; what is found lower on the way is the best point from then on."""
        for _ in range(AGAIN if self._parameters else 0):
            lower = self._walk()
            if lower is None:
                break
            self.best = self._descent.improve(lower)

    def rivals(self) -> list[Point]:
        """All points that fit as well, the best one among them."""
        return self._descent.rivals(self.best, SURE * self._scale())

    def _scale(self) -> float:
        figures = len(self._descent.tolerances_in_use)
        return scale_of(self._descent.residuals(self.best)[:figures], len(self._parameters))

    def _walk(self) -> Point | None:
        """A point that is lower than the best one, where there was one on the way."""
        descent = self._descent
        jacobian = descent.jacobian(self.best, SEEDS)
        residuals = descent.residuals(self.best)[: len(jacobian)]
        covariance = covariance_of(self._parameters, jacobian, descent.tolerances_in_use, residuals)
        enough = descent.cost(self.best) + SURE * self._scale()
        slopes = Slopes(self.best, jacobian, covariance, enough)
        sigmas = np.sqrt(np.diag(covariance))
        axis = np.linalg.eigh(covariance)[1][:, -1]
        first = int(np.argmax(np.abs(axis)))
        others = {each.choices: each for each in sorted(self.rivals(), key=descent.cost, reverse=True)}
        others.pop(self.best.choices, None)
        for start in [self.best, *sorted(others.values(), key=descent.cost)[:CHOICES]]:
            for way in (-1, 1):
                step = way * WIDER * NORMAL_95 * float(sigmas[first])
                lower = self._along(start, slopes, first, step, math.inf)
                if lower is not None:
                    return lower
        for number in map(int, np.argsort(-sigmas)):
            step = WIDER * NORMAL_95 * float(sigmas[number])
            for way in (-1, 1):
                lower = (
                    self._along(None, slopes, number, way * step, math.log1p(DETERMINED)) if number != first else None
                )
                if lower is not None:
                    return lower
        return None

    def _along(self, start: Point | None, slopes: Slopes, number: int, step: float, most: float) -> Point | None:
        """Holds a parameter farther and farther away, until figures are off or it is that far off."""
        descent = self._descent
        low, high = descent.bounds(number)
        begin = (start or self.best).logs[number]
        for _ in range(STEPS):
            at = min(max(begin + step, low), high)
            near = [each for each in self.rivals() if start is None or each.choices == start.choices]
            reached = [each.logs[number] - begin for each in near]
            if max(map(abs, reached), default=0.0) > most or abs(step) > most:
                return None
            if any((each - at + begin) * step >= 0 for each in reached):
                # Another way has been that far.
                if at in (low, high):
                    return None
                step *= FARTHER
                continue
            nearest = min([start or self.best, *near], key=lambda each: abs(each.logs[number] - at))
            end = descent.walk(nearest, slopes, number, at)
            if descent.cost(end) < descent.cost(self.best) - BETTER:
                return end
            if descent.cost(end) > slopes.enough or at in (low, high):
                return None
            step *= FARTHER
        return None
