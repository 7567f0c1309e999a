"""Page elements: sections, charts, tables and prose, made without Bokeh."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from interpulse.report.charts import COLOURS, Drawing, Key

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
    short: bool = False
    """Whether the description is below its numbers, folded away, and not below the plot."""


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
    brief: str = ""
    """What it shows in a few words or figures, beside its heading."""
    folds: bool = True
    """Whether it is folded away; otherwise its heading is for screen readers alone."""
    shares: str = ""
    """The section whose plots have ranges in common with its own."""


Cell: TypeAlias = "str | Html"


def escaped(cell: Cell) -> str:
    """A cell as HTML."""
    return cell.text if isinstance(cell, Html) else html.escape(cell)


def micro(text: str) -> str:
    """A sentence of the command line with the signs of print."""
    text = re.sub(r"(?<=\d )us\b|(?<=, )us\b", "µs", text)
    text = text.replace(" -> ", " → ").replace("(-", "(\u2212").replace(" ..", " …").replace(" us ", " µs ")
    text = re.sub(r"(?<= )-(?=\d)", "\u2212", text)
    return re.sub(r"(?<=\d) (?=%|µs|ms\b|s\b|mW\b)", "\u00a0", text)


_STROKES = {"solid": "", "dashed": "6", "dotdash": "2 3 6 3", "dotted": "2 3"}

_LINES = {
    "/": "M0 12 12 0M9 12 21 0M18 12 24 6",
    "x": "M0 12 12 0M12 12 24 0M0 0 12 12M12 0 24 12",
    ".": "M6 6h.1M18 6h.1",
}


def variable(colour: str) -> str:
    """The variable of the style sheet that holds a colour, so that it follows the page's."""
    return f"c{COLOURS.index(colour)}" if colour in COLOURS else "ink"


def swatch(key: Key) -> str:
    """A small picture of a line or a field, in a colour that follows the page's."""
    name = variable(key.colour)
    if key.dash:
        shape = f'<path d="M0 6H24" stroke="var(--{name})" stroke-width="3" stroke-dasharray="{_STROKES[key.dash]}"/>'
    else:
        shape = f'<rect width="24" height="12" fill="var(--{name})"/>'
        if lines := _LINES.get(key.hatch):
            shape += f'<path d="{lines}" stroke="var(--paper)" stroke-width="2" stroke-linecap="round"/>'
    return f'<svg width="24" height="12" aria-hidden="true">{shape}</svg>'


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
