"""A few lines at the bottom of a terminal that always say how things stand; never wider than the terminal."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interpulse.tables.layout import cells, fill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult

_GAP = "  "
_LEAST_LABEL = 8


@dataclass(frozen=True)
class Row:
    """How one thing stands; what is not known is empty."""

    label: str
    share: float | None
    """How much is done, 0 to 1; None where the end is unknown."""
    amount: str
    """Such as `37 % of 10.0M requests`."""
    rate: str = ""
    left: str = ""


def lines(rows: Sequence[Row], width: int) -> list[tuple[str, str, str, str]]:
    """Rows as lines of at most `width` columns, with all that fits, which is the same for all of them.

    Returns:
        Of each the text before its bar, the done part of the bar, the rest of it, and the text behind.
    """
    labels = max((cells(row.label) for row in rows), default=0)
    for bar, parts in _WAYS:
        behind = _columns([parts(row) for row in rows])
        room = width - max(map(cells, behind), default=0) - len(_GAP) * (1 + bool(bar)) - bar
        # A label may be cut to a third of the line for what is said behind it.
        if room >= min(labels, width // 3):
            break
    label = min(labels, max(room, _LEAST_LABEL))
    found = []
    for row, text in zip(rows, behind, strict=True):
        before = _cut(row.label, label)
        done = round(bar * min(row.share or 0.0, 1.0))
        gap = _GAP if bar else ""
        found.append((before + " " * (label - cells(before)) + gap, "━" * done, " " * (bar - done), f"{_GAP}{text}"))
    return found


def _share(row: Row) -> str:
    return "" if row.share is None else f"{100 * row.share:.0f} %"


_WAYS: tuple[tuple[int, Callable[[Row], Sequence[str]]], ...] = (
    (24, lambda row: (row.amount, row.rate, row.left)),
    (10, lambda row: (row.amount, row.rate, row.left)),
    (0, lambda row: (row.amount, row.rate, row.left)),
    (10, lambda row: (_share(row), row.rate, row.left)),
    (0, lambda row: (_share(row), row.rate, row.left)),
    (0, lambda row: (_share(row), row.left)),
    (0, lambda row: (_share(row),)),
)
"""The length of a bar and what stands behind it, from what needs most room to what needs least."""


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of as many texts, below each other; a column that is empty in all of them takes no room."""
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
    """What is shown; `rows` may be replaced at any time, from any thread."""

    def __init__(self, console: Console) -> None:
        self.rows: Sequence[Row] = ()
        self._console = console

    def note(self, line: str) -> None:
        """Prints a line above what is shown."""
        self._console.print(fill(f"note: {line}", self._console.width), markup=False, highlight=False)

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        """As rich asks for what is to be drawn."""
        from rich.text import Text

        # A line that is as wide as the terminal would be two on some.
        for before, done, rest, behind in lines(self.rows, options.max_width - 1):
            yield Text.assemble(before, (done, "cyan"), rest, behind, no_wrap=True, overflow="crop", end="\n")


@contextmanager
def view() -> Iterator[View]:
    """A view at the bottom of the terminal that standard error is; it goes with the context."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    shown = View(console)
    with Live(shown, console=console, transient=True, refresh_per_second=5):
        yield shown
