"""A stand-in for the simulator between points that were simulated: where else may figures be met?"""

from __future__ import annotations

import numpy as np
from scipy import optimize
from scipy.interpolate import RBFInterpolator
from scipy.stats import qmc

from interpulse.fitting.squares import Array

NEIGHBOURS = 60
"""Points that a value is interpolated from."""

TRIES = 64
"""Points all over the bounds from which the stand-in is searched."""

STEPS = 12
"""Most steps from each."""

HELD = 1e-3
"""What holds a parameter where it is, in tolerances: where no figure depends on any there would be no way to go."""

APART = 0.12
"""Proposals are as far from each other, in some parameter, as this share of its bounds' logarithm."""


def proposals(points: Array, residuals: Array, choices: Array, count: int, seed: int) -> Array:
    """Points, each in another valley, where the sum of squares may be small; the best first.

    Args:
        points: those that were simulated, each coordinate from 0 to 1.
        residuals: of each point, as far as figures and priors are off, in tolerances.
        choices: for each coordinate the number of its choices, 0 where it is continuous.
        count: of points, at most.
        seed: of the places that the search begins at.
    """
    # What is far off is off anyway: the logarithm's tails would bend everything else.
    shown = np.sign(residuals) * np.log1p(np.abs(residuals))
    found = RBFInterpolator(points, shown, neighbors=min(NEIGHBOURS, len(points)), smoothing=1e-3, kernel="linear")

    def at(rows: Array) -> Array:
        told = found(rows)
        return np.array(np.sign(told) * np.expm1(np.abs(told)))

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
            for place, number in enumerate(moved):
                rows[2 * place, number] = max(rows[2 * place, number] - 0.02, 0)
                rows[2 * place + 1, number] = min(rows[2 * place + 1, number] + 0.02, 1)
            told = at(rows)
            apart = np.array(
                [rows[2 * place + 1, number] - rows[2 * place, number] for place, number in enumerate(moved)]
            )
            slopes = ((told[1::2] - told[::2]) / apart[:, None]).T
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
