"""Writes docs/CONFIGURATION.md from what the configuration reader itself says of each key.

Run by `make golden`. A test holds the page against the reader.
"""

from __future__ import annotations

import re
from pathlib import Path

from interpulse import Config

PAGE = Path(__file__).parent.parent.parent / "docs" / "CONFIGURATION.md"

SAMPLES = (
    """
drive = "a4-mini"
[ftl]
gc = "d-choices"
[errors]
table = "cai-tlc"
[ecc]
retry = "pipelined"
soft-sensings = [2]
soft-capability = [120]
soft-latency = ["30us"]
[precondition]
overwrite = "hot-cold"
hot-share = "20%"
hot-traffic = "80%"
[run]
requests = 1
[[flow]]
pacing = "open"
rate = "1000/s"
arrivals = "hyper-exponential"
squared-variation = 2.0
sizes = ["4KiB"]
size-weights = [1.0]
address = "hot-cold"
hot-share = "20%"
hot-traffic = "80%"
[[flow]]
depth = 2
address = "zipf"
exponent = 0.9
[[flow]]
trace = "t"
format = "ascii"
time-unit = "us"
writes-are = 0
[[flow]]
trace = "t"
pacing = "closed"
[[flow]]
twin = "msr-hm-0"
[[case]]
name = "x"
""",
    """
drive = "a4-mini"
[array]
level = "raid5"
drives = 4
fail-drive = 0
[run]
requests = 1
[[flow]]
""",
    """
drive = "a4-mini"
[power-loss]
at = "1s"
[array]
level = "raid5"
drives = 4
[run]
requests = 1
[[flow]]
""",
    """
drive = "a4-mini"
[array]
level = "raid5"
drives = 4
consistency = "ppl"
[run]
requests = 1
[[flow]]
""",
    """
drive = "a4-mini"
[ftl]
gc = "imposed"
imposed-waf = 2.4
[power]
trace = true
[precondition]
overwrite = "zipf"
exponent = 0.9
until = "drive-writes"
[run]
requests = 1
[[flow]]
""",
    """
[part]
preset = "a4-tlc"
[geometry]
channels = 1
chips-per-channel = 1
[ftl]
over-provisioning = "30%"
[run]
requests = 1
[[flow]]
""",
)
"""Together these make the reader read every key there is; the last has no drive preset, so it shows the defaults."""

INTRODUCTION = """# Configuration

Every key that a configuration file may hold, with its default. `interpulse show FILE` prints the same keys with the
values of a file and where each comes from; `--set key=value` overrides any of them. Sections are TOML tables; `flow.N`
is the N-th `[[flow]]`, counted from 0, and `case.N` the N-th `[[case]]`. Quantities carry their unit: `"80us"`,
`"16KiB"`, `"400MT/s"`, `"200kIOPS"`, `"30%"`. Keys of `part` and most others come from the part and drive presets
(`interpulse list parts`, `interpulse list drives`); a default is what holds without a drive preset.

This page is written by `make golden` from the reader itself.
"""


def keys() -> dict[str, tuple[str, str]]:
    """Each key with what it means and its default, or an empty string if it has none, in the reader's order."""
    found: dict[str, tuple[str, str]] = {}
    for sample in SAMPLES:
        for entry in Config.from_toml(sample).entries():
            key = re.sub(r"^(flow|case)\.\d+", r"\1.N", entry.key)
            default = entry.value if entry.origin == "default" else ""
            if key not in found or default:
                found[key] = (entry.doc, default)
    return found


def page() -> str:
    """The text of the page."""
    sections: dict[str, list[str]] = {}
    for key, (doc, default) in keys().items():
        section = key.rpartition(".")[0] or "top"
        shown = f"`{default}`" if default else ""
        sections.setdefault(section, []).append(f"| `{key}` | {doc} | {shown} |")
    parts = [INTRODUCTION]
    for section, rows in sections.items():
        name = "Above the first section" if section == "top" else f"`{section}`"
        parts.append(f"\n## {name}\n\n| key | meaning | default |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
