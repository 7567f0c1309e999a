"""Times that add up: the coordinates in which their sums are straight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BENT = {"a duration": 1.0, "a transfer rate": -1.0, "a bandwidth": -1.0}
"""Valleys are straight where times and the inverses of rates are moved; logarithms elsewhere."""


def bent(logs: NDArray[np.float64], bend: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences of logarithms as what is moved: shares of a value for a bend of 1, of its inverse for -1."""
    return np.where(bend == 0, logs, bend * np.expm1(bend * logs))


def straight(moved: NDArray[np.float64], bend: NDArray[np.float64]) -> NDArray[np.float64]:
    """The way back."""
    return np.where(bend == 0, moved, bend * np.log1p(np.maximum(bend * moved, -1 + 1e-9)))
