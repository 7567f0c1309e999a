"""What fio would have written of loads of a simulated drive."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import interpulse
from interpulse import Config
from interpulse.fitting.targets import Load, usual_state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PERCENTILES = {"99.000000": "p99", "99.900000": "p99.9", "99.990000": "p99.99"}

PATTERNS = {"randread": 1.0, "randwrite": 0.0, "randrw": 0.7, "read": 1.0, "write": 0.0}


def job(base: Mapping[str, Any], sets: Mapping[str, str], rw: str, kib: int, depth: int, window: int) -> dict[str, Any]:
    """A job of one kind of request on a drive, in fio's words."""
    pattern = "random" if rw.startswith("rand") else "sequential"
    share = PATTERNS[rw]
    load = Load(f"{rw} {kib}k {depth}", "", pattern, share, 1024 * kib, depth, usual_state(pattern, share))
    config = Config.of({**base, "run": {"requests": 1}, "flow": [{}]})
    for key, value in (*sets.items(), *load.sets(20_000, window), ("seed", "4711")):
        config.set(key, value)
    raw = interpulse.run(config).cases[0].raw
    options = {"rw": rw, "bs": f"{kib}k", "iodepth": str(depth), "rwmixread": str(round(100 * share))}
    return {"jobname": load.name, "job options": options} | {
        which: _direction(raw, which) for which in ("read", "write")
    }


def _direction(raw: Mapping[str, Any], which: str) -> dict[str, Any]:
    latency = raw["latency_us"].get(which, {})
    count = latency.get("count", 0)
    percentiles = {key: round(1000 * latency[name]) for key, name in PERCENTILES.items()} if count else {}
    return {
        "iops": raw["iops"] * count / raw["host_requests"],
        "total_ios": count,
        "clat_ns": {"mean": 1000 * latency.get("mean", 0), "percentile": percentiles},
    }


def measured(
    iops: float = 50_000.0,
    latency_us: float = 160.0,
    *,
    size: int = 4096,
    seconds: float = 10.0,
    percentiles: Mapping[str, float] | None = None,
    where: str = "clat_ns",
) -> dict[str, Any]:
    """The measurements of one direction; fio's fields agree with each other.

    Args:
        iops: requests per second.
        latency_us: mean latency.
        size: bytes of a request.
        seconds: duration.
        percentiles: of the latency, in nanoseconds.
        where: the latency that has the percentiles.
    """
    count = round(iops * seconds)
    found: dict[str, dict[str, Any]] = {
        "clat_ns": {"mean": 950 * latency_us, "N": count},
        "lat_ns": {"mean": 1e3 * latency_us, "N": count},
    }
    if percentiles is None:
        percentiles = {"50.000000": 150e3, "95.000000": 190e3, "99.000000": 200e3, "99.900000": 300e3, "99.990000": 4e5}
    found[where] |= {"percentile": dict(percentiles)}
    return {
        "io_bytes": count * size,
        "io_kbytes": count * size // 1024,
        "bw_bytes": round(iops * size),
        "iops": iops,
        "runtime": round(1e3 * seconds),
        "total_ios": count,
        "short_ios": 0,
        "drop_ios": 0,
        **found,
    }


def nothing() -> dict[str, Any]:
    """The measurements of a direction without requests."""
    return {"io_bytes": 0, "bw_bytes": 0, "iops": 0.0, "runtime": 0, "total_ios": 0, "clat_ns": {"mean": 0.0, "N": 0}}


def reported(options: Mapping[str, str], name: str = "rr", **parts: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A job as fio 3 reports it; `parts` are its directions and other fields."""
    directions = {which: nothing() for which in ("read", "write", "trim")}
    sync = {"total_ios": 0, "lat_ns": {"mean": 0.0, "N": 0}}
    return {"jobname": name, "error": 0, "job options": {"name": name, **options}, **directions, "sync": sync, **parts}


def output(jobs: Sequence[Mapping[str, Any]]) -> str:
    """The whole output, with a note above it as fio prints them."""
    numbered = [{"groupid": number, **each} for number, each in enumerate(jobs)]
    whole = {"fio version": "fio-3.33", "global options": {"ioengine": "io_uring", "direct": "1"}, "jobs": numbered}
    return "note: both iodepth >= 1 and synchronous I/O engine are selected\n" + json.dumps(whole, indent=2)
