"""Additive coordinates: parameters in units in which latencies, sums of times, are linear."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Numbers: logarithms of parameters or figures, unless the name states otherwise."""

ADDITIVE = {"a duration": 1.0, "a transfer rate": -1.0, "a bandwidth": -1.0}
"""Exponent that turns a quantity into a time; other quantities keep their logarithm."""


def to_additive(logs: Array, exponents: Array) -> Array:
    """Differences of logarithms as relative changes: of the value for exponent 1, of its inverse for -1."""
    return np.where(exponents == 0, logs, exponents * np.expm1(exponents * logs))


def to_logs(moved: Array, exponents: Array) -> Array:
    """Inverse of `to_additive`."""
    return np.where(exponents == 0, moved, exponents * np.log1p(np.maximum(exponents * moved, -1 + 1e-9)))
