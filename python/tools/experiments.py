"""Runs every experiment one after the other, with the options given, and says how long each took.

The results go to `out/experiments/NAME`. The exit code is that of the first experiment that failed.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from interpulse.experiments.registry import EXPERIMENTS

OUT = Path("out") / "experiments"


def main(options: list[str]) -> int:
    """Runs them all, also after one that failed."""
    failed = 0
    start = time.monotonic()
    for experiment in EXPERIMENTS:
        command = [str(Path(sys.executable).parent / "interpulse"), "experiment", experiment.name, *options]
        began = time.monotonic()
        code = subprocess.run([*command, "--out", str(OUT / experiment.name)], check=False).returncode
        took_s = time.monotonic() - began
        print(f"== {experiment.name}: exit code {code} after {took_s:.0f} s", flush=True)  # noqa: T201
        failed = failed or code
    print(f"all {len(EXPERIMENTS)} experiments took {time.monotonic() - start:.0f} s")  # noqa: T201
    return failed


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
