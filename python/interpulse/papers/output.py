"""Agreement table as text, JSON, CSV and docs/PAPERS.md."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from interpulse._core import version
from interpulse.papers.table import counts, summary
from interpulse.studies.outcome import KEYS
from interpulse.studies.output import said, sure
from interpulse.studies.verdict import Agreement
from interpulse.tables.format import csv_bytes
from interpulse.tables.layout import ELSEWHERE, Column, Sheet, fill

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from interpulse.papers.catalogue import Paper
    from interpulse.papers.table import Line

COLUMNS = ("paper", "study", "agreement", *KEYS)


@dataclass(frozen=True)
class Report:
    """What the studies of some papers came to."""

    papers: Sequence[Paper]
    lines: Sequence[Line]
    quick: bool
    seed: int
    seeds: int | None = None
    """With how many seeds every study was run, None where each did what it does by itself."""

    def of(self, paper: Paper) -> list[Line]:
        """The lines of one paper."""
        return [line for line in self.lines if line.paper == paper.name]

    @property
    def head(self) -> str:
        """How it was made, in one line."""
        return f"papers ({'quick' if self.quick else 'full'}), interpulse {version}, {self.of_seeds}"

    @property
    def of_seeds(self) -> str:
        """Of which seeds the figures are."""
        return f"seed {self.seed}" if self.seeds in (None, 1) else f"{self.seeds} seeds from {self.seed} on"


def to_dict(report: Report) -> dict[str, Any]:
    """The report as `--json` prints it."""
    return {
        "papers": [{"name": paper.name, "title": paper.title} for paper in report.papers],
        "version": version,
        "quick": report.quick,
        "seed": report.seed,
        "seeds": report.seeds,
        "counts": counts(report.lines),
        "rows": [line.to_dict() for line in report.lines],
        "not_reproduced": [{"paper": paper.name, **asdict(each)} for paper in report.papers for each in paper.missing],
    }


def to_json(report: Report, *, indent: int | None = None) -> str:
    """The report as JSON text. NaN and infinity are a bug and raise ValueError."""
    return json.dumps(to_dict(report), indent=indent, ensure_ascii=False, allow_nan=False)


def to_csv(report: Report) -> bytes:
    """The rows as a CSV file."""
    return csv_bytes(COLUMNS, ([line.to_dict()[key] for key in COLUMNS] for line in report.lines))


def render(report: Report, width: int = ELSEWHERE) -> str:
    """The report as text, in lines of at most `width` columns; reasons that rows share stand once, by their number."""
    parts = [fill(report.head, width)]
    for paper in report.papers:
        parts.append(fill(paper.title, width))
        numbers: dict[str, int] = {}
        for study, lines in groupby(report.of(paper), lambda line: line.study):
            sheet = Sheet(
                [Column(name, "text" if name in _WORDS else "figure") for name in _HEADINGS], narrow="records"
            )
            for line in lines:
                why = line.row.why
                sheet.add_row(*_cells(line), str(numbers.setdefault(why, len(numbers) + 1)) if why else "-")
            parts.append(f"{fill(f'{study}:', width)}\n{sheet.text(width)}")
        reasons = [f"{number}. {why}" for why, number in numbers.items()]
        missing = [f"not reproduced: {each.figure}. {each.why}" for each in paper.missing]
        parts += [fill("\n".join(each), width) for each in (reasons, missing) if each]
    parts += [_count_sheet(report).text(width), fill(summary(report.lines), width)]
    return "\n\n".join(parts)


def page(report: Report) -> str:
    """docs/PAPERS.md."""
    how, option = ("quick", " --quick") if report.quick else ("full", "")
    lines = [
        "# The papers",
        "",
        "Every figure that the papers print and that interpulse has a row for, and what the agreement is worth.",
        f"Written by `interpulse papers{option} --out DIR`: version {version}, {how} runs, {report.of_seeds}.",
        "[EXPERIMENTS](EXPERIMENTS.md#what-a-row-is-worth) says what a status means, and why figures differ.",
        "",
        *_markdown(_count_sheet(report)),
        "",
        summary(report.lines),
    ]
    for paper in report.papers:
        lines += ["", f"## {paper.title}", "", _PAGE_HEADINGS]
        lines += ["|" + "---|" * (_PAGE_HEADINGS.count("|") - 1)]
        for line in report.of(paper):
            row, *figures = _cells(line)
            lines.append(_table_row([row, line.study, line.row.figure, *figures, line.row.why]))
        if paper.missing:
            lines += ["", "Not reproduced:", ""]
            lines += [f"- {each.figure}. {each.why}" for each in paper.missing]
    return "\n".join(lines) + "\n"


def files(report: Report) -> Iterator[tuple[str, bytes]]:
    """Every file of `--out` with its content."""
    yield "result.json", f"{to_json(report, indent=2)}\n".encode()
    yield "table.txt", f"{render(report)}\n".encode()
    yield "papers.csv", to_csv(report)
    yield "PAPERS.md", page(report).encode()


_PAGE_HEADINGS = "| row | study | figure | published | ours | ratio | agreement | status | why |"
_HEADINGS = ("row", "published", "ours", "ratio", "agreement", "status", "reason")
_WORDS = ("row", "published", "agreement", "status")


def _cells(line: Line) -> tuple[str, ...]:
    row = line.row
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
    published = f"{said(row)} {row.unit}"
    return row.name, published, sure(row), ratio, line.agreement, row.status


def _count_sheet(report: Report) -> Sheet:
    """How many rows of each status agree how far."""
    found = counts(report.lines)
    shown = [each for each in Agreement if any(each in of for of in found.values())]
    sheet = Sheet([Column("status", "label"), *map(Column, ("rows", *shown))])
    for status, of in found.items():
        sheet.add_row(status, str(of.total()), *(str(of[each]) for each in shown))
    return sheet


def _markdown(sheet: Sheet) -> list[str]:
    heads = [column.name for column in sheet.columns]
    return list(map(_table_row, [heads, ["---"] * len(heads), *sheet.rows]))


def _table_row(cells: Sequence[str]) -> str:
    """Cells in Markdown: a bar would end one, and the name of a row has underscores that are no emphasis."""
    texts = (cell.replace("|", "\\|").replace("_", "\\_").replace("<", "&lt;").replace("*", "\\*") for cell in cells)
    return f"| {' | '.join(texts)} |"
