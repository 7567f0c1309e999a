"""What an experiment leaves: JSON, a table, CSV files, plots."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from interpulse._core import version
from interpulse.experiments.plots import to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from interpulse.experiments.context import Context
    from interpulse.experiments.outcome import Curve, Outcome, Plot

COLUMNS = ("name", "figure", "unit", "published", "ours", "ratio", "ci_low", "ci_high")
"""The keys of a row and the columns of `rows.csv`."""


def to_dict(context: Context, outcome: Outcome) -> dict[str, Any]:
    """The result as `--json` prints it."""
    return {
        "experiment": context.name,
        "version": version,
        "quick": context.quick,
        "seed": context.seed,
        "config_hash": context.config_hash(),
        "calibrated": outcome.calibrated,
        "rows": [row.to_dict() for row in outcome.rows.ordered()],
        "notes": outcome.notes,
    }


def to_json(context: Context, outcome: Outcome, *, indent: int | None = None) -> str:
    """The result as JSON text. NaN and infinity, which JSON has no word for, are a bug and raise ValueError."""
    return json.dumps(to_dict(context, outcome), indent=indent, ensure_ascii=False, allow_nan=False)


def render(context: Context, outcome: Outcome) -> str:
    """The table of published and our figures as text."""
    from rich import box
    from rich.table import Table

    from interpulse.cli.text import plain

    rows = outcome.rows.ordered()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    with_interval = any(row.ci_low is not None for row in rows)
    for name in ("row", "unit"):
        table.add_column(name, overflow="fold")
    for name in ("published", "ours", "ratio", *(["95 % interval"] if with_interval else [])):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("figure", overflow="fold")
    for row in rows:
        interval = "-" if row.ci_low is None else f"{short_figure(row.ci_low)} .. {short_figure(row.ci_high)}"
        ratio = "-" if row.ratio is None else f"{row.ratio:.3g}"
        figures = [short_figure(row.published), short_figure(row.ours), ratio, *([interval] if with_interval else [])]
        table.add_row(row.name, row.unit, *figures, row.figure)
    kind = "quick" if context.quick else "full"
    head = f"{context.name} ({kind}), interpulse {version}, seed {context.seed}, config {context.config_hash()}"
    calibrated = [f"calibrated: {key} = {value}" for key, value in outcome.calibrated.items()]
    parts = [head, "\n".join(calibrated), plain(table), "\n".join(f"note: {note}" for note in outcome.notes)]
    return "\n\n".join(part for part in parts if part)


def files(context: Context, outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    """Every file of `--out` with its content, the ones most wanted first."""
    yield "result.json", f"{to_json(context, outcome, indent=2)}\n".encode()
    yield "table.txt", f"{render(context, outcome)}\n".encode()
    rows = [row.to_dict() for row in outcome.rows.ordered()]
    yield "rows.csv", csv_bytes(COLUMNS, ([row[column] for column in COLUMNS] for row in rows))
    yield from drawn(outcome.curves, outcome.plots)


def drawn(curves: Iterable[Curve], plots: Iterable[Plot]) -> Iterator[tuple[str, bytes]]:
    """The files of curves and plots."""
    for curve in curves:
        yield f"{curve.name}.csv", csv_bytes(curve.columns, curve.rows)
    for plot in plots:
        for form, content in to_bytes(plot):
            yield f"{plot.name}.{form}", content


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A CSV file with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def short_figure(value: float | None) -> str:
    """Four digits, thousands separated; a dash where there is no figure."""
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"
