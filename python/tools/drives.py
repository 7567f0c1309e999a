"""Presets of drives fitted to data sheets, and their table in docs/DRIVES.md (`make drives`).

    python python/tools/drives.py NAME FOLDER [NAME FOLDER ...]

FOLDER is the output of `interpulse fit examples/drives/NAME.toml --out FOLDER`. Rows of other drives stay as they are.
Presets are part of the extension module, so build it afterwards.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generated import BEGIN, END, with_blocks

ROOT = Path(__file__).parent.parent.parent
PRESETS = ROOT / "crates" / "study" / "src" / "config" / "presets"
PAGE = ROOT / "docs" / "DRIVES.md"

UNITS = {"iops": (1, "IOPS"), "bandwidth": (1e6, "MB/s")}


def preset(text: str) -> str:
    """The sections of a drive file without its flow and window, which a preset does not define."""
    body = text[: text.index("\n# ", text.index("config_version"))].rstrip() + "\n"
    return re.sub(r"^config_version = 1\n\n?", "", body, flags=re.M)


def figure_text(figure: str, value: float | None) -> str:
    """A figure with its unit, for the table."""
    if value is None:
        return "-"
    scale, unit = UNITS.get(figure, (1000, "us"))
    return f"{value / scale:,.0f} {unit}" if value / scale >= 1000 else f"{value / scale:.4g} {unit}"


def rows(name: str, fit: dict[str, Any]) -> Iterator[str]:
    """Rows of one drive in the table."""
    yield f"| **{fit['title']}** (`{name}`) | | | | |"
    for each in fit["figures"]:
        label = each["load"] if each["figure"] in UNITS else f"{each['load']}, {each['figure'].replace('-', ' ')}"
        kind = "held out" if each["held_out"] else "fitted"
        printed, simulated = figure_text(each["figure"], each["known"]), figure_text(each["figure"], each["simulated"])
        yield f"| {label} | {printed} | {simulated} | {each['ratio']:.2f} | {kind} |"


def determined(fit: dict[str, Any]) -> str:
    """Fitted parameters with their uncertainty."""
    found = []
    for each in fit["parameters"]:
        sure = f"within {100 * each['within']:.0f} %" if each["within"] is not None else "determined"
        why = sure if each["determined"] else f"not determined: {each['why']}"
        found.append(f"{each['name']} {each['text']} ({why})")
    return "; ".join(found)


def entries(block: str) -> dict[str, tuple[list[str], str]]:
    """Rows and note of each drive of the page."""
    found: dict[str, tuple[list[str], str]] = {}
    name = ""
    for line in block.splitlines():
        if title := re.match(r"\| \*\*.*\(`(.+)`\)", line):
            name = title[1]
            found[name] = ([], "")
        if note := re.match(r"- `(.+?)`: ", line):
            found[note[1]] = (found[note[1]][0], line)
        elif name and line.startswith("|"):
            found[name][0].append(line)
    return found


def main(arguments: list[str]) -> None:
    """Writes presets and table from pairs of names and folders."""
    page = PAGE.read_text(encoding="utf-8")
    every = entries(page.partition(BEGIN)[2].partition(END)[0])
    for name, folder in zip(arguments[::2], arguments[1::2], strict=True):
        fit = json.loads((Path(folder) / "fit.json").read_text(encoding="utf-8"))
        text = preset((Path(folder) / "drive.toml").read_text(encoding="utf-8"))
        tomllib.loads(text)
        (PRESETS / f"{name}.toml").write_text(text, encoding="utf-8")
        every[name] = ([*rows(name, fit)], f"- `{name}`: {determined(fit)}.")
    table = ["| load | printed | simulated | ratio | |", "|---|---:|---:|---:|---|"]
    table += [row for found, _ in every.values() for row in found]
    block = "\n".join(["", *table, "", *(note for _, note in every.values()), "\n"])
    PAGE.write_text(with_blocks(page, [block]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
