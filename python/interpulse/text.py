"""Turning tables into text, and numbers into what fits in them."""

from __future__ import annotations

import csv
import io
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from rich.console import RenderableType

UNBOUNDED = 1000
"""A width that no table reaches: what is not shown on a terminal is never wrapped or cut."""


def plain(*parts: RenderableType, width: int | None = None) -> str:
    """The parts as text without colours or trailing spaces, `width` columns wide at most.

    Without a width: as wide as the terminal, or as wide as the content needs where there is no terminal.
    """
    from rich.console import Console

    if width is None and sys.stdout.isatty():
        import shutil

        width = shutil.get_terminal_size().columns
    text = io.StringIO()
    console = Console(file=text, width=width or UNBOUNDED, color_system=None, highlight=False)
    for part in parts:
        console.print(part, markup=False)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def grid(
    rows: Iterable[Sequence[str]],
    headings: Sequence[str] = (),
    *,
    right: Container[str] = (),
    whole: Container[str] = (),
) -> str:
    """Rows as a table without lines, under headings or none; the columns `right` and `whole` are never wrapped."""
    from rich.table import Table

    rows = list(rows)
    table = Table(box=None, pad_edge=False, show_edge=False, show_header=bool(headings))
    for name in headings or [""] * max(map(len, rows), default=0):
        unwrapped = name in right or name in whole
        table.add_column(name, justify="right" if name in right else "left", overflow="fold", no_wrap=unwrapped)
    for row in rows:
        table.add_row(*row)
    return plain(table)


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
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()
