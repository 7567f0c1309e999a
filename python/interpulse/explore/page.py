"""Variables of the page's template: controls with their values, style and script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from interpulse.explore.base import Base
from interpulse.explore.controls import OPERATIONS, Control, controls
from interpulse.explore.view import PINNED
from interpulse.report.charts import COLOURS, DARK

GROUPS = (
    ("Programs", ("program", "program-max", "program-interval")),
    ("Erases", ("erase", "erase-max", "erase-interval")),
    ("Load", ("load", "rate", "depth", "read")),
    ("Drive", ("part", "op")),
    ("Window", ("window", "seed")),
)
"""Controls by heading."""


def variables(base: Base, state: Mapping[str, str]) -> dict[str, Any]:
    """What the template is filled with."""
    from markupsafe import Markup

    resources = files("interpulse.explore")
    style = (resources / "page.css").read_text(encoding="utf-8")
    return {
        "heading": base.title,
        "label": base.label,
        "groups": list(_groups(base, state)),
        "pinned": [figure.name for figure in PINNED],
        "style": Markup(_palette() + style),
        "script": Markup((resources / "page.js").read_text(encoding="utf-8")),
        "data": {"configured": base.configured, "dark": DARK},
    }


def _groups(base: Base, state: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    by_name = {control.name: control for control in controls()}
    for title, names in GROUPS:
        own = [_described(by_name[name], base, state[name]) for name in names]
        reasons = list(dict.fromkeys(each["fixed"] for each in own if each["fixed"]))
        yield {"title": title, "name": title.lower(), "controls": own, "reasons": reasons}


def _described(control: Control, base: Base, value: str) -> dict[str, Any]:
    choices = list(control.choices)
    if control.name in OPERATIONS:
        choices = [(name, name) for name, _ in choices]
    elif control.name == "part":
        choices = [(name, name or text) for name, text in choices]
    return {
        "control": control,
        "choices": choices,
        "texts": dict(control.choices),
        "value": value,
        "fixed": base.fixed.get(control.name, ""),
    }


def _palette() -> str:
    """Colours of the report's pages, and those of curves and causes, on light and dark paper."""
    sheet = (files("interpulse.report") / "page.css").read_text(encoding="utf-8")
    roots = re.findall(r":root(?:\.dark)?\s*\{[^}]*\}", sheet)
    light = "".join(f"--c{k}:{colour};" for k, colour in enumerate(COLOURS))
    dark = "".join(f"--c{k}:{DARK[colour]};" for k, colour in enumerate(COLOURS))
    return "\n".join([*roots, f":root{{{light}}}", f":root.dark{{{dark}}}", ""])
