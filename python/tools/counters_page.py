"""Writes docs/COUNTERS.md from what the simulator itself declares of each counter.

Run by `make golden`. A test holds the page against the declarations, and results against the page.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from interpulse.names import listed

PAGE = Path(__file__).parent.parent.parent / "docs" / "COUNTERS.md"

INTRODUCTION = """# Counters

Every counter that a result may hold, by the section it stands in, with its unit. Counters are whole numbers, but
for `cycles_mean` and `suspend_cycles`, and count what happened in the measured window; those that do not say so. Times
in ns are sums over all dies or requests. Of an array, the sections of `counters` are sums over its drives (requests and
bytes of the host are the array's). [RESULTS](RESULTS.md) explains the rest of a result.

`interpulse list counters` prints the same, `interpulse run --counters` what a run counted. This page is written by
`make golden` from what the simulator declares.
"""

WHEN = {
    "counters.errors": "Only with an `errors.table` other than `ideal`.",
    "counters.trace": "Only where traces are replayed; of their first reading.",
    "array.counters": "Only with `[array]`.",
}
"""Where a group stands only in some results, in which."""


def page() -> str:
    """The text of the page."""
    parts = [INTRODUCTION]
    for group, rows in groupby(listed()["counters"], key=lambda row: str(row["kind"])):
        parts.append(f"\n## `{group}`\n\n")
        if when := WHEN.get(group):
            parts.append(f"{when}\n\n")
        parts.append("| counter | unit | what is counted |\n|---|---|---|\n")
        parts += [f"| `{row['name']}` | {row['unit']} | {row['doc']} |\n" for row in rows]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
