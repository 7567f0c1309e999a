"""Writes the presets of drives that were fitted to data sheets, and their table in docs/FIT.md.

    python python/tools/drives.py NAME FOLDER [NAME FOLDER ...]

FOLDER is what `interpulse fit examples/drives/NAME.toml --out FOLDER` left; `make drives` does all. Presets are part
of the extension, which has to be built anew afterwards.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
PRESETS = ROOT / "crates" / "study" / "src" / "config" / "presets"
PAGE = ROOT / "docs" / "FIT.md"
BEGIN, END = "<!-- drives -->\n", "<!-- end -->\n"

UNITS = {"iops": (1, "IOPS"), "bandwidth": (1e6, "MB/s")}


def preset(text: str) -> str:
    """The sections of a drive file: its flow and window belong to whoever runs it."""
    body = text[: text.index("\n# ", text.index("config_version"))].rstrip() + "\n"
    return re.sub(r"^config_version = 1\n\n?", "", body, flags=re.M)


def said(figure: str, value: float | None) -> str:
    """A figure for the table."""
    if value is None:
        return "-"
    scale, unit = UNITS.get(figure, (1000, "us"))
    return f"{value / scale:,.0f} {unit}" if value / scale >= 1000 else f"{value / scale:.4g} {unit}"


def rows(name: str, fit: dict[str, Any]) -> Iterator[str]:
    """A drive's part of the table."""
    yield f"| **{fit['title']}** (`{name}`) | | | | |"
    for each in fit["figures"]:
        label = each["load"] if each["figure"] in UNITS else f"{each['load']}, {each['figure'].replace('-', ' ')}"
        kind = "held out" if each["held_out"] else "fitted"
        printed, simulated = said(each["figure"], each["known"]), said(each["figure"], each["simulated"])
        yield f"| {label} | {printed} | {simulated} | {each['ratio']:.2f} | {kind} |"


def determined(fit: dict[str, Any]) -> str:
    """What is said of the parameters."""
    found = []
    for each in fit["parameters"]:
        sure = f"within {100 * each['within']:.0f} %" if each["within"] is not None else "determined"
        why = sure if each["determined"] else f"not determined: {each['why']}"
        found.append(f"{each['name']} {each['text']} ({why})")
    return "; ".join(found)


def main(arguments: list[str]) -> None:
    """Takes pairs of names and folders."""
    table = ["| load | printed | simulated | ratio | |", "|---|---:|---:|---:|---|"]
    notes = []
    for name, folder in zip(arguments[::2], arguments[1::2], strict=True):
        fit = json.loads((Path(folder) / "fit.json").read_text(encoding="utf-8"))
        text = preset((Path(folder) / "drive.toml").read_text(encoding="utf-8"))
        tomllib.loads(text)
        (PRESETS / f"{name}.toml").write_text(text, encoding="utf-8")
        table += rows(name, fit)
        notes.append(f"- `{name}`: {determined(fit)}.")
    page = PAGE.read_text(encoding="utf-8")
    before, after = page[: page.index(BEGIN) + len(BEGIN)], page[page.index(END) :]
    PAGE.write_text(f"{before}\n" + "\n".join([*table, "", *notes]) + f"\n\n{after}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
