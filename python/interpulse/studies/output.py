"""Output of a study: JSON, table, CSV files and plots."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from interpulse._core import version
from interpulse.plotting.plots import to_bytes
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome, Row
from interpulse.studies.verdict import Agreement, agreement
from interpulse.tables.format import csv_bytes, short_figure
from interpulse.tables.layout import ELSEWHERE, Column, Sheet, fill

_HOLDS = {None: "-", True: "yes", False: "no"}

JUDGED = (Agreement.HOLDS, Agreement.EQUAL, Agreement.FAILS, Agreement.UNDECIDED)
"""Agreements with a statement, which have a word instead of a ratio."""


def held(row: Row) -> str:
    """Whether a row meets the statement of its paper, as tables say it."""
    return "undecided" if row.undecided else _HOLDS[row.holds]


def to_dict(context: Context, outcome: Outcome) -> dict[str, Any]:
    """The result as `--json` prints it."""
    return {
        context.form.what: context.name,
        "version": version,
        "quick": context.quick,
        "seed": context.seed,
        "seeds": context.seeds,
        "config_hash": context.config_hash(),
        **context.json_head(outcome),
        context.form.rows: _rows(outcome),
        "notes": outcome.notes,
        **({"each": outcome.each} if outcome.each else {}),
    }


def to_json(context: Context, outcome: Outcome, *, indent: int | None = None) -> str:
    """The result as JSON text. NaN and infinity, which JSON has no word for, are a bug and raise ValueError."""
    return json.dumps(to_dict(context, outcome), indent=indent, ensure_ascii=False, allow_nan=False)


def render(context: Context, outcome: Outcome, width: int = ELSEWHERE, *, every: bool = True) -> str:
    """The rows as text, in lines of at most `width` columns, and the verdict below them.

    Args:
        context: of the study.
        outcome: what it came to.
        width: of a line.
        every: whether to show all rows with all that is known of them, what was calibrated and the notes; otherwise
            the rows that compare with something published, or, where none does, those of `expected.toml` and the notes.
    """
    rows, published = outcome.rows.ordered(), outcome.rows.published()
    shown = rows if every else published or outcome.rows.expected()
    parts = [fill(context.head(), width)]
    if every:
        parts += [fill(context.preface(outcome), width), _every(rows).text(width)]
    else:
        parts.append((_beside if published else _alone)(shown).text(width))
    noted = every or not published
    if noted:
        parts.append("\n".join(fill(f"note: {note}", width) for note in outcome.notes))
    parts.append(fill(context.verdict(published), width))
    left = [f"{len(rows) - len(shown)} more rows"] * (len(rows) > len(shown))
    if not every:
        left += ["what was calibrated"] * bool(outcome.calibrated) + ["where each is published"] * bool(published)
    left += [f"{len(outcome.notes)} note{'s' * (len(outcome.notes) > 1)}"] * (not noted and bool(outcome.notes))
    if left:
        parts[-1] += "\n" + fill(f"with --all, and in table.txt: {', '.join(left)}", width)
    return "\n\n".join(part for part in parts if part)


def _beside(rows: Sequence[Row]) -> Sheet:
    """What is published and ours beside it."""
    names = [Column("row", "text"), Column("paper", "text")]
    sheet = Sheet([*names, Column("ours"), Column("ratio"), Column("status", "text")], narrow="records")
    judged = {each: each.value for each in JUDGED}
    for row in rows:
        agrees = judged.get(agreement(row)) or ("-" if row.ratio is None else f"{row.ratio:.3g}")
        sheet.add_row(row.name, f"{said(row)} {row.unit}", sure(row), agrees, row.status)
    return sheet


def _alone(rows: Sequence[Row]) -> Sheet:
    """Ours, where nothing is published."""
    sheet = Sheet([Column("row", "text"), Column("unit", "text"), Column("ours")], narrow="records")
    for row in rows:
        sheet.add_row(row.name, row.unit, sure(row))
    return sheet


def _every(rows: Sequence[Row]) -> Sheet:
    """All that is known of each row."""
    columns: dict[str, Callable[[Row], str]] = {
        "published": said,
        "ours": lambda row: short_figure(row.ours),
        "ratio": lambda row: "-" if row.ratio is None else f"{row.ratio:.3g}",
    }
    if any(row.ci_low is not None for row in rows):
        columns["95 % interval"] = _interval
    if any(row.holds is not None for row in rows):
        columns["holds"] = held
    names = [Column("row", "text"), Column("unit", "text")]
    sheet = Sheet([*names, *map(Column, columns), Column("status", "text"), Column("figure", "text")], narrow="records")
    for row in rows:
        sheet.add_row(row.name, row.unit, *(column(row) for column in columns.values()), row.status, row.figure)
    return sheet


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


def sure(row: Row) -> str:
    """Ours, and half the width of its 95 % interval where it has one."""
    half = None if row.ours is None or row.ci_high is None else row.ci_high - row.ours
    return short_figure(row.ours) + (f" ± {short_figure(half)}" if half is not None else "")


def said(row: Row) -> str:
    """What the paper says: a number, or bounds."""
    if row.low is None and row.high is None:
        return short_figure(row.published)
    if row.low == row.high:
        return short_figure(row.low)
    if row.high is None:
        return f">= {short_figure(row.low)}"
    return f"<= {short_figure(row.high)}" if row.low is None else f"{short_figure(row.low)} .. {short_figure(row.high)}"
