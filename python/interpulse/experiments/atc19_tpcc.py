"""`atc19-tpcc`: tails under a twin of a TPC-C trace, and who fails by a write command timeout (ATC'19, slide 36)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interpulse.experiments.atc19 import (
    CALIBRATED,
    ES,
    IES,
    SCHEMES,
    TES,
    TIMEOUT,
    VARIANTS,
    add,
    buckets,
    curve,
    longest_wait_ms,
    tails,
)
from interpulse.experiments.case import Case
from interpulse.experiments.outcome import Outcome, Plot

if TYPE_CHECKING:
    from interpulse.experiments.case import Sets
    from interpulse.experiments.context import Context

RATE = 51_300
"""Requests a second of the trace that is public."""

QUICK: Sets = {"run.time": "4s", "host.command-timeout": "1s"}
TIMEOUTS = ("1s", "30s")
"""Command timeouts beside the one of the configuration, in the full run."""

SPEEDS = (0.5, 0.75)
"""Speeds of the trace beside its own, in the full run."""


def run(context: Context) -> Outcome:
    """Runs every design on the same arrivals; then ES, I-ES and T-ES with other timeouts and slower arrivals."""
    config = context.config("tpcc.toml")
    length = QUICK if context.quick else {}
    schemes = (*SCHEMES, *VARIANTS)
    cases = [Case(scheme.key, config, {**length, **scheme.sets}) for scheme in schemes]
    if not context.quick:
        for scheme in (ES, IES, TES):
            for timeout in TIMEOUTS:
                cases.append(Case(f"{scheme.key} {timeout}", config, {**scheme.sets, "host.command-timeout": timeout}))
            for speed in SPEEDS:
                rate = f"{RATE * speed:.0f}/s"
                cases.append(Case(f"{scheme.key} {speed}", config, {**scheme.sets, "flow.0.rate": rate}))
    results = {name: repeats[0] for name, repeats in context.run(cases).items()}
    rows = context.rows()
    for scheme in schemes:
        result = results[scheme.key]
        figure = "slide 36" if scheme in SCHEMES else f"another reading: {scheme.label}"
        tail, lost = result.percentile("read", 99.99), result.counters["host"]["command_timeouts_write"]
        add(context, rows, f"read_p99.99_us_{scheme.key}", tail, unit="us", figure=figure)
        add(context, rows, f"write_timeouts_{scheme.key}", lost, unit="requests", figure=figure)
        add(context, rows, f"write_max_ms_{scheme.key}", longest_wait_ms(result), unit="ms", figure=figure)
    for name, result in results.items():
        key, _, what = name.partition(" ")
        if what:
            lost, figure = result.counters["host"]["command_timeouts_write"], "sensitivity: command timeout"
            if not what.endswith("s"):
                what, figure = f"speed_{what}", "sensitivity: speed of the arrivals"
                wait = longest_wait_ms(result)
                rows.add(f"write_max_ms_{key}_{what}", wait, unit="ms", figure=figure)
            rows.add(f"write_timeouts_{key}_{what}", lost, unit="requests", figure=figure)
    reads = {scheme: buckets(results[scheme.key].raw, "read") for scheme in SCHEMES}
    writes = {scheme: buckets(results[scheme.key].raw, "write") for scheme in SCHEMES}
    failed = [s.label for s in schemes if results[s.key].counters["host"]["command_timeouts_write"]]
    return Outcome(
        rows,
        calibrated=dict(CALIBRATED),
        notes=[
            "the slides' trace is not public: synthetic requests with the moments of the TPC-C trace that is",
            f"ended in a write command timeout: {', '.join(failed) or 'none'}; T-ES timeout {TIMEOUT}",
            "slower than the timeout, but neither counted as lost nor repeated: the simulated host waits on",
        ],
        plots=[Plot("tails", lambda: tails("TPC-C twin", [("read", reads), ("write", writes)]))],
        curves=[
            curve("tails", [(s, "read", h) for s, h in reads.items()] + [(s, "write", h) for s, h in writes.items()])
        ],
    )
