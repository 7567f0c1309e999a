"""What a characterization leaves: JSON, a table, CSV files, plots, and a part for drives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from interpulse._core import version
from interpulse.characterize.part import FILE
from interpulse.experiments.output import csv_bytes, drawn, short_figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interpulse.characterize.bench import Bench
    from interpulse.characterize.finding import Finding
    from interpulse.experiments.outcome import Row

COLUMNS = ("name", "figure", "unit", "published", "low", "high", "ours", "ratio", "ci_low", "ci_high", "holds")
"""The keys of a published row and the columns of `published.csv`."""


def to_dict(bench: Bench, finding: Finding) -> dict[str, Any]:
    """The result as `--json` prints it."""
    return {
        "characterize": bench.kind,
        "version": version,
        "quick": bench.quick,
        "seed": bench.seed,
        "config_hash": bench.config_hash(),
        "cells": {"preset": bench.preset, "set": [f"{key}={value}" for key, value in bench.sets], **finding.settings},
        **finding.figures,
        "published": [_row(row) for row in finding.rows.ordered()],
        "notes": finding.notes,
    }


def to_json(bench: Bench, finding: Finding, *, indent: int | None = None) -> str:
    """The result as JSON text. NaN and infinity, which JSON has no word for, are a bug and raise ValueError."""
    return json.dumps(to_dict(bench, finding), indent=indent, ensure_ascii=False, allow_nan=False)


def render(bench: Bench, finding: Finding) -> str:
    """The table of published and our figures as text."""
    from rich import box
    from rich.table import Table

    from interpulse.cli.text import plain

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    for name in ("row", "unit"):
        table.add_column(name, overflow="fold")
    for name in ("published", "ours", "ratio", "95 % interval", "holds"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("figure", overflow="fold")
    for row in finding.rows.ordered():
        interval = "-" if row.ci_low is None else f"{short_figure(row.ci_low)} .. {short_figure(row.ci_high)}"
        ratio = "-" if row.ratio is None else f"{row.ratio:.3g}"
        holds = {None: "-", True: "yes", False: "no"}[row.holds]
        table.add_row(row.name, row.unit, _said(row), short_figure(row.ours), ratio, interval, holds, row.figure)
    settings = ", ".join(f"{key.replace('_', '-')} {value}" for key, value in finding.settings.items())
    parts = [
        head(bench),
        f"cells {bench.preset}: {settings}" if settings else f"cells {bench.preset}",
        plain(table),
        "\n".join(f"note: {note}" for note in finding.notes),
    ]
    return "\n\n".join(part for part in parts if part)


def head(bench: Bench) -> str:
    """How a result was made, in one line."""
    kind = "quick" if bench.quick else "full"
    sets = "".join(f", {key}={value}" for key, value in bench.sets)
    made = f"interpulse {version} characterize {bench.kind} ({kind})"
    return f"{made}, seed {bench.seed}, config {bench.config_hash()}{sets}"


def files(bench: Bench, finding: Finding) -> Iterator[tuple[str, bytes]]:
    """Every file of `--out` with its content, the ones most wanted first."""
    yield "result.json", f"{to_json(bench, finding, indent=2)}\n".encode()
    yield "table.txt", f"{render(bench, finding)}\n".encode()
    yield FILE, finding.part.text(head(bench)).encode()
    yield from finding.files
    rows = [_row(row) for row in finding.rows.ordered()]
    yield "published.csv", csv_bytes(COLUMNS, ([row[column] for column in COLUMNS] for row in rows))
    yield from drawn(finding.curves, finding.plots)


def _row(row: Row) -> dict[str, Any]:
    figures = {**row.to_dict(), "low": row.low, "high": row.high, "holds": row.holds}
    return {column: figures[column] for column in COLUMNS}


def _said(row: Row) -> str:
    """What the paper says: a number, or bounds."""
    if row.low is None and row.high is None:
        return short_figure(row.published)
    if row.low == row.high:
        return short_figure(row.low)
    if row.high is None:
        return f">= {short_figure(row.low)}"
    return f"<= {short_figure(row.high)}" if row.low is None else f"{short_figure(row.low)} .. {short_figure(row.high)}"
