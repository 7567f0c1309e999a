"""`atc19-tpcc`: tails under a twin of a TPC-C trace, and write command timeouts (ATC'19, slide 36)."""

from __future__ import annotations

from interpulse.experiments import atc19
from interpulse.studies.case import Case, Sets
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome

READS, WRITES = 32_114, 19_186
"""Requests per second of the public trace."""

QUICK: Sets = {"run.time": "4s", "host.command-timeout": "1s"}
VARIATIONS: dict[str, Sets] = {
    "timeout_1s": {"host.command-timeout": "1s"},
    "timeout_500ms": {"host.command-timeout": "500ms"},
    "speed_0.5": {"flow.0.rate": f"{READS // 2}/s", "flow.1.rate": f"{WRITES // 2}/s"},
    "speed_0.75": {"flow.0.rate": f"{READS * 3 // 4}/s", "flow.1.rate": f"{WRITES * 3 // 4}/s"},
    "shared_queue": {"host.frame-buffer": 65536, "flow.1.queue": 0},
}
"""Unprinted assumptions: the command timeout (in the full run), the load, the order of requests."""


def run(context: Context) -> Outcome:
    """Runs all designs on the same arrivals, then ES, I-ES and T-ES under other assumptions."""
    config = context.config("tpcc.toml")
    length = QUICK if context.quick else {}
    schemes = (*atc19.SCHEMES, *atc19.VARIANTS)
    cases = [Case(scheme.key, config, {**length, **scheme.sets}) for scheme in schemes]
    varied = [
        (s, what)
        for s in (atc19.ES, atc19.IES, atc19.TES)
        for what in VARIATIONS
        if not (context.quick and "timeout" in what)
    ]
    cases += [Case(f"{s.key} {what}", config, {**length, **s.sets, **VARIATIONS[what]}) for s, what in varied]
    results = {name: repeats[0] for name, repeats in context.run(cases).items()}
    rows = context.rows()
    for scheme in schemes:
        result = results[scheme.key]
        figure = "slide 36" if scheme in atc19.SCHEMES else f"another reading: {scheme.label}"
        tail, lost = result.percentile("read", 99.99), result.counters["host"]["command_timeouts_write"]
        rows.add_own(f"read_p99.99_us_{scheme.key}", tail, unit="us", figure=figure)
        rows.add_own(f"write_timeouts_{scheme.key}", lost, unit="requests", figure=figure)
        rows.add_own(f"write_max_ms_{scheme.key}", atc19.longest_wait_ms(result), unit="ms", figure=figure)
    for name, result in results.items():
        key, _, what = name.partition(" ")
        if what:
            lost, wait = result.counters["host"]["command_timeouts_write"], atc19.longest_wait_ms(result)
            rows.add(f"write_timeouts_{key}_{what}", lost, unit="requests", figure=f"sensitivity: {what}")
            rows.add(f"write_max_ms_{key}_{what}", wait, unit="ms", figure=f"sensitivity: {what}")
    atc19.add_erase_suspends(rows, {scheme.key: results[scheme.key] for scheme in schemes})
    failed = [s.label for s in schemes if results[s.key].counters["host"]["command_timeouts_write"]]
    notes = [
        "the slides' trace is not public: synthetic requests with the moments of the TPC-C trace that is",
        f"ended in a write command timeout: {', '.join(failed) or 'none'}; T-ES timeout {atc19.TIMEOUT}",
    ]
    return atc19.outcome(rows, atc19.both_tails("TPC-C twin", results, context.expected().rows), notes=notes)
