"""Short result of `interpulse run`, on one screen: answers, a line for each case, a plot of the tails, warnings."""

from __future__ import annotations

from interpulse.cli import table
from interpulse.runs import summary
from interpulse.runs.latency import UNSURE, figure, kind_iops
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

MOST_FLOWS = 12
"""Most flows of all cases that have rows."""

MORE = "all tables: --full; a page with plots: --report; docs/RESULTS.md explains every figure"


def render(result: Result, width: int = ELSEWHERE) -> str:
    """Text of a result in lines of at most `width` columns."""
    cases = [case.raw for case in result.cases]
    measured, kind = summary.measured(cases)
    letters = LETTERS[: len(measured)] if 1 < len(measured) <= MOST_PLOTTED else ""
    head = f"interpulse {result.raw['version']}, seed {result.seed}, {summary.config_label(cases)}"
    prose = list(summary.answers(cases))
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


def _name(case: Mapping[str, Any]) -> str:
    return str(case.get("case", "?"))


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
