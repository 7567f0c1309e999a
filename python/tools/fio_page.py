"""Generator of the table of options in docs/FIO.md from `interpulse/fio/options.txt` (`make golden`).

A test compares the page with the table.
"""

from __future__ import annotations

from pathlib import Path

from generated import with_blocks

from interpulse.fio.options import Option, table

PAGE = Path(__file__).parent.parent.parent / "docs" / "FIO.md"

TREATMENTS = {
    "read": "read",
    "host": "noted: no effect",
    "output": "noted: no effect",
    "drop": "no effect",
    "no": "refused, unless 0",
}
"""Words for treatments; `only` lists its values."""


def _becomes(option: Option) -> str:
    if option.treatment != "only":
        return TREATMENTS[option.treatment]
    if not option.values:
        return "refused"
    return f"refused, unless {' or '.join(f'`{value}`' for value in option.values)}"


def options() -> str:
    """The table."""
    lines = ["| option | becomes | meaning, or reason |\n|---|---|---|\n"]
    for option in table().values():
        names = ", ".join(f"`{name}`" for name in (option.name, *option.aliases))
        lines.append(f"| {names} | {_becomes(option)} | {option.why} |\n")
    return "".join(lines)


def page() -> str:
    """The text of the page."""
    return with_blocks(PAGE.read_text(encoding="utf-8"), [options()])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
