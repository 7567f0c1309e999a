"""`atc19-fio`: read and write tails of the six designs under fio (Kim et al., ATC'19, slide 33), and slides 2 and 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interpulse.experiments.atc19 import (
    BASELINE,
    CALIBRATED,
    SCHEMES,
    VARIANTS,
    add_erase_suspends,
    both_tails,
    buckets,
    tails,
)
from interpulse.studies.case import Case
from interpulse.studies.outcome import Outcome

if TYPE_CHECKING:
    from interpulse.studies.case import Sets
    from interpulse.studies.context import Context

QUICK: Sets = {"run.time": "3s"}
QD1: Sets = {"flow.0.depth": 1, "flow.0.read": 1.0, "run.warmup": "0s", "run.time": "200ms"}
QD128: Sets = {"flow.0.depth": 128}


def run(context: Context) -> Outcome:
    """Runs every design at queue depth 16, and the baseline at 1 and 128."""
    config = context.config("fio.toml")
    length = QUICK if context.quick else {}
    schemes = (*SCHEMES, *VARIANTS)
    cases = [Case(scheme.key, config, {**length, **scheme.sets}) for scheme in schemes]
    cases += [Case("qd1", config, QD1), Case("qd128", config, {**length, **QD128})]
    results = {name: repeats[0] for name, repeats in context.run(cases).items()}
    rows = context.rows()
    rows.add("qd1_read_mean_us", results["qd1"].latency_us["read"]["mean"])
    for scheme in schemes:
        figure = f"another reading: {scheme.label}"
        read, write = (results[scheme.key].percentile(kind, 99.99) for kind in ("read", "write"))
        rows.add_own(f"read_p99.99_us_{scheme.key}", read, unit="us", figure=figure)
        rows.add_own(f"write_p99.99_ms_{scheme.key}", write / 1000, unit="ms", figure=figure)
    for scheme in SCHEMES:
        result = results[scheme.key]
        rows.add(f"read_p99.9_us_{scheme.key}", result.percentile("read", 99.9), unit="us", figure="slide 33 (a)")
        rows.add(f"kiops_{scheme.key}", result.iops / 1000, unit="kIOPS", figure="not in the slides")
    rows.add("qd128_read_p50_us_baseline", results["qd128"].percentile("read", 50))
    rows.add("qd128_read_p99.9_us_baseline", results["qd128"].percentile("read", 99.9))
    add_erase_suspends(rows, {scheme.key: results[scheme.key] for scheme in schemes})
    deep = {"read": {BASELINE: buckets(results["qd128"].raw, "read")}}
    distributions = [
        both_tails("fio, 70 % reads, 4 KiB, queue depth 16", results),
        tails("motivation", "fio, 70 % reads, 4 KiB, queue depth 128", deep),
    ]
    return Outcome(
        rows,
        calibrated=dict(CALIBRATED),
        plots=[plot for plot, _ in distributions],
        curves=[curve for _, curve in distributions],
    )
