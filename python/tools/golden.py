"""Golden trace and golden result of the tests: python/tests/data/golden.{mqsim,json}.

    make golden

The tool generates the same trace every time and runs the built simulator on it. Read the difference before committing
it, and explain it in the changelog.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import interpulse

DATA = Path(__file__).parent.parent / "tests" / "data"
TIMING = ("wall_s", "cpu_s", "requests_per_cpu_s")
ROWS = 1500


def trace(count: int = ROWS) -> str:
    """Bursts of reads and writes of several sizes, aligned and not, on two devices: one row per request."""
    draw = random.Random(1)
    now_ns = 0
    rows = []
    for _ in range(count):
        now_ns += draw.choice([0, 2_000, 50_000, 400_000])
        device = draw.randrange(2)
        sectors = draw.choice([8, 8, 8, 32, 128, 5])
        sector = draw.randrange(90_000) if sectors == 5 else 8 * draw.randrange(11_000)
        is_read = int(draw.random() < 0.5)
        rows.append(f"{now_ns} {device} {sector} {sectors} {is_read}\n")
    return "".join(rows)


def main() -> None:
    """Writes both files."""
    (DATA / "golden.mqsim").write_text(trace())
    result = interpulse.run(interpulse.Config.load(DATA / "golden.toml"), no_cache=True).document
    for case in result["cases"]:
        for seed in case["seeds"]:
            for key in TIMING:
                del seed[key]
    (DATA / "golden.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
