"""Table of throughput and latency by case and request kind."""

from __future__ import annotations

from interpulse.tables.format import number
from interpulse.tables.layout import Column, Sheet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, Literal, TypeAlias

    Kind: TypeAlias = Literal["read", "write", "all"]

KINDS: tuple[Kind, ...] = ("read", "write", "all")

MEASURES = ("mean", "p50", "p99", "p99.9", "p99.99", "max")
"""Columns of the table."""

UNSURE = "~"
"""Mark of a percentile with fewer than ten requests beyond it."""


def kind_iops(result: Mapping[str, Any], kind: Kind) -> float | None:
    """Requests of one kind per simulated second: the share of that kind in `iops`; None when there are none."""
    latency = result.get("latency_us", {})
    count, total = (latency.get(k, {}).get("count", 0) for k in (kind, "all"))
    if not count or not total or "iops" not in result:
        return None
    return float(result["iops"]) * (float(count) / float(total))


def latency(cases: Sequence[Mapping[str, Any]]) -> Sheet:
    """A row per case and kind of request, and one per flow and kind where a case has several flows."""
    sheet = Sheet([Column("case", "label"), Column("", "label"), *map(Column, ("IOPS", *MEASURES))])
    for case in cases:
        groups = [(str(case.get("case", "?")), case)]
        flows = case.get("flows", [])
        if len(flows) > 1:
            groups += [(f"  {flow['name']}", flow) for flow in flows]
        for label, group in groups:
            for index, row in enumerate(_kind_rows(group)):
                sheet.add_row(label if index == 0 else "", *row)
        sheet.add_section()
    if len(cases) == 2:
        for index, row in enumerate(_change_rows(*cases)):
            sheet.add_row("change, %" if index == 0 else "", *row)
    return sheet


def _kind_rows(group: Mapping[str, Any]) -> Iterator[list[str]]:
    latency = group.get("latency_us", {})
    for kind in KINDS:
        summary = latency.get(kind, {})
        yield [kind, number(kind_iops(group, kind), 0), *(figure(summary, name) for name in MEASURES)]


def figure(summary: Mapping[str, Any], name: str) -> str:
    """A figure of a latency; marked where fewer than ten requests lie beyond it."""
    return (UNSURE if name in summary.get("few", ()) else "") + number(summary.get(name))


def _change_rows(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[list[str]]:
    """What the second case changes against the first, in per cent."""
    for kind in KINDS:
        old, new = (case.get("latency_us", {}).get(kind, {}) for case in (before, after))
        pairs = [(kind_iops(before, kind), kind_iops(after, kind)), *((old.get(n), new.get(n)) for n in MEASURES)]
        yield [kind, *(change(*pair) for pair in pairs)]


def change(old: float | None, new: float | None) -> str:
    """The change in per cent, such as `+5.2`, or as a factor, such as `x12`; a dash where nothing can be compared."""
    if not old or new is None:
        return "-"
    ratio = new / old
    return f"x{ratio:,.0f}" if ratio >= 11 else f"{100 * (ratio - 1):+,.1f}"
