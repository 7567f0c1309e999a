"""Page elements: sections, charts, tables and prose, made without Bokeh."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from interpulse.report.charts import Drawing

if TYPE_CHECKING:
    from bokeh.plotting import figure


@dataclass(frozen=True)
class Chart:
    """A plot and the numbers behind it."""

    name: str
    """Its anchor on the page and the name of its CSV file; unique on the page."""
    title: str
    about: str
    """Description with units, also for screen readers."""
    columns: tuple[str, ...]
    """The head of its CSV file; units come last in a name."""
    rows: Sequence[Sequence[Any]]
    """Numbers and text; None is an empty cell."""
    draw: Callable[[Drawing], figure]
    """Called once, when the page is made."""
    views: Sequence[Mapping[str, Any]] = ()
    """What of its rows can be chosen to be shown, one at a time; without any, all are.

    Of each `pick`, which is the first cell of its rows; `strips`, the names of its strips from the top; `range`, the
    ends of its x axis; `done`, where a line is drawn; `labels`, each with x, strip and text.
    """


@dataclass(frozen=True)
class Html:
    """A piece of the page that is written already; every text in it is escaped."""

    text: str


@dataclass(frozen=True)
class Section:
    """A part of the page below a heading."""

    name: str
    title: str
    parts: Sequence[Chart | Html]


Cell: TypeAlias = "str | Html"


def escaped(cell: Cell) -> str:
    """A cell as HTML."""
    return cell.text if isinstance(cell, Html) else html.escape(cell)


def prose(*texts: str, kind: str = "") -> Html:
    """Paragraphs."""
    mark = f' class="{kind}"' if kind else ""
    return Html("".join(f"<p{mark}>{html.escape(text)}</p>" for text in texts))


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    figures: bool = True,
    marked: Callable[[int], bool] = lambda _: False,
) -> Html:
    """A table whose first column names its rows; the others are figures, or text.

    Args:
        caption: its title, also for screen readers.
        head: the names of the columns.
        rows: as many cells each.
        figures: whether cells after the first are figures, which stand on the right.
        marked: whether the row of this number is highlighted.
    """
    kind = ' class="figures"' if figures else ""
    heads = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    lines = []
    for number, (first, *others) in enumerate(rows):
        mark = ' class="marked"' if marked(number) else ""
        cells = "".join(f"<td>{escaped(cell)}</td>" for cell in others)
        lines.append(f'<tr{mark}><th scope="row">{escaped(first)}</th>{cells}</tr>')
    return Html(
        f'<div class="wide" tabindex="0" role="region" aria-label="{html.escape(caption)}"><table{kind}>'
        f"<caption>{html.escape(caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody>"
        "</table></div>"
    )
