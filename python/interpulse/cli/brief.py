"""Short result of `interpulse run`, on one screen: answers, a line for each case, a plot of the tails, warnings."""

from __future__ import annotations

from interpulse.cli import summary, table
from interpulse.runs.answer import answer
from interpulse.runs.latency import UNSURE, figure, kind_iops
from interpulse.runs.steadiness import overload
from interpulse.tables.format import number
from interpulse.tables.layout import ELSEWHERE, Column, Sheet, fill
from interpulse.tables.tail_plot import LETTERS, tail_plot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from interpulse.runs.latency import Kind
    from interpulse.runs.result import Result

PERCENTILES = ("p50", "p99", "p99.9", "p99.99")
"""Rows of the plot."""

MEASURES = ("mean", "p99", "p99.9", "p99.99")
"""Columns of the kind that is plotted; the other kind has the one of `OTHER`."""

OTHER = ("p99.9",)

MOST_PLOTTED = 6
"""Most cases that share a plot."""

MOST_COMPARED = 5
"""Most cases, of which each after the first has a sentence that compares it with the first."""

MOST_FLOWS = 12
"""Most flows of all cases that have rows."""

MOST_LIMITS = 2
"""Most cases of which each has a line about what bounds it, with figures; many cases share one with names alone."""

MORE = "all tables: --full; a page with plots: --report; docs/RESULTS.md explains every figure"


def render(result: Result, width: int = ELSEWHERE) -> str:
    """Text of a result in lines of at most `width` columns."""
    cases = [case.raw for case in result.cases]
    measured = [case for case in cases if case.get("latency_us", {}).get("all", {}).get("count")]
    kind: Kind = "read" if any(summary.has_latency(case, "read") for case in measured) else "write"
    letters = LETTERS[: len(measured)] if 1 < len(measured) <= MOST_PLOTTED else ""
    head = f"interpulse {result.raw['version']}, seed {result.seed}, config {result.config_hash}"
    prose = list(_answers(cases, measured, kind))
    foot = [*_notes(cases), MORE]
    sheet = _sheet(measured, kind, letters).text(width) if measured else ""
    if UNSURE in sheet:
        foot.insert(0, f"{UNSURE} fewer than ten requests lie beyond that percentile")
    parts = [fill(head, width), "\n".join(fill(line, width) for line in prose)]
    if measured:
        parts.append(sheet)
        latencies = [case["latency_us"].get(kind, {}) for case in measured]
        parts.append("\n".join(tail_plot(latencies, PERCENTILES, width) if letters else ()))
    parts.append("\n".join(fill(line, width) for line in foot))
    return "\n\n".join(part for part in parts if part)


def _answers(cases: Sequence[Mapping[str, Any]], measured: Sequence[Mapping[str, Any]], kind: Kind) -> Iterator[str]:
    """What should not be trusted, what changed, why the slowest reads are slow."""
    yield from _reservations(measured)
    is_steady = all(case.get("steady", {}).get("verdict") == "yes" for case in measured)
    if not is_steady:
        yield from summary.steadiness(measured)
    yield from _changes(measured, kind, whole=len(measured) == len(cases))
    yield from summary.causes_of_tails(measured)
    if len(measured) <= MOST_LIMITS or len(measured) > summary.MOST_LIMITS:
        yield from summary.limits(measured)
    if is_steady:
        yield from summary.steadiness(measured)


def _reservations(measured: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Interruption, overload, the end of a drive's life, lost data."""
    for case in measured:
        if case.get("interrupted"):
            yield f"{_name(case)}: interrupted: {case['host_requests']:,} requests were measured"
    for said in (overload, summary.end_of_life, summary.data_loss):
        for case in measured:
            if text := said(case):
                yield f"{_name(case)}: {text}" if len(measured) > 1 else text


def _changes(measured: Sequence[Mapping[str, Any]], kind: Kind, *, whole: bool) -> Iterator[str]:
    """What each case changes against the first; of one case, or of many, their figures."""
    if len(measured) == 1:
        yield summary.alone(measured[0], kind)
    elif whole and 1 < len(measured) <= MOST_COMPARED:
        for case in measured[1:]:
            yield f"{_name(case)}, against {_name(measured[0])}: {answer(measured[0], case) or 'nothing to compare'}"
    elif measured:
        yield summary.extremes(measured, kind)


def _name(case: Mapping[str, Any]) -> str:
    return str(case.get("case", "?"))


def _sheet(measured: Sequence[Mapping[str, Any]], kind: Kind, letters: str) -> Sheet:
    """A row for each case."""
    kinds: list[tuple[Kind, tuple[str, ...]]] = [(kind, MEASURES)]
    if kind == "read" and any(summary.has_latency(case, "write") for case in measured):
        kinds.append(("write", OTHER))
    columns = [Column("case", "label"), Column("IOPS")]
    columns += [
        Column(name, group=f"{each}{' latency, us' * (each == kind)}") for each, names in kinds for name in names
    ]
    sheet = Sheet([*columns, Column("WAF")])
    flows = sum(len(case.get("flows", [])) for case in measured) <= MOST_FLOWS
    for index, case in enumerate(measured):
        letter = f"{letters[index]} " if letters else ""
        waf = number(case.get("ftl", {}).get("waf"), 2)
        sheet.add_row(f"{letter}{_name(case)}", number(case.get("iops"), 0), *_figures(case, kinds), waf)
        of = case.get("flows", [])
        for flow in of if flows and len(of) > 1 else ():
            sheet.add_row(f"  {flow['name']}", number(kind_iops(flow, "all"), 0), *_figures(flow, kinds), "")
    return sheet


def _figures(of: Mapping[str, Any], kinds: Sequence[tuple[Kind, tuple[str, ...]]]) -> list[str]:
    latency = of.get("latency_us", {})
    return [figure(latency.get(kind, {}), name) for kind, names in kinds for name in names]


def _notes(cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Failures and warnings."""
    for case in cases:
        if "error" in case:
            yield f"{_name(case)}: failed: {case['error']}"
        elif "host_requests" not in case:
            yield f"{_name(case)}: stopped before anything was measured"
        else:
            yield from (line for line in summary.warmup_lines(_name(case), case) if line.startswith("warning"))
            yield from table.notes(case)
