"""Measurements of fio jobs: requests, bytes, rates and latencies of each direction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from interpulse._core import ConfigError

DIRECTIONS = ("read", "write", "trim", "mixed")
"""Sections of a job; `mixed` has all requests together (`unified_rw_reporting`)."""

UNEVEN = 0.05
"""Largest difference of a rate from requests over time, as a share: fio rounds the time to milliseconds."""


@dataclass(frozen=True)
class Latency:
    """One of fio's latencies of a direction.

    Attributes:
        name: `clat_ns` (submission to completion) or `lat_ns` (which includes the submission).
        mean: in nanoseconds; 0 if fio did not measure it.
        percentiles: in nanoseconds by fio's keys, such as `99.000000`.
    """

    name: str
    mean: float = 0.0
    percentiles: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Direction:
    """Measurements of one direction of a job.

    Attributes:
        count: completed requests.
        iops: requests per second.
        sizes: mean bytes of a request by the field that shows it.
        seconds: duration of the measurement; 0 if unknown.
        completion, total: latencies.
        lost: dropped and short requests.
    """

    name: str
    count: int
    iops: float
    sizes: Mapping[str, float]
    seconds: float
    completion: Latency
    total: Latency
    lost: int

    @property
    def mean(self) -> float:
        """Mean latency in nanoseconds, submission included where fio measured it; 0 if none was measured."""
        return self.total.mean or self.completion.mean


def number(table: Mapping[str, Any], key: str, place: str, default: float | None = None) -> float:
    """A number of at least 0. Raises ConfigError if it is missing without a default, or invalid."""
    value = table.get(key, default)
    if value is None:
        raise ConfigError(f"{place}: {key!r} is missing or not a number; expected a job as written by fio 3")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ConfigError(f"{place}: {key}: seen {value!r:.80}; expected a number of at least 0, as fio 3 writes it")
    return float(value)


def table_of(table: Mapping[str, Any], key: str, place: str) -> Mapping[str, Any]:
    """A table inside another, empty if absent. Raises ConfigError if it is none."""
    value = table.get(key, {})
    if not isinstance(value, Mapping):
        raise ConfigError(f"{place}: {key}: seen {value!r:.80}; expected a table, as fio 3 writes it")
    return value


def direction_of(job: Mapping[str, Any], name: str, place: str) -> Direction | None:
    """The measurements of a direction; None if the job has none of them.

    Raises:
        ConfigError: a field is missing, no number, or contradicts another one.
    """
    part = table_of(job, name, place)
    if name not in job:
        return None
    place = f"{place}: {name}"
    iops, count = number(part, "iops", place), int(number(part, "total_ios", place))
    if not count:
        return None
    seconds = number(part, "runtime", place, 0) / 1e3
    if seconds and abs(count / seconds - iops) > UNEVEN * iops + 1 / seconds:
        raise ConfigError(
            f"{place}: iops: seen {iops:.10g}; {count} requests (total_ios) in {seconds:g} s (runtime) are "
            f"{count / seconds:.6g}; expected measurements that agree"
        )
    if not iops:
        raise ConfigError(f"{place}: iops: seen 0, with {count} requests (total_ios); expected measurements that agree")
    sizes = {}
    for key, unit, by in (("io_bytes", 1, count), ("io_kbytes", 1024, count), ("bw_bytes", 1, iops)):
        if key in part:
            sizes[key] = number(part, key, place) * unit / by
    lost = int(number(part, "short_ios", place, 0)) + int(number(part, "drop_ios", place, 0))
    completion, total = (latency_of(part, key, place) for key in ("clat_ns", "lat_ns"))
    return Direction(name, count, iops, sizes, seconds, completion, total, lost)


def latency_of(part: Mapping[str, Any], name: str, place: str) -> Latency:
    """A latency of a direction; its mean is 0 if fio did not measure it."""
    table = table_of(part, name, place)
    place = f"{place}: {name}"
    listed = table_of(table, "percentile", place)
    percentiles = {}
    for key in listed:
        try:
            share = float(key)
        except ValueError:
            share = math.nan
        if not 0 <= share <= 100:
            raise ConfigError(f"{place}: percentile: seen {key!r:.40}; expected a percentage such as 99.900000")
        percentiles[f"{share:.6f}"] = number(listed, key, place)
    return Latency(name, number(table, "mean", place, 0), percentiles)


def flushes_of(job: Mapping[str, Any], place: str) -> tuple[int, float]:
    """The flushes of a job and their mean latency in nanoseconds, 0 if unknown.

    fio 3.33 counts them in `lat_ns.N` alone and leaves `total_ios` at 0.
    """
    part = table_of(job, "sync", place)
    place = f"{place}: sync"
    latency = table_of(part, "lat_ns", place)
    count = max(number(part, "total_ios", place, 0), number(latency, "N", place, 0))
    return int(count), number(latency, "mean", place, 0)


def merged(parts: Sequence[Direction]) -> Direction:
    """Several jobs that ran at the same time as one; percentiles cannot be merged and are left out."""
    if len(parts) == 1:
        return parts[0]
    count = sum(part.count for part in parts)

    def mean(values: Sequence[float]) -> float:
        known = [(value, part.count) for value, part in zip(values, parts, strict=True)]
        return sum(value * weight for value, weight in known) / count if all(values) else 0.0

    keys = set.intersection(*(set(part.sizes) for part in parts))
    sizes = {key: mean([part.sizes[key] for part in parts]) for key in parts[0].sizes if key in keys}
    return Direction(
        parts[0].name,
        count,
        sum(part.iops for part in parts),
        sizes,
        max(part.seconds for part in parts),
        Latency("clat_ns", mean([part.completion.mean for part in parts])),
        Latency("lat_ns", mean([part.total.mean for part in parts])),
        sum(part.lost for part in parts),
    )
