"""Global emulator: interpolates figures over all simulated points to propose new ones."""

from __future__ import annotations

import numpy as np
from scipy import optimize
from scipy.interpolate import RBFInterpolator
from scipy.stats import qmc

from interpulse.fitting.coordinates import Array

NEIGHBOURS = 60
"""Simulated points that each interpolated value uses."""

TRIES = 64
"""Start points of the search, distributed over the bounds."""

STEPS = 12
"""Evaluations of the emulator from each start, at most."""

DIFFERENCE = 0.02
"""Step of numerical derivatives, as a share of the bounds."""

HELD = 1e-3
"""Weak pull, in tolerances, to the start point: keeps the problem regular if no figure depends on a parameter."""

APART = 0.12
"""Least distance between proposals in some parameter, as a share of the bounds."""


def proposals(points: Array, residuals: Array, choices: Array, count: int, seed: int) -> Array:
    """Points in different basins at which the sum of squares is probably small; the best first.

    Args:
        points: the simulated points, each coordinate from 0 to 1.
        residuals: deviations of figures and priors of each point, in tolerances.
        choices: the number of choices of each coordinate, 0 for a continuous one.
        count: the maximum number of proposals.
        seed: of the start points.
    """
    # A logarithmic scale keeps very bad points from distorting the interpolation elsewhere.
    shown = np.sign(residuals) * np.log1p(np.abs(residuals))
    found = RBFInterpolator(points, shown, neighbors=min(NEIGHBOURS, len(points)), smoothing=1e-3, kernel="linear")

    def at(rows: Array) -> Array:
        values = found(rows)
        return np.array(np.sign(values) * np.expm1(np.abs(values)))

    moved = np.flatnonzero(choices == 0)
    starts = qmc.Sobol(points.shape[1], seed=seed).random(TRIES)
    best = points[np.argsort(np.sum(residuals**2, axis=1))[: TRIES // 8]]
    starts = np.vstack([starts, best])
    for number in np.flatnonzero(choices):
        starts[:, number] = (
            np.floor(starts[:, number] * choices[number]).clip(0, choices[number] - 1) + 0.5
        ) / choices[number]
    ends = []
    for start in starts:
        if len(moved) == 0:
            ends.append((float(np.sum(at(start[None])[0] ** 2)), start))
            continue

        def fun(inner: Array, start: Array = start) -> Array:
            row = start.copy()
            row[moved] = inner
            return np.concatenate([at(row[None]).ravel(), HELD * (inner - start[moved])])

        def jac(inner: Array, start: Array = start) -> Array:
            rows = np.repeat(start[None], 2 * len(moved), axis=0)
            rows[:, moved] = inner
            for row, number in enumerate(moved):
                rows[2 * row, number] = max(rows[2 * row, number] - DIFFERENCE, 0)
                rows[2 * row + 1, number] = min(rows[2 * row + 1, number] + DIFFERENCE, 1)
            values = at(rows)
            apart = np.array([rows[2 * row + 1, number] - rows[2 * row, number] for row, number in enumerate(moved)])
            slopes = ((values[1::2] - values[::2]) / apart[:, None]).T
            return np.vstack([slopes, HELD * np.eye(len(moved))])

        inside = np.clip(start[moved], 1e-6, 1 - 1e-6)
        result = optimize.least_squares(
            fun, inside, jac, bounds=(0, 1), max_nfev=STEPS, ftol=1e-3, xtol=1e-3, gtol=None
        )
        end = start.copy()
        end[moved] = result.x
        ends.append((2 * float(result.cost), end))
    ends.sort(key=lambda each: each[0])
    chosen: list[Array] = []
    for _, end in ends:
        if len(chosen) < count and all(np.max(np.abs(end - other)) > APART for other in chosen):
            chosen.append(end)
    return np.array(chosen)
