"""Least squares on times that add up: the coordinates that are moved, and derivatives that are learnt on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import optimize

from interpulse.fitting.emulator import HELD

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

BENT = {"a duration": 1.0, "a transfer rate": -1.0, "a bandwidth": -1.0}
"""Times add up, so that valleys are straight where times and the inverses of rates are moved; logarithms elsewhere."""

ENOUGH = 1e-3
"""A step that betters the sum of squares, or moves parameters, by less than this share is the last."""

LITTLE = 0.02
"""Steps shorter than this say nothing of derivatives, beside chance."""


def bent(logs: NDArray[np.float64], bend: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences of logarithms as what is moved: shares of a value for a bend of 1, of its inverse for -1."""
    return np.where(bend == 0, logs, bend * np.expm1(bend * logs))


def straight(moved: NDArray[np.float64], bend: NDArray[np.float64]) -> NDArray[np.float64]:
    """The way back."""
    return np.where(bend == 0, moved, bend * np.log1p(np.maximum(bend * moved, -1 + 1e-9)))


class Way:
    """A way down from a point, between bounds, along which a parameter may be held.

    Attributes:
        free: the numbers of the parameters that move.
    """

    def __init__(
        self,
        begin: NDArray[np.float64],
        bounds: tuple[NDArray[np.float64], NDArray[np.float64]],
        bend: NDArray[np.float64],
        held: int | None = None,
    ) -> None:
        self.free = np.array([number for number in range(len(begin)) if number != held], dtype=int)
        low, high = bounds
        self._begin = begin.copy()
        self._begin[self.free] = np.clip(begin, low + 1e-9, high - 1e-9)[self.free]
        self._bend = bend[self.free]
        self._bounds = tuple(bent((end - self._begin)[self.free], self._bend) for end in bounds)

    def down(
        self,
        residuals: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        jacobian: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        rounds: int,
        *,
        once: bool = False,
    ) -> None:
        """Goes down.

        Args:
            residuals: of the logarithms of all parameters.
            jacobian: its derivatives by the logarithms of those that are free.
            rounds: most steps.
            once: the first derivatives are corrected by what steps come to, instead of new ones after each.
        """
        held = HELD * np.eye(len(self.free))
        slopes: list[NDArray[np.float64]] = []
        last: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []

        def fun(moved: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.concatenate([residuals(self._logs(moved)), HELD * moved])

        def jac(moved: NDArray[np.float64]) -> NDArray[np.float64]:
            if not slopes or not once:
                by_logs = jacobian(self._logs(moved))
                slopes[:] = [np.vstack([by_logs / np.exp(self._bend * straight(moved, self._bend)), held])]
            if once:
                now = fun(moved)
                if last:
                    # Broyden's: of all slopes that explain the last step, the nearest to those before.
                    by = moved - last[0][0]
                    if np.max(np.abs(by)) > LITTLE:
                        slopes[0] = slopes[0] + np.outer(now - last[0][1] - slopes[0] @ by, by) / (by @ by)
                last[:] = [(moved.copy(), now)]
            return slopes[0]

        optimize.least_squares(
            fun,
            np.zeros(len(self.free)),
            jac,
            bounds=self._bounds,
            max_nfev=rounds,
            ftol=ENOUGH,
            xtol=ENOUGH,
            gtol=None,
        )

    def _logs(self, moved: NDArray[np.float64]) -> NDArray[np.float64]:
        logs = self._begin.copy()
        logs[self.free] += straight(moved, self._bend)
        return logs
