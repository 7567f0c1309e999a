"""Measured figures of a blind study, read from a checkout of the repository that holds fio's output.

    python python/tools/measured.py NAME FOLDER

experiments/NAME/measured.toml names the file of each case and its job; a row of measures.toml with the figures `of` is
read there. Writes experiments/NAME/expected.toml, and the tables of docs/experiments/blind.md from these files and the
outcomes. Needs the outcome first.
"""

from __future__ import annotations

import json
import math
import sys
import tomllib
from pathlib import Path
from statistics import fmean

from blind import OUTCOME
from generated import with_blocks

from interpulse.experiments.blind import Measures
from interpulse.experiments.registry import SETUPS
from interpulse.studies.published import FILE

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "experiments" / "blind.md"
MEASURED = "measured.toml"
STUDIES = ("zn540", "confzns")
"""Studies with a table, in the order of the page."""


def figure(text: str, job: str, of: list[str], place: str) -> float:
    """A latency in us from the output of fio: mean or percentile of the kind that a row names.

    Raises:
        ValueError: there is no such job, kind or percentile.
    """
    start = text.find("{")  # fio writes its notes before the JSON
    jobs = {each["jobname"]: each for each in json.loads(text[max(start, 0) :])["jobs"]}
    _, kind, which = of
    try:
        latency = jobs[job][kind]["lat_ns"]
        nanoseconds = latency["mean"] if which == "mean" else latency["percentile"][f"{float(which[1:]):.6f}"]
    except KeyError as error:
        raise ValueError(f"{place}: job '{job}' has no {kind} {which} ({error})") from None
    return float(nanoseconds) / 1000.0


def read(folder: Path, checkout: Path) -> dict[str, tuple[float, str]]:
    """Figure and file of each row."""
    table = tomllib.loads((folder / MEASURED).read_text(encoding="utf-8"))
    found = {}
    for row in Measures.load(folder).rows:
        name = table["file"].format(**row["where"])
        path = checkout / name
        found[row["name"]] = (figure(path.read_text(encoding="utf-8"), table["job"], row["of"], str(path)), name)
    return found


def expected(folder: Path, found: dict[str, tuple[float, str]]) -> str:
    """The text of expected.toml."""
    table = tomllib.loads((folder / MEASURED).read_text(encoding="utf-8"))
    lines = [f"# Written by python/tools/{Path(__file__).name} after {OUTCOME} was committed.",
             f"source = {json.dumps(table['source'])}"]  # fmt: skip
    for name, (value, file) in found.items():
        lines += ["", "[[row]]", f'name = "{name}"', f"value = {float(f'{value:.4g}'):g}", 'unit = "us"',
                  f'figure = "{Path(file).name}"', 'status = "blind"']  # fmt: skip
    return "\n".join([*lines, ""])


def error(ratios: list[float]) -> str:
    """How many ratios are near, and the mean of their absolute logarithms as a factor less one."""
    near = sum(abs(ratio - 1) <= 0.1 for ratio in ratios)
    return f"{near} of {len(ratios)}, {100 * (math.exp(fmean(abs(math.log(each)) for each in ratios)) - 1):.0f} %"


def table(folder: Path) -> str:
    """The figures of each file beside those of every value of the last axis."""
    measures = Measures.load(folder)
    axis, values = list(measures.axes.items())[-1]
    rows = tomllib.loads((folder / FILE).read_text(encoding="utf-8"))["row"]
    known = {row["name"]: (row["value"], row["figure"]) for row in rows}
    outcome = {name: fmean(each) for name, each in json.loads((folder / OUTCOME).read_text())["rows"].items()}
    lines: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    for row in measures.rows:
        value, file = known[row["name"]]
        lines.setdefault((file, row["of"][-1]), {})[row["where"][axis]] = (value, outcome[row["name"]])
    head = [f"| file, figure | measured, us | {' | '.join(f'`{each}`, us | ratio' for each in values)} |",
            f"|---|---:|{'---:|' * 2 * len(values)}"]  # fmt: skip
    ratios: dict[str, list[float]] = {each: [] for each in values}
    for (file, which), pairs in lines.items():
        cells = []
        for each, (value, ours) in pairs.items():
            ratios[each].append(ours / value)
            cells.append(f"{ours:,.4g} | {ours / value:.2f}")
        head.append(f"| {file}, {which} | {value:,.4g} | {' | '.join(cells)} |")
    head.append(f"| within 10 %, mean error | | {' | '.join(f'| {error(each)}' for each in ratios.values())} |")
    return "\n".join(["", *head, "\n"])


def main(arguments: list[str]) -> None:
    """Reads the figures, writes both files."""
    if len(arguments) != 2:
        sys.exit(__doc__)
    folder = SETUPS / arguments[0]
    if not (folder / OUTCOME).is_file():
        sys.exit(f"{folder / OUTCOME}: the outcome comes before the measured figures")
    (folder / FILE).write_text(expected(folder, read(folder, Path(arguments[1]))), encoding="utf-8")
    blocks = [table(SETUPS / name) for name in STUDIES if (SETUPS / name / FILE).is_file()]
    PAGE.write_text(with_blocks(PAGE.read_text(encoding="utf-8"), blocks), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
