"""Turning rich tables into text, and numbers into what fits in them."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from interpulse.cli.exits import UserError

if TYPE_CHECKING:
    from rich.console import RenderableType

UNBOUNDED = 1000
"""A width that no table reaches: what is not shown on a terminal is never wrapped or cut."""


def emit(text: str) -> None:
    """Prints to standard output. A reader that has gone away (`| head`) is no error: it has seen what it wanted.

    Raises:
        UserError: the text could not be written, as when standard output is a file on a full disk.
    """
    try:
        print(text, flush=True)  # noqa: T201
    except BrokenPipeError:
        discard_stdout()
    except OSError as error:
        discard_stdout()
        raise UserError(f"cannot write to standard output: {error.strerror or error}") from None


def discard_stdout() -> None:
    """Points standard output nowhere, or the interpreter would try the same write again, and complain, at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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


def number(value: float | None, digits: int = 1) -> str:
    """A figure with thousands separated; decimals only below 1,000; a dash where there is no figure."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.{digits}f}"


def short(count: float) -> str:
    """A count in three to four characters: 950, 12.3k, 4.1M."""
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f}{unit}"
    return f"{count:.0f}"


def size(count: int) -> str:
    """Bytes in the unit that leaves a number below 1024."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"
