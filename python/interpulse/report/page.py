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
from interpulse.report.elements import Chart, Section

if TYPE_CHECKING:
    from bokeh.plotting import figure

NAME = "report.html"
"""The name of the page in a folder."""

MOST_BYTES = 5_000_000
"""Limit of a page, so that it opens at once and can be sent by mail."""

MARK = b'<meta name="generator" content="interpulse">'
"""Mark near the beginning of every page."""

_BUTTONS = (
    ("in", "Zoom in"),
    ("out", "Zoom out"),
    ("left", "Left"),
    ("right", "Right"),
    ("reset", "Whole"),
    ("csv", "CSV"),
)


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
    body = "".join(_section(section, keys) for section in every)
    links = "".join(f'<li><a href="#{each.name}">{html.escape(each.title)}</a></li>' for each in every)
    warned = "".join(f'<p class="warning">{html.escape(note)}.</p>' for note in notes)
    resources = files("interpulse.report")
    text = (resources / "page.html").read_text(encoding="utf-8")
    data = {
        "plots": _plots(drawn) if drawn else None,
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
    heading = f'<h2 id="{section.name}">{html.escape(section.title)}</h2>'
    return f'<section aria-labelledby="{section.name}">{heading}{"".join(parts)}</section>'


def _chart(chart: Chart, keys: Sequence[Key]) -> str:
    name, title = html.escape(chart.name), html.escape(chart.title)
    shown = '<p class="shown"></p>' if chart.views else ""
    buttons = "".join(
        f'<button type="button" data-do="{do}" aria-label="{label}: {title}">{label}</button>' for do, label in _BUTTONS
    )
    return (
        f'<figure class="chart" id="chart-{name}" data-chart="{name}"><h3>{title}</h3>{shown}{_legend(keys, title)}'
        f'<div class="plot" id="plot-{name}" role="img" aria-label="{title}. {html.escape(chart.about)}"></div>'
        f'<div class="buttons">{buttons}</div><figcaption>{html.escape(chart.about)}</figcaption>'
        f'<details class="numbers"><summary>Numbers: {title}</summary></details></figure>'
    )


def _legend(keys: Sequence[Key], title: str) -> str:
    """Buttons that hide and show what they name; empty for a single series."""
    if len(keys) < 2:
        return ""
    items = "".join(
        f'<li><button type="button" aria-pressed="true" data-name="{html.escape(key.label)}">{_swatch(key)}'
        f"{html.escape(key.label)}</button></li>"
        for key in keys
    )
    return f'<ul class="legend" aria-label="Shown in {title}">{items}</ul>'


_STROKES = {"solid": "", "dashed": "6", "dotdash": "2 3 6 3", "dotted": "2 3"}

_LINES = {
    "/": "M0 12 12 0M9 12 21 0M18 12 24 6",
    "x": "M0 12 12 0M12 12 24 0M0 0 12 12M12 0 24 12",
    ".": "M6 6h.1M18 6h.1",
}


def _swatch(key: Key) -> str:
    """A small picture of a line or a field, in a colour that follows the page's."""
    name = f"c{COLOURS.index(key.colour)}" if key.colour in COLOURS else "ink"
    if key.dash:
        shape = f'<path d="M0 6H24" stroke="var(--{name})" stroke-width="3" stroke-dasharray="{_STROKES[key.dash]}"/>'
    else:
        shape = f'<rect width="24" height="12" fill="var(--{name})"/>'
        if lines := _LINES.get(key.hatch):
            shape += f'<path d="{lines}" stroke="var(--paper)" stroke-width="2" stroke-linecap="round"/>'
    return f'<svg width="24" height="12" aria-hidden="true">{shape}</svg>'


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


def _plots(drawn: Sequence[tuple[Chart, figure]]) -> dict[str, Any]:
    """The document of all figures, and where each of them goes."""
    from bokeh.document import Document

    document = Document()
    # At once: otherwise every figure is looked through again for each that follows.
    with document.models.freeze():
        for _, figure in drawn:
            document.add_root(figure)
    found: dict[str, Any] = document.to_json(deferred=False)
    names: dict[str, str] = {}
    # Bokeh numbers models per process; renumbered, the page depends on its sections alone.
    _renumbered(found, names)
    roots = {names[figure.id]: f"plot-{chart.name}" for chart, figure in drawn}
    return {"document": found, "roots": roots}


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
