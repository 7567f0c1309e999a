"""fio's histogram of latencies: buckets of 64 values for each power of two, so up to 1.6 % wide (stat.h, 3.33)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

BITS = 6
GROUPS = 29
BUCKETS = GROUPS << BITS
"""Number of buckets."""

PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""fio's percentiles unless `percentile_list` has others."""


def bucket_of(latencies: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Index of the bucket of each latency in ns."""
    import numpy as np

    values = latencies.astype(np.int64)
    # Exact up to 2^53 ns: frexp gives the exponent without rounding.
    top = np.frexp(values.astype(np.float64))[1] - 1
    error = np.maximum(top - BITS, 0)
    index = (error << BITS) + ((1 << BITS) * (top >= BITS)) + ((values >> error) & ((1 << BITS) - 1))
    return np.minimum(np.where(top >= BITS, index, values), BUCKETS - 1)


def value_of(index: int) -> int:
    """Latency in ns that represents a bucket: its middle."""
    if index < 2 << BITS:
        return index
    error = (index >> BITS) - 1
    base = 1 << (error + BITS)
    return int(base + ((index % (1 << BITS)) + 0.5) * (1 << error))


def percentiles(counts: Sequence[int], wanted: Sequence[float]) -> dict[str, int]:
    """Percentiles in ns by fio's keys, such as `99.000000`; empty without requests."""
    total = sum(counts)
    found: dict[str, int] = {}
    if not total:
        return found
    rest = sorted(wanted)
    below = 0
    for index, count in enumerate(counts):
        below += count
        while rest and below >= rest[0] / 100 * total:
            found[f"{rest.pop(0):.6f}"] = value_of(index)
        if not rest:
            break
    return found


def bins(counts: Sequence[int]) -> dict[str, int]:
    """Requests by the latency of their bucket, without empty buckets (`json+`)."""
    return {str(value_of(index)): count for index, count in enumerate(counts) if count}
