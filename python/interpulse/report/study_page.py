"""Page about an experiment or a characterization: published and simulated figures, notes, tables."""

from __future__ import annotations

import base64
import html
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse.report.charts import INK, PAPER, Drawing, Key, colour, logarithmic
from interpulse.report.elements import Chart, Html, Section, micro, prose, table
from interpulse.report.page import NAME, render
from interpulse.report.rounding import half, places, rounded
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome, Row
from interpulse.studies.output import held, said
from interpulse.studies.status import Status
from interpulse.studies.verdict import APART, Agreement, agreement
from interpulse.tables.format import short_figure

if TYPE_CHECKING:
    from bokeh.plotting import figure

PICTURES_BYTES = 2_500_000
"""Pictures take at most so much of a page; what is beyond lies beside it."""

_MOST_ROWS = 40
"""Rows of one plot; more continue in the next."""

_PUBLISHED = "published"

_CARDS = 4
"""Rows on the first screen."""

_WIDE = 30
"""From so many times the least on, an axis is logarithmic."""


def with_page(files: Iterable[tuple[str, bytes]], context: Context, outcome: Outcome) -> Iterator[tuple[str, bytes]]:
    """The files of a study with the page about them at the end: pairs of name and content."""
    pictures: dict[str, tuple[str, bytes]] = {}
    names = {plot.name for plot in outcome.plots}
    for name, content in files:
        stem, _, form = name.rpartition(".")
        # The smaller one: maps of many fields are large as vectors.
        if stem in names and form in _FORMS and (stem not in pictures or len(content) < len(pictures[stem][1])):
            pictures[stem] = (form, content)
        yield name, content
    yield NAME, page(context, outcome, pictures)


_FORMS = {"svg": "image/svg+xml", "png": "image/png"}


def page(context: Context, outcome: Outcome, pictures: Mapping[str, tuple[str, bytes]]) -> bytes:
    """The page as a file.

    Args:
        context: of the study.
        outcome: what it came to.
        pictures: its plots by name: form and content.
    """
    rows = outcome.rows.ordered()
    shown = list(_pictures(outcome, pictures))
    sections = [_answer(context, outcome, shown[:1]), _published(rows), *_plots(shown[1:]), _rows(rows)]
    if outcome.notes:
        sections.append(Section("notes", "Notes", [prose(*map(micro, outcome.notes))], f"{len(outcome.notes)} of them"))
    sections.append(_configuration(context, outcome))
    return render(f"{context.form.what} {context.name}", context.about(), sections)


def _answer(context: Context, outcome: Outcome, pictures: Sequence[Html]) -> Section:
    """First screen: the verdict, four rows, the main plot, how many rows agree how far."""
    published = outcome.rows.published()
    verdict = micro(context.verdict(published).removeprefix("verdict: "))
    parts = [Html(f'<ul class="answer"><li>{html.escape(verdict[:1].upper() + verdict[1:])}.</li></ul>')]
    four = [*published, *(row for row in outcome.rows.ordered() if row not in published)][:_CARDS]
    parts.append(Html(f'<div class="four">{"".join(map(_card, four))}</div>'))
    count = Counter(agreement(row).value if row.status not in APART else row.status.value for row in published)
    order = [*(each.value for each in Agreement), *(each.value for each in APART)]
    lines = [[each, str(count[each])] for each in order if count[each]]
    agree = table("Published figures, and how near ours are", ["", "rows"], lines).text if lines else ""
    links = '<p><a class="action" href="#published">Published and ours</a>' if published else "<p>"
    links += '<a class="action second" href="#rows">Every row</a></p>'
    picture = "".join(each.text for each in pictures)
    parts.append(Html(f'<div class="split main"><div>{picture}</div><div>{agree}{links}</div></div>'))
    return Section("answer", "Answer", parts, folds=False)


def _card(row: Row) -> str:
    """A row as a card: what is published, ours, and their ratio."""
    name = html.escape(_words(row.name))
    decimals = 0 if row.ours is None else min(places(row.ours, row.ci_low, row.ci_high), 6)
    ours = "-" if row.ours is None else rounded(row.ours, decimals)
    sure = "" if row.ci_low is None or row.ci_high is None else half(row.ci_low, row.ci_high, decimals)
    ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
    lines = (
        f'<tr><th scope="row">ours</th><td class="value">{ours}</td><td>{sure}</td><td class="change">{ratio}</td></tr>'
    )
    if row.published is not None or row.low is not None or row.high is not None:
        lines += f'<tr><th scope="row">paper</th><td class="value">{html.escape(said(row))}</td><td></td><td></td></tr>'
    heads = "".join(
        f'<th scope="col">{html.escape(each)}</th>' for each in (_print(row.unit) or "figure", "± 95 %", "ratio")
    )
    head = f"<caption>{name}</caption><thead><tr><td></td>{heads}</tr></thead>"
    return f"<div><table>{head}<tbody>{lines}</tbody></table></div>"


def _words(name: str) -> str:
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]


def _print(unit: str) -> str:
    return "µs" if unit == "us" else unit


def _configuration(context: Context, outcome: Outcome) -> Section:
    parts = [prose(*(micro(line) for line in context.preface(outcome).split("\n") if line))]
    if chosen := context.chosen():
        parts.append(table("Overrides", ["setting", "value"], [[key, value] for key, value in chosen], figures=False))
    parts.append(prose(context.head(), kind="note"))
    count = len(chosen)
    return Section("configuration", "Configuration", parts, f"{count} overrides" if count else "")


def _published(rows: Sequence[Row]) -> Section:
    by_unit: dict[str, list[Row]] = {}
    for row in rows:
        if row.published is not None or row.low is not None or row.high is not None:
            by_unit.setdefault(row.unit, []).append(row)
    charts: list[Chart | Html] = []
    many = sum(-(-len(of_unit) // _MOST_ROWS) for of_unit in by_unit.values()) > 1
    for unit, of_unit in by_unit.items():
        for start in range(0, len(of_unit), _MOST_ROWS):
            number = len(charts) + 1
            charts.append(_chart(number if many else 0, unit, of_unit[start : start + _MOST_ROWS]))
    if not charts:
        return Section(
            "published", "Published and ours", [prose("Nothing was published to hold these figures against.")]
        )
    words = prose(
        "A grey diamond, or the grey bar of what it allows, is what the paper says; beside it ours, with its 95 % "
        "interval where there is one. The colour is the status: how ours came to lie where it lies, and what that is "
        "worth (docs/EXPERIMENTS.md). An open circle lies outside of what the paper allows."
    )
    return Section("published", "Published and ours", [words, *charts], f"{sum(map(len, by_unit.values()))} rows")


def _chart(number: int, unit: str, rows: Sequence[Row]) -> Chart:
    columns = ("unit", "published", "low", "high", "ours", "ci_low", "ci_high", "status", "figure")
    table_rows = [[row.name, *(getattr(row, name) for name in columns)] for row in rows]
    about = f"Published figures and ours, {unit or 'without a unit'}, row by row."
    name = f"published-{number or 1}"
    title = f"{f'{number}. ' if number else ''}Published and ours: {unit or 'without a unit'}"
    return Chart(name, title, about, ("row", *columns), table_rows, partial(_draw, rows, unit))


def _draw(rows: Sequence[Row], unit: str, drawing: Drawing) -> figure:
    values = [
        value
        for row in rows
        for value in (row.published, row.low, row.high, row.ours, row.ci_low, row.ci_high)
        if value is not None
    ]
    least, most = min(values), max(values)
    log = least > 0 and most > _WIDE * least
    pad = 0.06 * (most - least) or abs(most) or 1
    ends = (
        drawing.range(least / 1.3, most * 1.3)
        if log
        else drawing.range(min(least - pad, 0) if 0 <= least < 0.3 * most else least - pad, most + pad)
    )
    names = [row.name for row in rows]
    scale: dict[str, Any] = {"x_axis_type": "log"} if log else {}
    found = drawing.figure(unit or "value", "", ends, names[::-1], height=90 + 22 * len(rows), **scale)
    if log:
        logarithmic(found.xaxis)
    keys = [Key(_PUBLISHED, _PUBLISHED_COLOUR, hatch=" ")]
    start, end = ends.start, ends.end
    bounds = [row for row in rows if row.low is not None or row.high is not None]
    found.hbar(
        [row.name for row in bounds],
        left=[start if row.low is None else row.low for row in bounds],
        right=[end if row.high is None else row.high for row in bounds],
        height=0.5,
        fill_color=_PUBLISHED_COLOUR,
        fill_alpha=0.25,
        line_color=_PUBLISHED_COLOUR,
        name=_PUBLISHED,
    )
    text = {row.name: said(row) for row in rows}
    points = [row for row in rows if row.published is not None]
    source = {
        "x": [row.published for row in points],
        "y": [row.name for row in points],
        "text": [text[row.name] for row in points],
        "figure": [row.figure for row in points],
    }
    look = {"marker": "diamond", "size": 17, "fill_color": _PUBLISHED_COLOUR, "line_color": INK, "name": _PUBLISHED}
    diamonds = found.scatter("x", "y", source=source, **look)
    drawing.hover(found, [("row", "@y"), ("published", "@text"), ("where", "@figure")], [diamonds])
    for index, status in enumerate(Status):
        ours = [row for row in rows if row.status is status and row.ours is not None]
        if not ours:
            continue
        sure = [row for row in ours if row.ci_low is not None and row.ci_high is not None]
        like = {"line_color": colour(index), "name": status.value}
        names = [row.name for row in sure]
        found.segment([row.ci_low for row in sure], names, [row.ci_high for row in sure], names, line_width=3, **like)
        data = {
            "x": [row.ours for row in ours],
            "y": [row.name for row in ours],
            "text": [_ours(row) for row in ours],
            "ratio": ["-" if row.ratio is None else f"{row.ratio:.3g}" for row in ours],
            "why": [row.why or "-" for row in ours],
            "status": [status.value] * len(ours),
            "fill": [PAPER if row.holds is False and not row.undecided else colour(index) for row in ours],
        }
        dots = found.scatter("x", "y", source=data, size=8, fill_color="fill", line_width=2, **like)
        tips = [("row", "@y"), ("ours", "@text"), ("ratio", "@ratio"), ("status", "@status"), ("why", "@why")]
        drawing.hover(found, tips, [dots])
        keys.append(Key(status.value, colour(index), "solid"))
    drawing.legend(found, keys)
    return found


_PUBLISHED_COLOUR = colour(6)


def _ours(row: Row) -> str:
    interval = "" if row.ci_low is None else f" ({short_figure(row.ci_low)} .. {short_figure(row.ci_high)})"
    return f"{short_figure(row.ours)}{interval}"


def _rows(rows: Sequence[Row]) -> Section:
    head = ["row", "unit", "published", "ours (95 % interval)", "ratio", "holds", "status", "figure"]
    lines = []
    for row in rows:
        ratio = "-" if row.ratio is None else f"{row.ratio:.3g}"
        status = f"{row.status}: {row.why}" if row.why else row.status.value
        lines.append([row.name, row.unit, said(row), _ours(row), ratio, held(row), status, row.figure])
    return Section(
        "rows", "Every row", [table("Published figures beside ours", head, lines, figures=False)], f"{len(rows)} rows"
    )


def _pictures(outcome: Outcome, pictures: Mapping[str, tuple[str, bytes]]) -> Iterator[Html]:
    """The plots as figures with captions, as many as there is room for."""
    left = PICTURES_BYTES
    for plot in outcome.plots:
        if plot.name not in pictures:
            continue
        form, content = pictures[plot.name]
        shown = base64.b64encode(content).decode()
        if len(shown) > left:
            yield prose(f"{plot.name}.svg lies beside this page: it is too large for it.", kind="note")
            continue
        left -= len(shown)
        caption = html.escape(plot.caption)
        yield Html(
            f'<figure class="picture"><img alt="{caption}; its numbers are in the CSV files beside this page" '
            f'src="data:{_FORMS[form]};base64,{shown}"><figcaption>{caption}</figcaption></figure>'
        )


def _plots(pictures: Sequence[Html]) -> Iterator[Section]:
    if pictures:
        body = Html(f'<div class="pictures">{"".join(each.text for each in pictures)}</div>')
        yield Section("plots", "More plots", [body], f"{len(pictures)} of them")
