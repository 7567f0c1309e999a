"""Local surrogate: every figure as a quadratic function of the parameters around a point."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from interpulse.fitting.coordinates import Array, to_additive, to_logs
from interpulse.fitting.emulator import HELD

CUBIC = 0.5
"""Error of the quadratic model at distance 1; it grows with the third power of the distance."""

ROUGH = 0.002
"""Error of the quadratic model at any distance: figures are not smooth."""

REACH = 0.4
"""Largest move of a parameter on a surrogate, as a share of its value or of its inverse."""

BESIDE = 0.25
"""Distance from the centre of the points that roughness is estimated from."""

STEPS = 30
"""Evaluations of the surrogate in one search, at most."""


class Surrogate:
    """Bayesian regression of the figures around a point.

    The prior expects slopes and curvatures of about 1 in additive coordinates: few points determine slopes, many
    points determine curvatures. The weight of a point decreases with its distance.
    """

    def __init__(self, centre: Array, exponents: Array, points: Array, figures: Array, chance: Array) -> None:
        """Fits the regression.

        Args:
            centre: logarithms of the parameters at the centre.
            exponents: exponent of each parameter, see `coordinates`.
            points: logarithms of the parameters, one simulated point a row.
            figures: logarithms of the figures, one simulated point a row.
            chance: standard deviation of each figure between seeds.
        """
        self._centre, self._exponents = centre, exponents
        moved = to_additive(points - centre, exponents)
        near = np.max(np.abs(moved), axis=1) < 1
        self._moved, self._figures = moved[near], figures[near]
        self._rows = self._features(self._moved)
        prior = np.diag([1e-6] + [1.0] * (self._rows.shape[1] - 1))
        left = ROUGH**2 + (CUBIC * np.linalg.norm(self._moved, axis=1) ** 3) ** 2
        # For each figure: weighted rows, and the inverse covariance of the coefficients.
        self._weighted = self._rows / (left + chance[:, None] ** 2)[:, :, None]
        self._precision = np.swapaxes(self._weighted, 1, 2) @ self._rows + prior
        right = np.einsum("fpc,pf->fc", self._weighted, self._figures)
        self._coefficients = np.linalg.solve(self._precision, right[:, :, None])[:, :, 0].T

    def rough(self) -> Array | None:
        """Leave-one-out error of each figure near the centre; None if too few points are near."""
        beside = np.max(np.abs(self._moved), axis=1) < BESIDE
        if np.count_nonzero(beside) < 2 * len(self._centre) + 1:
            return None
        weighted = np.swapaxes(self._weighted[:, beside], 1, 2)
        leverage = np.einsum("pc,fcp->pf", self._rows[beside], np.linalg.solve(self._precision, weighted))
        off = (self._figures[beside] - self._rows[beside] @ self._coefficients) / np.maximum(1 - leverage, 0.05)
        return np.asarray(np.sqrt(np.mean(off**2, axis=0)))

    def figures(self, moved: Array) -> Array:
        """Logarithms of the figures after a move from the centre."""
        found: Array = (self._features(moved[None]) @ self._coefficients)[0]
        return found

    def lowest(
        self,
        tolerances: Array,
        priors: tuple[Array, Array],
        bounds: tuple[Array, Array],
        held: tuple[int, float] | None,
        reach: float,
    ) -> Array:
        """The logarithms of the parameters with the least sum of squares within `reach`.

        Args:
            tolerances: of each figure.
            priors: Jacobian of the residuals of priors, and these residuals at logarithms of 0.
            bounds: lower and upper logarithms of the parameters.
            held: number and logarithm of a fixed parameter.
            reach: largest move of a parameter, as a share of its value or of its inverse.
        """
        slopes, at_nothing = priors
        low, high = (np.clip(to_additive(end - self._centre, self._exponents), -reach, reach) for end in bounds)
        begin = np.zeros(len(self._centre))
        if held is not None:
            number, log = held
            begin[number] = to_additive(np.array([log - self._centre[number]]), self._exponents[[number]])[0]
        free = np.array([each for each in range(len(begin)) if held is None or each != held[0]], dtype=int)

        def whole(inner: Array) -> Array:
            moved = begin.copy()
            moved[free] = inner
            return moved

        def fun(inner: Array) -> Array:
            moved = whole(inner)
            expected = slopes @ (self._centre + to_logs(moved, self._exponents)) + at_nothing
            return np.concatenate([self.figures(moved) / tolerances, expected, HELD * inner])

        if len(free):
            inside = np.clip(begin[free], low[free] + 1e-9, high[free] - 1e-9)
            found = optimize.least_squares(fun, inside, bounds=(low[free], high[free]), max_nfev=STEPS, gtol=None)
            begin = whole(found.x)
        return self._centre + to_logs(begin, self._exponents)

    @staticmethod
    def _features(moved: Array) -> Array:
        count = moved.shape[1]
        first, second = np.triu_indices(count)
        return np.hstack([np.ones((len(moved), 1)), moved, moved[:, first] * moved[:, second]])
