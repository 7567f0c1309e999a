"""Sequential run of all experiments or characterizations, with the time and the confirmed statements of each.

The first argument is `experiment` or `characterize`; further arguments are options of that command. Results are stored
in `out/experiment/NAME` or `out/characterize/NAME`. The exit code is that of the first failed study, or 3 if a study
exceeded its time limit.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from interpulse.characterize.registry import KINDS
from interpulse.experiments.registry import EXPERIMENTS, Experiment

STUDIES = {"experiment": EXPERIMENTS, "characterize": KINDS}

MOST_S = {"characterize suspend": 180.0}
"""Time limits of studies on two cores."""


def main(what: str, options: list[str]) -> int:
    """Runs all studies, also after a failure."""
    failed = 0
    start = time.monotonic()
    for study in STUDIES[what]:
        missing = study.missing() if isinstance(study, Experiment) else []
        if missing:
            print(f"== {study.name}: not measured, {'; '.join(missing)}", flush=True)  # noqa: T201
            continue
        folder = Path("out") / what / study.name
        command = [str(Path(sys.executable).parent / "interpulse"), what, study.name, *options, "--out", str(folder)]
        began = time.monotonic()
        code = subprocess.run(command, check=False).returncode
        took_s = time.monotonic() - began
        print(f"== {study.name}: exit code {code} after {took_s:.0f} s{'' if code else _held(folder)}", flush=True)  # noqa: T201
        most_s = MOST_S.get(study.title, took_s)
        if took_s > most_s:
            print(f"== {study.name}: more than {most_s:.0f} s", flush=True)  # noqa: T201
            code = code or 3
        failed = failed or code
    print(f"all {len(STUDIES[what])} took {time.monotonic() - start:.0f} s")  # noqa: T201
    return failed


def _held(folder: Path) -> str:
    """Number of confirmed statements, and the names of the others; empty without statements."""
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    rows = [row for row in result.get("published", ()) if row["holds"] is not None]
    judged = {row["name"]: row["holds"] for row in rows if not row["undecided"]}
    undecided = [row["name"] for row in rows if row["undecided"]]
    missed = [name for name, holds in judged.items() if not holds]
    held = f", {len(judged) - len(missed)} of {len(judged)} statements hold" if judged else ""
    held += f", not {', '.join(missed)}" if missed else ""
    return held + (f", undecided {', '.join(undecided)}" if undecided else "")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], sys.argv[2:]))
