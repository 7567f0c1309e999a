"""Means over repetitions with different seeds, and how far chance may have moved them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean, and its two-sided 95 % confidence interval where there is more than one value."""

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """The mean of independent repetitions with Student's t for its interval.

        Raises:
            ValueError: there are no values.
        """
        if not values:
            raise ValueError("the mean of no values")
        mean = statistics.fmean(values)
        if len(values) == 1:
            return cls(mean)
        if len(set(values)) == 1:
            # No float arithmetic between them and their mean.
            return cls(values[0], values[0], values[0])
        from scipy.special import stdtrit

        quantile = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2))
        half = quantile * statistics.stdev(values) / math.sqrt(len(values))
        return cls(mean, mean - half, mean + half)

    @classmethod
    def geometric(cls, values: Sequence[float]) -> Estimate:
        """The geometric mean of values above zero, and the interval that their logarithms have. Raises as `of`."""
        logs = cls.of([math.log(value) for value in values])
        low, high = (None if each is None else math.exp(each) for each in (logs.low, logs.high))
        return cls(math.exp(logs.value), low, high)
