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


def output(jobs: Sequence[Mapping[str, Any]]) -> str:
    """The whole output, with a note above it as fio prints them."""
    numbered = [{"groupid": number, **each} for number, each in enumerate(jobs)]
    whole = {"fio version": "fio-3.33", "global options": {"ioengine": "io_uring", "direct": "1"}, "jobs": numbered}
    return "note: both iodepth >= 1 and synchronous I/O engine are selected\n" + json.dumps(whole, indent=2)
