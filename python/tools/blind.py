"""Blind studies: record of a set-up, and its simulation before the published figures are entered.

    python python/tools/blind.py record NAME TEXT   # writes experiments/NAME/blind.toml; TEXT: figures read beforehand
    python python/tools/blind.py simulate NAME      # writes experiments/NAME/outcome.json

Order of commits: set-up with record; outcome; expected.toml with the published figures. `simulate` refuses a set-up
that differs from the record.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from interpulse.experiments.blind import simulated
from interpulse.experiments.registry import SETUPS, Experiment
from interpulse.runs.runner import Options
from interpulse.studies.blind import FILE, is_unchanged, setup_sha256
from interpulse.studies.context import Context

OUTCOME = "outcome.json"


def record(folder: Path, read_before: str) -> None:
    """Writes the hash of the set-up as it is now."""
    lines = [f"# Record of the set-up in this folder, written by python/tools/{Path(__file__).name}."]
    lines += [f'setup-sha256 = "{setup_sha256(folder)}"', f"read-before = {json.dumps(read_before)}", ""]
    (folder / FILE).write_text("\n".join(lines), encoding="utf-8")


def simulate(folder: Path) -> dict[str, object]:
    """Figures of the set-up, with each seed.

    Raises:
        ValueError: the set-up is another one than the recorded one.
    """
    if not is_unchanged(folder):
        raise ValueError(f"{folder.name}: the set-up has changed since it was recorded; seen {setup_sha256(folder)}")
    context = Context(folder.name, form=Experiment.FORM, published=folder / "expected.toml", options=Options())
    return {"setup-sha256": setup_sha256(folder), "rows": simulated(context)}


def main(arguments: list[str]) -> None:
    """Runs one of the two commands."""
    match arguments:
        case ["record", name, read_before]:
            record(SETUPS / name, read_before)
        case ["simulate", name]:
            text = json.dumps(simulate(SETUPS / name), indent=1) + "\n"
            (SETUPS / name / OUTCOME).write_text(text, encoding="utf-8")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
