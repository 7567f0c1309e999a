"""Table of docs/experiments/decade.md from a full run: `python python/tools/decade_page.py FOLDER`.

FOLDER is that of `interpulse experiment decade --out FOLDER`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from generated import with_blocks

PAGE = Path(__file__).parent.parent.parent / "docs" / "experiments" / "decade.md"
WAYS: tuple[str, ...] = ("none", "aero", "loop-boundary", "tiers", "deferred", "sliced", "safe-points")
WAYS += ("adaptive", "multi-block", "booster", "intra-phase-cancel", "immediate", "exact")
DRIVES = {"tlc": "TLC", "qlc": "QLC"}
MEASURES = {"read_p99.99": "read p99.99, us", "writes": "writes, kIOPS", "voltage": "time under voltage"}


def main() -> None:
    """Writes the table."""
    found = json.loads((Path(sys.argv[1]) / "result.json").read_text(encoding="utf-8"))
    if found["quick"]:
        sys.exit("a quick run: the page has figures of a full one")
    rows = {row["name"]: row for row in found["rows"]}
    heads = [f"{title}: {text}" for title in DRIVES.values() for text in MEASURES.values()]
    lines = [f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for way in WAYS:
        cells = [_cell(rows, f"{drive}_{measure}", way) for drive in DRIVES for measure in MEASURES]
        lines.append(f"| `{way}` | {' | '.join(cells)} |")
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_blocks(text, ["\n".join(lines) + "\n"]), encoding="utf-8")


def _cell(rows: dict[str, dict[str, float]], figure: str, way: str) -> str:
    """Mean and half the 95 % interval; time under voltage as a ratio to that of `none`."""
    row = rows[f"{figure}_{way}"]
    half = (row["ci_high"] - row["ci_low"]) / 2
    if figure.endswith("voltage"):
        return f"{row['ours'] / rows[f'{figure}_none']['ours']:.2f}"
    return f"{row['ours']:,.0f} \u00b1{half:,.0f}" if row["ours"] > 100 else f"{row['ours']:.1f} \u00b1{half:.1f}"


if __name__ == "__main__":
    main()
