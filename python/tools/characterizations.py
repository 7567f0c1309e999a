"""Runs every kind of characterization in full, one after the other, and says how long each took and what holds.

The results go to `out/characterize/KIND`. The exit code is that of the first kind that failed, or 3 where the grid of
delays took longer than it may.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from interpulse.characterize.registry import KINDS

OUT = Path("out") / "characterize"

MOST_S = {"suspend": 180.0}
"""The longest that a kind may take on two cores."""


def main() -> int:
    """Runs them all, also after one that failed."""
    failed = 0
    for kind in KINDS:
        folder = OUT / kind.name
        command = [str(Path(sys.executable).parent / "interpulse"), "characterize", kind.name, "--no-cache"]
        began = time.monotonic()
        code = subprocess.run([*command, "--out", str(folder)], check=False).returncode
        took_s = time.monotonic() - began
        print(f"== {kind.name}: exit code {code} after {took_s:.0f} s{'' if code else _held(folder)}", flush=True)  # noqa: T201
        if took_s > MOST_S.get(kind.name, took_s):
            print(f"== {kind.name}: more than {MOST_S[kind.name]:.0f} s", flush=True)  # noqa: T201
            code = code or 3
        failed = failed or code
    return failed


def _held(folder: Path) -> str:
    """How many of the published statements hold, and which do not."""
    rows = json.loads((folder / "result.json").read_text(encoding="utf-8"))["published"]
    judged = {row["name"]: row["holds"] for row in rows if row["holds"] is not None}
    missed = [name for name, holds in judged.items() if not holds]
    return f", {len(judged) - len(missed)} of {len(judged)} statements hold" + (
        f", not {', '.join(missed)}" if missed else ""
    )


if __name__ == "__main__":
    raise SystemExit(main())
