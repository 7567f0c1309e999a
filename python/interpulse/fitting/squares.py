"""Times that add up: the coordinates in which their sums are straight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Numbers: logarithms of parameters or figures, unless a name says what else."""

BENT = {"a duration": 1.0, "a transfer rate": -1.0, "a bandwidth": -1.0}
"""Valleys are straight where times and the inverses of rates are moved; logarithms elsewhere."""


def bent(logs: Array, bend: Array) -> Array:
    """Differences of logarithms as what is moved: shares of a value for a bend of 1, of its inverse for -1."""
    return np.where(bend == 0, logs, bend * np.expm1(bend * logs))


def straight(moved: Array, bend: Array) -> Array:
    """The way back."""
    return np.where(bend == 0, moved, bend * np.log1p(np.maximum(bend * moved, -1 + 1e-9)))
