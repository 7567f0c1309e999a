"""`atc19-fio`: read and write tails of the six designs under fio (Kim et al., ATC'19, slide 33), and slides 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping

from interpulse.experiments import atc19
from interpulse.runs.result import Result
from interpulse.studies.case import Case, Sets
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome, Rows

QUICK: Sets = {"run.time": "3s"}
QD1: Sets = {"flow.0.depth": 1, "flow.0.read": 1.0, "run.warmup": "0s", "run.time": "200ms"}
QD128: Sets = {"flow.0.depth": 128}

AUTHORS: Sets = {
    "part.pages-per-block": 768,
    "part.blocks-per-plane": 86,
    "part.read-lsb": "3.3us",
    "part.program-pulse": "13.6us",
    "part.page-load": "12ns",
    "ftl.over-provisioning": "71%",
    "run.warmup": "1s",
    "run.time": "4s",
}
"""Regime of the authors' published simulator on its own configuration: its times; super blocks of eight blocks, so that
an erase of 5 ms frees 24 MiB; programs of eight planes that use the bus for 0.9 us, including their eight commands; and
the spare space with the same write amplification, 1.73."""

AUTHORS_DESIGNS = (atc19.BASELINE, atc19.IDEAL, atc19.ES, atc19.IES, atc19.DES)
"""Designs with figures of that program. Its ES has no ramp."""

LOADS: Sets = {"part.page-load": "3787ns"}
"""Page loads at the printed bus rate: a page and its parity, 4,544 bytes, at 1,200 MT/s."""


def run(context: Context) -> Outcome:
    """Runs all designs at queue depth 16, and the baseline also at 1 and 128."""
    config = context.config("fio.toml")
    length = QUICK if context.quick else {}
    schemes = (*atc19.SCHEMES, *atc19.VARIANTS)
    cases = [Case(scheme.key, config, {**length, **scheme.sets}) for scheme in schemes]
    cases += [Case("qd1", config, QD1), Case("qd128", config, {**length, **QD128})]
    authors = {**AUTHORS, **({"run.time": "1s"} if context.quick else {})}
    for scheme in AUTHORS_DESIGNS:
        own = {**authors, **(atc19.ES_NO_RAMP if scheme is atc19.ES else scheme).sets}
        cases.append(Case(f"authors_{scheme.key}", config, own))
        cases.append(Case(f"authors_loads_{scheme.key}", config, {**own, **LOADS}))
    results = {name: repeats[0] for name, repeats in context.run(cases).items()}
    rows = context.rows()
    rows.add("qd1_read_mean_us", results["qd1"].latency_us["read"]["mean"])
    for scheme in schemes:
        figure = f"another reading: {scheme.label}"
        read, write = (results[scheme.key].percentile(kind, 99.99) for kind in ("read", "write"))
        rows.add_own(f"read_p99.99_us_{scheme.key}", read, unit="us", figure=figure)
        rows.add_own(f"write_p99.99_ms_{scheme.key}", write / 1000, unit="ms", figure=figure)
    for scheme in atc19.SCHEMES:
        result = results[scheme.key]
        rows.add(f"read_p99.9_us_{scheme.key}", result.percentile("read", 99.9), unit="us", figure="slide 33 (a)")
        rows.add(f"kiops_{scheme.key}", result.iops / 1000, unit="kIOPS", figure="not in the slides")
    rows.add("qd128_read_p50_us_baseline", results["qd128"].percentile("read", 50))
    rows.add("qd128_read_p99.9_us_baseline", results["qd128"].percentile("read", 99.9))
    atc19.add_erase_suspends(rows, {scheme.key: results[scheme.key] for scheme in schemes})
    _authors(rows, results)
    deep = {"read": {atc19.BASELINE: atc19.buckets(results["qd128"].raw, "read")}}
    return atc19.outcome(
        rows,
        atc19.both_tails("fio, 70 % reads, 4 KiB, queue depth 16", results, context.expected().rows),
        atc19.tails("motivation", "fio, 70 % reads, 4 KiB, queue depth 128", deep),
    )


def _authors(rows: Rows, results: Mapping[str, Result]) -> None:
    """Adds figures of the authors' published simulator on its own configuration, beside ours in its regime."""
    for scheme in AUTHORS_DESIGNS:
        for loads in ("", "loads_"):
            result = results[f"authors_{loads}{scheme.key}"]
            measured = {
                "kiops": result.iops / 1000,
                "read_mean_us": result.latency_us["read"]["mean"],
                "read_p99.9_us": result.percentile("read", 99.9),
                "read_p99.99_us": result.percentile("read", 99.99),
            }
            for what, value in measured.items():
                row = f"authors_{what}_{scheme.key}"
                if loads:
                    rows.add(f"{row}_sens_loads", value, beside=row, figure="page loads at the printed bus rate")
                else:
                    rows.add(row, value)
    written = results["authors_baseline"].raw["ftl"]["waf"]
    rows.add("authors_write_amplification", written)
