"""Figures of a run that both programs give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figures:
    """Figures of one run; None for what a program does not give. Times in microseconds."""

    mean_us: float
    iops: float | None = None
    p99_us: float | None = None
    p999_us: float | None = None
    waf: float | None = None
    collections: int | None = None


def of_latencies(latencies: Sequence[float], **others: float | None) -> Figures:
    """Figures of a record of every request's latency in microseconds."""
    ordered = sorted(latencies)
    if not ordered:
        raise ValueError("the program recorded no request")

    def percentile(share: float) -> float:
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)]

    collections = others.pop("collections", None)
    return Figures(
        sum(ordered) / len(ordered),
        p99_us=percentile(0.99),
        p999_us=percentile(0.999),
        collections=None if collections is None else int(collections),
        **others,
    )


def of_result(result: dict[str, Any]) -> Figures:
    """Figures of a result of `interpulse run --json` with one case and one seed."""
    ((seed,),) = (case["seeds"] for case in result["cases"])
    latency, ftl = seed["latency_us"]["all"], seed["ftl"]
    written = ftl["host_pages"]
    return Figures(
        latency["mean"],
        seed["iops"],
        latency["p99"],
        latency["p99.9"],
        ftl["programmed_pages"] / written if written else None,
        ftl["gc_runs"],
    )
