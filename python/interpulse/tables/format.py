"""Formats: simple grids, numbers, sizes, durations and CSV."""

from __future__ import annotations

from interpulse.tables.layout import Column, Sheet, terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from interpulse.tables.layout import Kind


def grid(
    rows: Iterable[Sequence[str]],
    headings: Sequence[str] = (),
    *,
    right: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> str:
    """Rows as a table that fits the terminal, under headings or none.

    `right` are columns of figures and `whole` those that are not broken where that can be; a table that does not fit
    becomes records, and one with figures blocks below each other.
    """
    texts = [list(row) for row in rows]
    names = list(headings) or [""] * max(map(len, texts), default=0)
    others: Kind = "label" if right else "text"
    kinds: list[Kind] = ["figure" if name in right else "whole" if name in whole else others for name in names]
    sheet = Sheet(list(map(Column, names, kinds)), narrow="split" if right else "records", ruled=False, rows=texts)
    return sheet.text(terminal_width())


def number(value: float | None, digits: int = 1) -> str:
    """A figure with thousands separated; decimals only below 1,000; a dash where there is no figure."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.{digits}f}"


def short_figure(value: float | None) -> str:
    """Four digits, thousands separated; a dash where there is no figure."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def short(count: float) -> str:
    """A count in three to four characters: 950, 12.3k, 4.1M."""
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f}{unit}"
    return f"{count:.0f}"


def duration(seconds: float) -> str:
    """A time that need not be exact: 45 s, 12 min."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def size(count: int) -> str:
    """Bytes in the unit that leaves a number below 1024."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A CSV file with a header."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()
