"""Live display: progress rows at the bottom of a terminal, never wider than the terminal."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interpulse.cli.output_streams import printable
from interpulse.tables.layout import cells, fill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult

_GAP = "  "
_LEAST_LABEL = 8


@dataclass(frozen=True)
class Row:
    """Progress of one activity; unknown values are empty."""

    label: str
    share: float | None
    """Share that is done, 0 to 1; None if the total is unknown."""
    amount: str
    """Such as `37 % of 10.0M requests`."""
    rate: str = ""
    left: str = ""


def lines(rows: Sequence[Row], width: int) -> list[tuple[str, str, str, str]]:
    """Rows as lines of at most `width` columns, all in the most detailed layout that fits.

    Returns:
        For each row the text before the bar, the done part of the bar, the rest of the bar, and the text behind.
    """
    names = [printable(row.label) for row in rows]
    labels = max(map(cells, names), default=0)
    for bar, parts in _LAYOUTS:
        behind = _columns([parts(row) for row in rows])
        room = width - max(map(cells, behind), default=0) - len(_GAP) * (1 + bool(bar)) - bar
        # Labels may be cut to a third of the line to make room for the text behind.
        if room >= min(labels, width // 3):
            break
    label = min(labels, max(room, _LEAST_LABEL))
    found = []
    for row, name, text in zip(rows, names, behind, strict=True):
        before = _cut(name, label)
        done = round(bar * min(row.share or 0.0, 1.0))
        gap = _GAP if bar else ""
        found.append((before + " " * (label - cells(before)) + gap, "━" * done, " " * (bar - done), f"{_GAP}{text}"))
    return found


def _share(row: Row) -> str:
    return "" if row.share is None else f"{100 * row.share:.0f} %"


_LAYOUTS: tuple[tuple[int, Callable[[Row], Sequence[str]]], ...] = (
    (24, lambda row: (row.amount, row.rate, row.left)),
    (10, lambda row: (row.amount, row.rate, row.left)),
    (0, lambda row: (row.amount, row.rate, row.left)),
    (10, lambda row: (_share(row), row.rate, row.left)),
    (0, lambda row: (_share(row), row.rate, row.left)),
    (0, lambda row: (_share(row), row.left)),
    (0, lambda row: (_share(row),)),
)
"""Layouts by decreasing width: length of the bar and the texts behind it."""


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of texts as aligned columns, without empty columns."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    return [
        _GAP.join(text + " " * (wide - cells(text)) for text, wide in zip(row, widths, strict=True) if wide).rstrip()
        for row in rows
    ]


def _cut(text: str, width: int) -> str:
    if cells(text) <= width:
        return text
    while cells(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


class View:
    """Displayed rows; `rows` may be replaced at any time, from any thread."""

    def __init__(self, console: Console) -> None:
        self.rows: Sequence[Row] = ()
        self._console = console

    def note(self, line: str) -> None:
        """Prints a line above the rows."""
        shown = printable("note: " + line.replace("\n", "\n  "))
        self._console.print(fill(shown, self._console.width), markup=False, highlight=False)

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """Rendering, called by rich."""
        from rich.text import Text

        # Some terminals wrap a line of exactly their width.
        for before, done, rest, behind in lines(self.rows, options.max_width - 1):
            yield Text.assemble(before, (done, "cyan"), rest, behind, no_wrap=True, overflow="crop", end="\n")


@contextmanager
def view() -> Iterator[View]:
    """A view on the terminal of standard error, removed at the end of the context."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    shown = View(console)
    with Live(shown, console=console, transient=True, refresh_per_second=5):
        yield shown
