"""Generator of docs/CONFIGURATION.md from the declarations of keys (`make golden`).

A test compares the page with the declarations.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from interpulse.configuration.lists import listed

PAGE = Path(__file__).parent.parent.parent / "docs" / "CONFIGURATION.md"

LISTED = {
    "drive.preset": "drives",
    "errors.table": "error-tables",
    "flow.N.twin": "twins",
    "part.preset": "parts",
}
"""Keys with too many legal values for a table, and the `interpulse list` argument that prints the values."""

INTRODUCTION = """# Configuration

Every key of a configuration file, with its legal values and its default. `interpulse show FILE` prints the
keys of a file with their values and origins; `--set key=value` overrides any of them. Sections are TOML
tables; `flow.N` is the N-th `[[flow]]`, counted from 0, `namespace.N` the N-th `[[namespace]]`, `fault.N` the N-th
`[[fault]]`, `format.N` the N-th `[[format]]`, and `case.N` the N-th `[[case]]`. Quantities have units:
`"80us"`, `"16KiB"`, `"400MT/s"`, `"200kIOPS"`, `"30%"`. Units of durations are ns, us, ms, s, min, h, d, w (7 days) or
y (365 days); of sizes B, KiB, MiB, GiB, TiB, or kB, MB, GB, TB in powers of ten. Keys of `part` and most others come
from the part and drive presets (`interpulse list parts`, `interpulse list drives`); a default applies without a
drive preset. A key that belongs to another key or section is refused without it; `interpulse list policies` explains
the names.

`make golden` generates this page from the declarations of the keys.
"""


NOTES = {
    "namespace.N": """
A namespace has the keys of `ftl`, too, except `mapping-unit`, `bad-block-reserve` and `multi-plane`; those that it
leaves out have the values of `ftl` ([NAMESPACES](NAMESPACES.md)).
"""
}
"""Sentences after the table of a section."""


def page() -> str:
    """The text of the page."""
    sections: dict[str, dict[str, list[str]]] = {}
    names = {key["name"] for key in listed()["keys"]}
    for key in listed()["keys"]:
        section = key["name"].rpartition(".")[0] or "top"
        if key["name"].replace("namespace.N.", "ftl.") in names - {key["name"]}:
            continue
        row = " | ".join((f"| `{key['name']}`", key["doc"], _takes(key), _default(key)))
        belongs = sections.setdefault(section, {}).setdefault(row, [])
        # The rows of the outer keys show the outer conditions.
        belongs += [of for of in key["belongs_to"][-1:] if of != f"[{section}]" and of not in belongs]
    parts = [INTRODUCTION]
    for section, rows in sections.items():
        name = "Above the first section" if section == "top" else f"`{section}`"
        lines = [f"{row} | {' or '.join(belongs)} |" for row, belongs in rows.items()]
        head = "| key | meaning | takes | default | belongs to |\n|---|---|---|---|---|\n"
        parts.append(f"\n## {name}\n\n{head}" + "\n".join(lines) + "\n" + NOTES.get(section, ""))
    return "".join(parts)


def _takes(key: dict[str, Any]) -> str:
    if listed := LISTED.get(key["name"]):
        file = any(each["name"] == "FILE.toml" for each in key["choices"])
        return f"a name of `interpulse list {listed}`" + " or a file" * file
    names = ", ".join(f"`{each['name']}`" for each in key["choices"])
    one = names or f"{key['holds']} {key['range']}".strip()
    return f"a list, each {one}" if key["list"] else one


def _default(key: dict[str, Any]) -> str:
    if key["need"] == "default":
        return f"`{key['default']}`"
    if key["need"] == "required":
        return f"required, typically `{key['typical']}`" if key["typical"] else "required"
    return "`not set`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
