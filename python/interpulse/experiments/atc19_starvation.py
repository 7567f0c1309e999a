"""`atc19-starvation`: progress of a writer beside a reader that never pauses (Kim et al., ATC'19, slides 24, 31)."""

from __future__ import annotations

from interpulse.experiments import atc19
from interpulse.studies.case import Case, Sets
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome

BLOCK_MIB = 128 / 1024
"""Block size of `starvation.toml`, 128 KiB, in MiB."""

QUICK: Sets = {"run.time": "5s"}
LENGTHS = ("10s", "40s")
"""Windows for the longest wait of a write, besides the configured one."""


def run(context: Context) -> Outcome:
    """Runs all designs, and I-ES and T-ES over several windows: an unbounded tail grows with the window.

    Without `--quick`, also other readings of ES and T-ES.
    """
    config = context.config("starvation.toml")
    length = QUICK if context.quick else {}
    schemes = atc19.SCHEMES if context.quick else (*atc19.SCHEMES, *atc19.VARIANTS)
    windows = LENGTHS[:1] if context.quick else LENGTHS
    cases = [Case(scheme.key, config, {**length, **scheme.sets}) for scheme in schemes]
    cases += [
        Case(f"{scheme.key} {window}", config, {**scheme.sets, "run.time": window})
        for scheme in (atc19.IES, atc19.TES)
        for window in windows
    ]
    results = {name: repeats[0] for name, repeats in context.run(cases).items()}
    rows = context.rows()
    for scheme in schemes:
        result = results[scheme.key]
        figure = f"another reading: {scheme.label}"
        written = atc19.flow(result, "writer")["host_requests"] * BLOCK_MIB / result.raw["simulated_s"]
        rows.add_own(f"write_mib_per_s_{scheme.key}", written, unit="MiB/s", figure=figure)
        # The printed bound of T-ES is on the longest write.
        row = "write_max_ms_tes" if scheme is atc19.TES else f"write_wait_max_ms_{scheme.key}"
        rows.add_own(row, atc19.longest_wait_ms(result), unit="ms", figure=figure)
    for scheme in schemes:
        tail = results[scheme.key].percentile("read", 99.9)
        rows.add(f"read_p99.9_us_{scheme.key}", tail, unit="us", figure="not in the slides")
    for scheme in (atc19.IES, atc19.TES):
        for window in windows:
            row, figure = f"write_wait_max_ms_{scheme.key}_{window}", f"sensitivity: a window of {window}"
            rows.add(row, atc19.longest_wait_ms(results[f"{scheme.key} {window}"]), unit="ms", figure=figure)
    atc19.add_erase_suspends(rows, {scheme.key: results[scheme.key] for scheme in schemes})
    drawn = atc19.both_tails("128 KiB reads beside 128 KiB writes", results, context.expected().rows)
    silent = [scheme.label for scheme in atc19.SCHEMES if not atc19.buckets(results[scheme.key].raw, "write")]
    notes = [f"no write at all was completed in the window under {', '.join(silent)}"] if silent else []
    notes.append(f"the bound of T-ES is its timeout, {atc19.TIMEOUT}, and the longest write of the baseline")
    return atc19.outcome(rows, drawn, notes=notes)
