"""The surroundings of a point, learnt from all that was simulated near it: figures as parabolas of what is moved."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from interpulse.fitting.emulator import HELD
from interpulse.fitting.squares import Array, bent, straight

BEND = 1.0
"""What curvatures are expected to be, beside slopes of at most 1: what a time is part of bends as it grows."""

LEFT = 0.5
"""What a parabola leaves of a figure at distance 1; it grows with the distance's third power."""

ROUGH = 0.002
"""And everywhere: figures are not smooth."""

REACH = 0.4
"""No parameter is moved farther on a surface, as a share of its value or of its inverse."""

BESIDE = 0.25
"""Points within this share of the centre tell how rough figures are."""

STEPS = 30
"""Most steps of a search on a surface: they cost nothing."""


class Surface:
    """Figures around a point.

    A Bayesian regression: what is known beforehand is that figures are made of times that add up, so that few points
    give slopes and many give curvatures; the farther a point is, the less is believed of it.
    """

    def __init__(self, centre: Array, bend: Array, points: Array, figures: Array, chance: Array) -> None:
        """Learns it.

        Args:
            centre: logarithms of the parameters around which the surface is.
            bend: of each parameter, as in `squares`.
            points: logarithms of parameters of all points simulated, those of one point a row.
            figures: logarithms of their figures, those of one point a row.
            chance: what each figure differs by between seeds.
        """
        self._centre, self._bend = centre, bend
        moved = bent(points - centre, bend)
        near = np.max(np.abs(moved), axis=1) < 1
        self._moved, self._figures = moved[near], figures[near]
        self._rows = self._features(self._moved)
        count, features = len(centre), self._rows.shape[1]
        self._prior = np.diag(np.concatenate([[1e-6], np.ones(count), np.full(features - count - 1, 1 / BEND**2)]))
        left = ROUGH**2 + (LEFT * np.linalg.norm(self._moved, axis=1) ** 3) ** 2
        # Of each figure: rows by their weights, and the inverse of the covariance of what is learnt.
        self._weighed = self._rows / (left + chance[:, None] ** 2)[:, :, None]
        self._known = np.swapaxes(self._weighed, 1, 2) @ self._rows + self._prior
        seen = np.einsum("fpc,pf->fc", self._weighed, self._figures)
        self._slopes = np.linalg.solve(self._known, seen[:, :, None])[:, :, 0].T

    def rough(self) -> Array | None:
        """What figures differ by from a surface learnt without them, near its centre; None where few points are."""
        beside = np.max(np.abs(self._moved), axis=1) < BESIDE
        if np.count_nonzero(beside) < 2 * len(self._centre) + 1:
            return None
        weighed = np.swapaxes(self._weighed[:, beside], 1, 2)
        leverage = np.einsum("pc,fcp->pf", self._rows[beside], np.linalg.solve(self._known, weighed))
        off = (self._figures[beside] - self._rows[beside] @ self._slopes) / np.maximum(1 - leverage, 0.05)
        return np.asarray(np.sqrt(np.mean(off**2, axis=0)))

    def figures(self, moved: Array) -> Array:
        """Logarithms of the figures where parameters are moved from the centre."""
        found: Array = (self._features(moved[None]) @ self._slopes)[0]
        return found

    def lowest(
        self,
        tolerances: Array,
        priors: tuple[Array, Array],
        bounds: tuple[Array, Array],
        held: tuple[int, float] | None,
        reach: float,
    ) -> Array:
        """The logarithms of the parameters whose sum of squares is least on the surface, within its reach.

        Args:
            tolerances: of each figure.
            priors: rows of derivatives of the residuals of priors, and these residuals at logarithms of 0.
            bounds: logarithms that parameters lie between.
            held: a parameter's number, and the logarithm that it has.
            reach: no parameter is moved farther, as a share of its value or of its inverse.
        """
        slopes, at_nothing = priors
        low, high = (np.clip(bent(end - self._centre, self._bend), -reach, reach) for end in bounds)
        begin = np.zeros(len(self._centre))
        if held is not None:
            number, log = held
            begin[number] = bent(np.array([log - self._centre[number]]), self._bend[[number]])[0]
        free = np.array([each for each in range(len(begin)) if held is None or each != held[0]], dtype=int)

        def whole(inner: Array) -> Array:
            moved = begin.copy()
            moved[free] = inner
            return moved

        def fun(inner: Array) -> Array:
            moved = whole(inner)
            expected = slopes @ (self._centre + straight(moved, self._bend)) + at_nothing
            return np.concatenate([self.figures(moved) / tolerances, expected, HELD * inner])

        if len(free):
            inside = np.clip(begin[free], low[free] + 1e-9, high[free] - 1e-9)
            found = optimize.least_squares(fun, inside, bounds=(low[free], high[free]), max_nfev=STEPS, gtol=None)
            begin = whole(found.x)
        return self._centre + straight(begin, self._bend)

    @staticmethod
    def _features(moved: Array) -> Array:
        count = moved.shape[1]
        first, second = np.triu_indices(count)
        return np.hstack([np.ones((len(moved), 1)), moved, moved[:, first] * moved[:, second]])
