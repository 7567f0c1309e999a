"""Section on the method: what figures are, how each drive warmed up, whether its window was steady, what limited it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from interpulse.report.elements import Html, Section, micro, prose
from interpulse.report.runs import Report
from interpulse.runs.latency import UNSURE
from interpulse.runs.limits import limited_by
from interpulse.runs.steadiness import overload, slope
from interpulse.tables.format import short_figure

_DRIFTING = {
    "waf": "write amplification",
    "iops": "requests per second",
    "read_p99_us": "p99 of reads",
    "write_p99_us": "p99 of writes",
    "backlog": "requests outstanding",
    "erases": "blocks erased",
    "refused": "requests refused",
}


def section(report: Report) -> Section:
    """Words, then what is known of each window."""
    several = any(len(series.raws) > 1 for series in report.series)
    words = [
        "Latency runs from submission by the host to completion.",
        "Figures are means over seeds with their 95 % interval."
        if several
        else "Intervals of percentiles are those within this run, at 95 %; another seed may give what lies outside.",
        f"{UNSURE} marks a percentile beyond which fewer than ten requests lie.",
        "Figures are rounded to the first digit of half their interval, and to three or four digits without one.",
    ]
    warnings, notes = _sure(report)
    steady = "" if warnings else "every window steady" if not any("too short" in each.text for each in notes) else ""
    return Section("method", "How it was measured", [*warnings, prose(*words), *notes], steady)


def _notes(raw: Mapping[str, Any]) -> Iterator[str]:
    if bound := limited_by(raw):
        yield f"limited by {bound}"
    if rises := slope(raw):
        yield rises


def _sure(report: Report) -> tuple[list[Html], list[Html]]:
    """Reasons not to trust a window; how each drive warmed up, whether its window was steady, and what limited it."""
    lines, warnings = [], []
    for series in report.series:
        for raw in series.raws:
            of = series.label if len(series.raws) == 1 else f"{series.label}, seed {raw['seed']}"
            steady, warmup = raw.get("steady", {}), raw.get("warmup", {})
            if unsteady := _unsteady(raw):
                warnings.append(f"{of}: {unsteady}.")
            elif steady.get("verdict") == "unknown":
                unsure = f": {_halves(steady, 'unsure')}" if steady.get("unsure") else ""
                lines.append(f"{of}: the window is too short to decide whether it was steady{unsure}.")
            lines += [f"{of}: {each}." for each in _notes(raw)]
            if warmup.get("by") == "none":
                warnings.append(f"{of}: no warm-up: {warmup.get('why', 'none was asked for')}.")
            elif warmup.get("why"):
                lines.append(f"{of}: {warmup['why']}.")
    return (
        [prose(*map(micro, warnings), kind="warning")] if warnings else [],
        [prose(*map(micro, lines), kind="note")] if lines else [],
    )


def _unsteady(raw: Mapping[str, Any]) -> str:
    """Why the window was not steady; empty if it was, or is too short to decide."""
    steady = raw.get("steady", {})
    drifts = steady.get("verdict") == "no"
    return f"the window was not steady: {_halves(steady, 'drifts')}" if drifts else overload(raw)


def _halves(steady: Mapping[str, Any], which: str) -> str:
    def one(name: str) -> str:
        first, second = steady["halves"][name]
        return f"{_DRIFTING.get(name, name)} {short_figure(first)}, then {short_figure(second)}"

    return "; ".join(one(name) for name in steady[which])
