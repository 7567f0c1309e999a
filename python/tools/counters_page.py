"""Generator of docs/COUNTERS.md from the declarations of counters (`make golden`).

Tests compare the page with the declarations, and results with the page.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from interpulse.configuration.lists import listed

PAGE = Path(__file__).parent.parent.parent / "docs" / "COUNTERS.md"

INTRODUCTION = """# Counters

Every counter of a result, by section, with its unit. Counters are integers, except `cycles_mean` and `suspend_cycles`,
and count events of the measured window unless stated otherwise. Times in ns are sums over all dies or requests. For an
array, the sections of `counters` are sums over its drives (requests and bytes of the host are those of
the array). [RESULTS](RESULTS.md) explains the rest of a result.

`interpulse list counters` prints the same list, `interpulse run --counters` the counters of a run. `make golden`
generates this page from the declarations of the counters.
"""

WHEN = {
    "counters.errors": "Only with an `errors.table` other than `ideal`.",
    "counters.slc": "Only with a section `[ftl.slc-cache]`.",
    "counters.trace": "Only with replayed traces; counted in the first pass over the traces.",
    "array.counters": "Only with `[array]`.",
}
"""Conditions of groups that only some results contain."""


def page() -> str:
    """The text of the page."""
    parts = [INTRODUCTION]
    for group, rows in groupby(listed()["counters"], key=lambda row: str(row["kind"])):
        parts.append(f"\n## `{group}`\n\n")
        if when := WHEN.get(group):
            parts.append(f"{when}\n\n")
        parts.append("| counter | unit | meaning |\n|---|---|---|\n")
        parts += [f"| `{row['name']}` | {row['unit']} | {row['doc']} |\n" for row in rows]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
