"""What a study leaves: JSON, a table, CSV files, plots."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from interpulse._core import version
from interpulse.layout import ELSEWHERE, Column, Sheet, fill
from interpulse.plots import to_bytes
from interpulse.text import csv_bytes, short_figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from interpulse.studies.context import Context
    from interpulse.studies.outcome import Outcome, Row

HOLDS = {None: "-", True: "yes", False: "no"}


def to_dict(context: Context, outcome: Outcome) -> dict[str, Any]:
    """The result as `--json` prints it."""
    return {
        context.form.what: context.name,
        "version": version,
        "quick": context.quick,
        "seed": context.seed,
        "seeds": context.seeds,
        "config_hash": context.config_hash(),
        **context.told(outcome),
        context.form.rows: _rows(outcome),
        "notes": outcome.notes,
        **({"each": outcome.each} if outcome.each else {}),
    }


def to_json(context: Context, outcome: Outcome, *, indent: int | None = None) -> str:
    """The result as JSON text. NaN and infinity, which JSON has no word for, are a bug and raise ValueError."""
    return json.dumps(to_dict(context, outcome), indent=indent, ensure_ascii=False, allow_nan=False)


def render(context: Context, outcome: Outcome, width: int = ELSEWHERE) -> str:
    """The table of published and our figures as text, in lines of at most `width` columns."""
    rows = outcome.rows.ordered()
    columns: dict[str, Callable[[Row], str]] = {
        "published": said,
        "ours": lambda row: short_figure(row.ours),
        "ratio": lambda row: "-" if row.ratio is None else f"{row.ratio:.3g}",
    }
    if any(row.ci_low is not None for row in rows):
        columns["95 % interval"] = _interval
    if any(row.holds is not None for row in rows):
        columns["holds"] = lambda row: HOLDS[row.holds]
    names = [Column("row", "text"), Column("unit", "text")]
    sheet = Sheet([*names, *map(Column, columns), Column("status", "text"), Column("figure", "text")], narrow="records")
    for row in rows:
        sheet.add_row(row.name, row.unit, *(column(row) for column in columns.values()), row.status, row.figure)
    notes = "\n".join(fill(f"note: {note}", width) for note in outcome.notes)
    parts = [fill(context.head(), width), fill(context.preface(outcome), width), sheet.text(width), notes]
    return "\n\n".join(part for part in parts if part)


def files(context: Context, outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    """Every file of `--out` with its content, the ones most wanted first."""
    yield "result.json", f"{to_json(context, outcome, indent=2)}\n".encode()
    yield "table.txt", f"{render(context, outcome)}\n".encode()
    yield from outcome.files
    rows = _rows(outcome)
    yield f"{context.form.rows}.csv", csv_bytes(list(rows[0]), (list(row.values()) for row in rows))
    for curve in outcome.curves:
        yield f"{curve.name}.csv", csv_bytes(curve.columns, curve.rows)
    for plot in outcome.plots:
        for form, content in to_bytes(plot):
            yield f"{plot.name}.{form}", content


def _rows(outcome: Outcome) -> list[dict[str, Any]]:
    return [row.to_dict() for row in outcome.rows.ordered()]


def _interval(row: Row) -> str:
    return "-" if row.ci_low is None else f"{short_figure(row.ci_low)} .. {short_figure(row.ci_high)}"


def said(row: Row) -> str:
    """What the paper says: a number, or bounds."""
    if row.low is None and row.high is None:
        return short_figure(row.published)
    if row.low == row.high:
        return short_figure(row.low)
    if row.high is None:
        return f">= {short_figure(row.low)}"
    return f"<= {short_figure(row.high)}" if row.low is None else f"{short_figure(row.low)} .. {short_figure(row.high)}"
