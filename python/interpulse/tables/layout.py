"""Tables and prose of a given width: nothing is cut and no figure is broken.

A table that is too wide narrows its text columns and headings first. Where that is not enough, its figures are split
into blocks below each other that repeat the labels; one with a column for each of many cases is transposed if that is
shorter; a list becomes one record for each row.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Literal, TypeAlias

    Kind: TypeAlias = Literal["label", "figure", "text", "whole"]

NARROWEST = 40
"""No table is laid out for less: a terminal with fewer columns breaks the lines itself."""

ELSEWHERE = 100
"""The width where there is no terminal and COLUMNS does not say one, and of every table in a file."""

_GAP = "  "
_HEAD = 10
"""A heading of several words is not narrowed below this."""
_TEXT = 14
"""Nor is text."""
_BREAKS = "-_/.,:;=+&|)"
"""Where a word that is too long for its line may be broken: after one of these."""


def terminal_width() -> int:
    """The columns that output may take: COLUMNS where it is a number, else the terminal's, else `ELSEWHERE`."""
    try:
        columns = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        columns = 0
    if columns <= 0:
        columns = ELSEWHERE
        if sys.stdout is not None and sys.stdout.isatty():
            import shutil

            columns = shutil.get_terminal_size((ELSEWHERE, 24)).columns
    return max(columns, NARROWEST)


def cells(text: str) -> int:
    """The columns that a line takes on a terminal, where some characters take two and some none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def wrap(text: str, width: int, *, hang: str = "") -> list[str]:
    """The lines of a text, `width` columns at most: broken between words, and within one only where it is too long.

    Indentation is kept; lines after the first of a paragraph have `hang` more. Control characters are shown as U+FFFD.
    """
    lines = []
    for paragraph in text.split("\n"):
        shown = "".join(c if c.isprintable() else "\ufffd" for c in paragraph)
        indent = shown[: len(shown) - len(shown.lstrip(" "))][: width // 2]
        line, first = indent, True
        for word in shown.split():
            glue = "" if line.strip() == "" else " "
            if glue and cells(line + glue + word) > width:
                lines.append(line)
                line, glue, first = indent + hang, "", False
            line += glue + word
            while cells(line) > width:
                head, line = _cut(line, width)
                lines.append(head)
                line, first = indent + hang + line, False
        if line.strip() or first:
            lines.append(line.rstrip())
    return lines


def fill(text: str, width: int, *, hang: str = "  ") -> str:
    """The text in lines of this width at most; the lines after the first of a paragraph are indented."""
    return "\n".join(wrap(text, width, hang=hang))


def _cut(word: str, width: int) -> tuple[str, str]:
    """What of a word fits, up to a place where it may be broken if there is one, and the rest."""
    fits = 1
    while fits < len(word) and cells(word[: fits + 1]) <= width:
        fits += 1
    breaks = [at for at in range(fits // 2 + 1, fits + 1) if word[at - 1] in _BREAKS]
    at = breaks[-1] if breaks else fits
    return word[:at], word[at:]


class Column:
    """A column: `label` is repeated in every block; `figure` is never broken, nor is `whole` where that can be.

    `group` is the heading above columns that share it.
    """

    # Data classes would read the compiler, which takes longer than all tables of a run.
    __slots__ = ("group", "kind", "name")

    def __init__(self, name: str, kind: Kind = "figure", group: str = "") -> None:
        self.name, self.kind, self.group = name, kind, group

    @property
    def right(self) -> bool:
        """Whether it is right-justified."""
        return self.kind == "figure"


class Sheet:
    """A table: columns, and rows of as many texts.

    Attributes:
        narrow: its form where it does not fit.
        turns: whether it may be transposed: its columns are cases, and it has one label.
        ruled: whether there is a line below the headings.
        rules: the rows that follow a blank line.
    """

    def __init__(
        self,
        columns: list[Column],
        narrow: Literal["split", "records"] = "split",
        *,
        turns: bool = False,
        ruled: bool = True,
        rows: list[list[str]] | None = None,
    ) -> None:
        self.columns = columns
        self.narrow: Literal["split", "records"] = narrow
        self.turns, self.ruled = turns, ruled
        self.rows: list[list[str]] = [] if rows is None else rows
        self.rules: set[int] = set()

    def add_row(self, *cells: str) -> None:
        """Adds a row.

        Raises:
            ValueError: it has not as many cells as there are columns.
        """
        if len(cells) != len(self.columns):
            raise ValueError(f"a row of {len(cells)} cells in a table of {len(self.columns)} columns: {cells}")
        self.rows.append(list(cells))

    def add_section(self) -> None:
        """Leaves a blank line before the next row."""
        self.rules.add(len(self.rows))

    def text(self, width: int) -> str:
        """The table in lines of at most `width` columns, without blanks at their ends."""
        whole = list(range(len(self.columns)))
        widths = self._widths(whole, width)
        table = None if widths is None else self._block(whole, widths)
        prose = not any(column.kind == "figure" for column in self.columns)
        if self.narrow == "records" and (table is None or (prose and widths != list(map(self._natural, whole)))):
            # Figures are compared down their columns; words are read along a line.
            return _shorter(table, self._records(width))
        if table is not None:
            return table
        split, blocks = self._split(width)
        return _shorter(split, self._transposed().text(width)) if self.turns and blocks > 2 else split

    def html(self) -> str:
        """The table as HTML, everything in it escaped."""
        import html

        def row(tag: str, texts: Iterable[tuple[str, bool]]) -> str:
            style = ' style="text-align:{}"'
            return "".join(
                f"<{tag}{style.format('right' if right else 'left')}>{html.escape(text)}</{tag}>"
                for text, right in texts
            )

        rights = [column.right for column in self.columns]
        heads = [" ".join(filter(None, (column.group, column.name))) for column in self.columns]
        body = "".join(f"<tr>{row('td', zip(each, rights, strict=True))}</tr>" for each in self.rows)
        return (
            f"<table><thead><tr>{row('th', zip(heads, rights, strict=True))}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _texts(self, column: int) -> list[str]:
        return [row[column] for row in self.rows]

    def _natural(self, column: int) -> int:
        """The width at which nothing in the column is broken."""
        widest = max(map(cells, [self.columns[column].name, *self._texts(column)]), default=0)
        return max(widest, 2 if self.columns[column].group else 0)

    def _least(self, column: int, width: int) -> int:
        """The least width of a column of a table that is `width` wide."""
        natural, kind = self._natural(column), self.columns[column].kind
        widest = max(map(cells, self._texts(column)), default=0)
        if kind == "text":
            least = _TEXT
        elif kind == "label":
            least = max(_TEXT, width // 4)
        else:
            least = max(widest, min(_HEAD, max(map(cells, self.columns[column].name.split()), default=1)))
        return min(natural, least, width // 2 - 1)

    def _widths(self, chosen: Sequence[int], width: int) -> list[int] | None:
        """As wide as each column has to be, the widest narrowed first where needed; None where they do not fit."""
        widths = [self._natural(column) for column in chosen]
        return _narrowed(widths, [self._least(column, width) for column in chosen], width)

    def _split(self, width: int) -> tuple[str, int]:
        """The table as blocks below each other that repeat the labels, and their number."""
        labels = [at for at, column in enumerate(self.columns) if column.kind == "label"]
        left = [at for at, column in enumerate(self.columns) if column.kind != "label"]
        blocks = []
        while left:
            taken = 1
            while taken < len(left) and self._widths([*labels, *left[: taken + 1]], width) is not None:
                taken += 1
            # As many in each block as in the others, as far as can be.
            taken = -(-len(left) // -(-len(left) // taken))
            chosen = [*labels, *left[:taken]]
            widths = (
                self._widths(chosen, width) or _narrowed([width // 2] * len(chosen), [2] * len(chosen), width) or []
            )
            blocks.append(self._block(chosen, widths))
            left = left[taken:]
        return "\n\n".join(blocks), len(blocks)

    def _transposed(self) -> Sheet:
        """A row for each column that is no label, and a column for each row."""
        label, *rest = self.columns
        heads, parent = [], ""
        for text, *_ in self.rows:
            # What is indented is part of the row above it.
            parent = parent if text.startswith(" ") else text
            heads.append(f"{parent}: {text.strip()}" if text.startswith(" ") else text)
        groups = [Column("", "label")] * any(column.group for column in rest)
        sheet = Sheet([*groups, Column(label.name, "label"), *map(Column, heads)])
        for at, column in enumerate(rest, start=1):
            sheet.add_row(*[column.group] * len(groups), column.name, *self._texts(at))
        return sheet

    def _block(self, chosen: Sequence[int], widths: Sequence[int]) -> str:
        """These columns, as wide as this."""
        columns = [self.columns[at] for at in chosen]
        lines = list(self._groups(columns, widths))
        if any(column.name for column in columns):
            # Headings stand on the rule.
            heads = [wrap(column.name, wide) for column, wide in zip(columns, widths, strict=True)]
            deep = max(map(len, heads))
            lines += _lines([[""] * (deep - len(head)) + head for head in heads], columns, widths)
            lines += ["─" * (sum(widths) + len(_GAP) * (len(widths) - 1))] * self.ruled
        for number, row in enumerate(self.rows):
            if number in self.rules and number:
                lines.append("")
            texts = [wrap(row[at], wide) for at, wide in zip(chosen, widths, strict=True)]
            lines += _lines(texts, columns, widths)
        return "\n".join(line.rstrip() for line in lines)

    def _groups(self, columns: Sequence[Column], widths: Sequence[int]) -> Iterator[str]:
        """The lines above the headings, where columns have something in common."""
        spans: list[tuple[str, int]] = []
        for column, wide in zip(columns, widths, strict=True):
            if spans and column.group and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + len(_GAP) + wide)
            else:
                spans.append((column.group, wide))
        if any(name for name, _ in spans):
            plain = [Column("", "figure" if name else "text") for name, _ in spans]
            texts = [wrap(name, wide) for name, wide in spans]
            deep = max(map(len, texts))
            yield from _lines([[""] * (deep - len(text)) + text for text in texts], plain, [wide for _, wide in spans])

    def _records(self, width: int) -> str:
        """A record for each row: its first column on a line of its own, and the others with their names below it."""
        records = []
        for row in self.rows:
            pairs = list(zip(self.columns, row, strict=True))
            # Columns without headings are recognised by their position.
            heads = sum(column.kind == "whole" for column in self.columns) or 1
            title = _GAP.join(text for _, text in pairs[:heads] if text)
            rest = "; ".join(
                f"{column.name}: {text}" if column.name else text for column, text in pairs[heads:] if text
            )
            records.append("\n".join([fill(title, width), *([fill(f"  {rest}", width, hang="")] if rest else [])]))
        return "\n".join(records)


def _shorter(text: str | None, other: str) -> str:
    """The text with fewer lines, the first if equal."""
    return other if text is None or other.count("\n") < text.count("\n") else text


def _narrowed(widths: list[int], least: Sequence[int], width: int) -> list[int] | None:
    """Columns that together fit, the widest narrowed first; None where that is not possible."""
    for _ in range(sum(widths) + len(_GAP) * (len(widths) - 1) - width):
        spare = [(wide, at) for at, wide in enumerate(widths) if wide > least[at]]
        if not spare:
            return None
        widths[max(spare)[1]] -= 1
    return widths


def _lines(texts: Sequence[Sequence[str]], columns: Sequence[Column], widths: Sequence[int]) -> Iterator[str]:
    """The lines of one row, whose cells have several each."""
    for at in range(max(map(len, texts))):
        parts = []
        for lines, column, wide in zip(texts, columns, widths, strict=True):
            text = lines[at] if at < len(lines) else ""
            blank = " " * max(wide - cells(text), 0)
            parts.append(blank + text if column.right else text + blank)
        yield _GAP.join(parts)
