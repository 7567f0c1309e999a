"""HTML page: all sections in one self-contained file."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from interpulse._core import version
from interpulse.configuration.extras import require
from interpulse.report.charts import COLOURS, DARK, Drawing, Key
from interpulse.report.elements import Chart, Section, swatch

if TYPE_CHECKING:
    from bokeh.plotting import figure

NAME = "report.html"
"""The name of the page in a folder."""

MOST_BYTES = 5_000_000
"""Limit of a page, so that it opens at once and can be sent by mail."""

MARK = b'<meta name="generator" content="interpulse">'
"""Mark near the beginning of every page."""

_BUTTONS = (
    ("in", "Zoom in", "+"),
    ("out", "Zoom out", "\u2212"),
    ("left", "Left", "\u2190"),
    ("right", "Right", "\u2192"),
    ("reset", "Whole", "whole"),
    ("csv", "CSV", "CSV"),
    ("png", "Save as PNG", "PNG"),
)
"""What they do, their names, and what is written on them."""


def need_bokeh() -> None:
    """Raises ConfigError where Bokeh is not installed."""
    require("bokeh", "plot", "a report")


def render(title: str, about: str, sections: Iterable[Section], notes: Sequence[str] = ()) -> bytes:
    """The page as a file.

    Args:
        title: its heading.
        about: a line below that.
        sections: in their order.
        notes: caveats, shown first.

    Returns:
        UTF-8 text, the same for the same sections.

    Raises:
        ConfigError: Bokeh is not installed.
        ValueError: it would be larger than `MOST_BYTES`, or two charts have the same name.
    """
    need_bokeh()
    every = list(sections)
    charts = [part for section in every for part in section.parts if isinstance(part, Chart)]
    if len({chart.name for chart in charts}) < len(charts):
        raise ValueError("two charts of a page have the same name")
    drawing = Drawing()
    drawn = [(chart, chart.draw(drawing)) for chart in charts]
    keys = {chart.name: drawing.legends.get(figure.id, []) for chart, figure in drawn}
    first, folded = ("".join(_section(each, keys) for each in every if each.folds is folds) for folds in (False, True))
    body = f'{first}<div id="folds">{folded}</div>'
    links = "".join(f'<li><a href="#{each.name}">{html.escape(each.title)}</a></li>' for each in every if each.folds)
    warned = "".join(f'<p class="warning">{html.escape(note)}.</p>' for note in notes)
    resources = files("interpulse.report")
    text = (resources / "page.html").read_text(encoding="utf-8")
    data = {
        "plots": _plots(every, {chart.name: figure for chart, figure in drawn}),
        "tables": {chart.name: {"columns": chart.columns, "rows": chart.rows} for chart in charts},
        "views": {chart.name: chart.views for chart in charts if chart.views},
        "dark": DARK,
    }
    pieces = {
        "TITLE": html.escape(title),
        "ABOUT": html.escape(about),
        "VERSION": html.escape(version),
        "LINKS": links,
        "NOTES": warned,
        "BODY": body,
        "STYLE": _colours() + (resources / "page.css").read_text(encoding="utf-8"),
        "LIBRARY": _library() if drawn else "",
        "SCRIPT": (resources / "page.js").read_text(encoding="utf-8"),
        "DATA": _json(data),
    }
    page = re.sub(r"@([A-Z]+)@", lambda found: pieces[found[1]], text).encode()
    if len(page) > MOST_BYTES:
        raise ValueError(f"the page would have {len(page):,} bytes, more than {MOST_BYTES:,}: give it fewer results")
    return page


def _section(section: Section, keys: Mapping[str, Sequence[Key]]) -> str:
    parts = [_chart(part, keys[part.name]) if isinstance(part, Chart) else part.text for part in section.parts]
    name, title = html.escape(section.name), html.escape(section.title)
    if not section.folds:
        heading = f'<h2 class="hidden" id="{name}-title">{title}</h2>'
        return f'<section id="{name}" aria-labelledby="{name}-title">{heading}{"".join(parts)}</section>'
    brief = f'<span class="brief">{html.escape(section.brief)}</span>' if section.brief else ""
    return (
        f'<section aria-labelledby="{name}-title"><details class="fold" id="{name}"><summary>'
        f'<h2 id="{name}-title">{title}</h2>{brief}</summary>'
        f'<div class="inside">{"".join(parts)}</div></details></section>'
    )


def _chart(chart: Chart, keys: Sequence[Key]) -> str:
    name, title = html.escape(chart.name), html.escape(chart.title)
    shown = '<p class="shown"></p>' if chart.views else ""
    buttons = "".join(
        f'<button type="button" data-do="{do}" aria-label="{label}: {title}" title="{label}">{sign}</button>'
        for do, label, sign in _BUTTONS
    )
    about = html.escape(chart.about)
    below, within = ("", f"<p>{about}</p>") if chart.short else (f"<figcaption>{about}</figcaption>", "")
    summary = "What this shows, and its numbers" if chart.short else f"Numbers: {title}"
    return (
        f'<figure class="chart" id="chart-{name}" data-chart="{name}"><div class="head"><h3>{title}</h3>'
        f'<div class="buttons">{buttons}</div></div>{shown}{_legend(keys, title)}'
        f'<div class="plot" id="plot-{name}" role="img" aria-label="{title}. {about}"></div>{below}'
        f'<details class="numbers"><summary>{summary}</summary>{within}</details></figure>'
    )


def _legend(keys: Sequence[Key], title: str) -> str:
    """Buttons that hide and show what they name; empty for a single series."""
    if len(keys) < 2:
        return ""
    items = "".join(
        f'<li><button type="button" aria-pressed="true" data-name="{html.escape(key.label)}">{swatch(key)}'
        f"{html.escape(key.label)}</button></li>"
        for key in keys
    )
    return f'<ul class="legend" aria-label="Shown in {title}">{items}</ul>'


def _colours() -> str:
    """The colours of legends, on light and on dark paper."""
    light = "".join(f"--c{k}:{colour};" for k, colour in enumerate(COLOURS))
    dark = "".join(f"--c{k}:{DARK[colour]};" for k, colour in enumerate(COLOURS))
    return f":root{{{light}}}:root.dark{{{dark}}}"


def _library() -> str:
    """The plotting library's script."""
    from bokeh.resources import Resources

    # Without what shows tables, widgets and formulas, and what would write to the console.
    library: str = Resources(mode="inline", components=["bokeh"]).js_raw[0]
    return library.replace("</script", r"<\/script")


def _plots(every: Sequence[Section], drawn: Mapping[str, figure]) -> list[dict[str, Any]]:
    """Documents of figures in the order in which they are drawn, with the place of each figure and their sections.

    Sections have a document each, unless their figures share ranges: what is folded away is drawn later.
    """
    from bokeh.document import Document

    groups: dict[str, list[Section]] = {}
    for section in sorted(every, key=lambda each: each.folds):
        if any(isinstance(part, Chart) for part in section.parts):
            groups.setdefault(section.shares or section.name, []).append(section)
    found = []
    # Bokeh numbers models per process; renumbered, the page depends on its sections alone.
    names: dict[str, str] = {}
    for sections in groups.values():
        charts = [part.name for section in sections for part in section.parts if isinstance(part, Chart)]
        document = Document()
        # At once: otherwise every figure is looked through again for each that follows.
        with document.models.freeze():
            for name in charts:
                document.add_root(drawn[name])
        content: dict[str, Any] = document.to_json(deferred=False)
        _renumbered(content, names)
        roots = {names[drawn[name].id]: f"plot-{name}" for name in charts}
        folds = [section.name for section in sections if section.folds]
        found.append({"document": content, "roots": roots, "folds": folds})
    return found


def _renumbered(node: Any, names: dict[str, str]) -> None:  # noqa: ANN401 - JSON
    if isinstance(node, dict):
        if isinstance(known := node.get("id"), str) and re.fullmatch(r"p\d+", known):
            node["id"] = names.setdefault(known, f"m{len(names)}")
        for each in node.values():
            _renumbered(each, names)
    elif isinstance(node, list | tuple):
        for each in node:
            _renumbered(each, names)


def _json(data: object) -> str:
    """As JSON that ends no script, whatever text is in it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
