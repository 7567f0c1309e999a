"""Section with the main figures: throughput, tails and their confidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from interpulse.report.elements import Html, Section, escaped, prose, table
from interpulse.report.runs import Report, Series
from interpulse.runs.comparison import figures
from interpulse.runs.estimate import Estimate
from interpulse.runs.latency import UNSURE
from interpulse.runs.limits import limited_by
from interpulse.runs.steadiness import overload, slope
from interpulse.tables.format import short_figure

_CARDS = ("all IOPS", "read p99", "read p99.9", "write p99", "write amplification")

_DRIFTING = {
    "waf": "write amplification",
    "iops": "requests per second",
    "read_p99_us": "p99 of reads",
    "write_p99_us": "p99 of writes",
    "backlog": "requests outstanding",
    "erases": "blocks erased",
}


def section(report: Report) -> Section:
    """Warnings and cards, then every figure of every case."""
    every = list(figures())
    rows = []
    for name, unit, read in every:
        cells = [figure_text(series, name, read) for series in report.series]
        if any(cell != "-" for cell in cells):
            rows.append([f"{name}, {unit}" if unit else name, *cells])
    cards = "".join(_card(series, every) for series in report.series)
    words = "Latency runs from submission by the host to completion."
    words += (
        " Figures are means over seeds with their 95 % interval."
        if any(len(series.raws) > 1 for series in report.series)
        else " In brackets: the 95 % interval of a percentile within this run; another seed may give what lies outside."
    )
    words += f" {UNSURE} marks a percentile beyond which fewer than ten requests lie."
    head = ["figure", *(series.label for series in report.series)]
    warnings, notes = _sure(report)
    parts = [
        *warnings,
        Html(f'<div class="cards">{cards}</div>'),
        *notes,
        prose(words),
        table("Every figure", head, rows),
    ]
    return Section("headline", "Headline", parts)


def _card(series: Series, every: list[tuple[str, str, Callable[[Mapping[str, Any]], float | None]]]) -> str:
    items = []
    for name, unit, read in every:
        if name in _CARDS and (text := figure_text(series, name, read)) != "-":
            value, bracket, rest = text.partition(" (")
            small = f"<small>{escaped(bracket.strip() + rest)}</small>" if bracket else ""
            suffix = "" if unit in ("", "1/s") else f" {unit}"
            items.append(f"<dt>{escaped(name)}</dt><dd>{escaped(value + suffix)}{small}</dd>")
    seeds = f"seed{'s' * (len(series.raws) > 1)} {', '.join(map(str, series.seeds))}"
    return f'<div class="card"><h3>{escaped(series.label)}</h3><p>{escaped(seeds)}</p><dl>{"".join(items)}</dl></div>'


def figure_text(series: Series, name: str, read: Callable[[Mapping[str, Any]], float | None]) -> str:
    """A figure with what is known of its chance; a dash where there is none."""
    known = [value for value in map(read, series.raws) if value is not None]
    if len(known) < len(series.raws) or not known:
        return "-"
    kind, _, measure = name.partition(" ")
    summaries = [raw.get("latency_us", {}).get(kind, {}) for raw in series.raws]
    mark = UNSURE if any(measure in summary.get("few", ()) for summary in summaries) else ""
    if len(known) > 1:
        estimate = Estimate.of(known)
        return f"{mark}{short_figure(estimate.value)} ({short_figure(estimate.low)} .. {short_figure(estimate.high)})"
    interval = summaries[0].get("interval", {}).get(measure)
    return f"{mark}{short_figure(known[0])}" + (
        f" ({short_figure(interval[0])} .. {short_figure(interval[1])})" if interval else ""
    )


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
    return [prose(*warnings, kind="warning")] if warnings else [], [prose(*lines, kind="note")] if lines else []


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
