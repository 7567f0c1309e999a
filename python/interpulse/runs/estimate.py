"""Means over seeds with 95 % confidence intervals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from interpulse.configuration.extras import require

CONFIDENCE = 0.95

_QUANTILES = (
    *(12.706204736174694, 4.302652729749462, 3.1824463052837078, 2.7764451051977934, 2.5705818356363146),
    *(2.4469118511449786, 2.364624251592784, 2.306004135204166, 2.262157162798205, 2.228138851986274),
    *(2.200985160091639, 2.1788128296672284, 2.1603686564627913, 2.144786687917804, 2.131449545559776),
    *(2.1199052992212546, 2.1098155778333156, 2.1009220402410382, 2.0930240544083087, 2.085963447265864),
    *(2.0796138447276795, 2.0738730679040254, 2.0686576104190486, 2.0638985616280245, 2.0595385527532972),
    *(2.0555294386428735, 2.0518305164802846, 2.0484071417952454, 2.045229642132703, 2.0422724563012378),
)
"""Student's t at 97.5 % by degrees of freedom, from 1, as SciPy computes it: up to 31 seeds need no SciPy."""


def mean_of(values: Sequence[float | None]) -> float | None:
    """The mean, None unless all of several are there."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


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
        half = _quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
        return cls(mean, mean - half, mean + half)

    @classmethod
    def geometric(cls, values: Sequence[float]) -> Estimate:
        """The geometric mean of values above zero, and the interval that their logarithms have. Raises as `of`."""
        logs = cls.of([math.log(value) for value in values])
        low, high = (None if each is None else math.exp(each) for each in (logs.low, logs.high))
        return cls(math.exp(logs.value), low, high)


def _quantile(freedom: int) -> float:
    """Student's t for the two-sided interval. Raises ConfigError where SciPy is needed and missing."""
    if freedom <= len(_QUANTILES):
        return _QUANTILES[freedom - 1]
    require("scipy", "fit", f"an interval over {freedom + 1} seeds")
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
