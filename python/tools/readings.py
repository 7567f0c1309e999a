"""Published rows of an experiment by default and under choices that its paper does not print, side by side.

    python python/tools/readings.py EXPERIMENT [CHOICE ...]

Quick runs of three seeds; choices are those of experiments/EXPERIMENT/choices.toml, without names all. Rows that no
choice moves beyond chance are left out.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from interpulse import ConfigError
from interpulse.configuration.lists import named
from interpulse.experiments.choices import FILE, choices
from interpulse.experiments.registry import find
from interpulse.files.cache import Cache
from interpulse.runs.runner import Options
from interpulse.studies import repeat
from interpulse.studies.store import Store
from interpulse.studies.verdict import agreement

if TYPE_CHECKING:
    from interpulse.experiments.registry import Experiment
    from interpulse.studies.outcome import Row

SEEDS = 3


def main(name: str, wanted: list[str]) -> None:
    """Runs the experiment under these choices, or all, and prints the rows that move."""
    experiment = find(name)
    known = choices(experiment.context().folder / FILE)
    found = [named(each, known, "choice") for each in wanted] if wanted else known
    default = measured(experiment, {})
    moved = {choice.name: measured(experiment, choice.sets) for choice in found}
    print("| row | published |", " | ".join(("default", *moved)), "|")  # noqa: T201
    print("|---|---|" + (1 + len(moved)) * "---|")  # noqa: T201
    for row in default.values():
        cells = [cell(row), *(cell(each[row.name]) for each in moved.values())]
        if any(apart(row, each[row.name]) for each in moved.values()):
            print(f"| {row.name} | {published(row)} |", " | ".join(cells), "|", flush=True)  # noqa: T201


def measured(experiment: Experiment, sets: dict[str, Any]) -> dict[str, Row]:
    """Published rows with these overrides."""
    store = Store.open(Cache.default().folder, f"readings-{experiment.name}")
    context = experiment.context(quick=True, assume=sets, options=Options(), store=store)
    return {row.name: row for row in repeat.run(experiment, context, SEEDS).rows.published()}


def apart(default: Row, other: Row) -> bool:
    """Whether the intervals of two figures have no value in common, or they agree with the paper differently."""
    if default.ours is None or other.ours is None:
        return default.ours != other.ours
    (low, high), (low_of, high_of) = (
        (row.ours if row.ci_low is None else row.ci_low, row.ours if row.ci_high is None else row.ci_high)
        for row in (default, other)
        if row.ours is not None
    )
    return low > high_of or low_of > high or agreement(default) != agreement(other)


def cell(row: Row) -> str:
    """A figure with its interval and its agreement."""
    if row.ours is None:
        return "-"
    interval = "" if row.ci_high is None else f" ± {row.ci_high - row.ours:.3g}"
    return f"{row.ours:,.4g}{interval} ({agreement(row)})"


def published(row: Row) -> str:
    """What the paper prints."""
    if row.published is not None:
        return f"{row.published:,.6g} {row.unit}"
    return " ".join(f"{sign} {bound:g}" for sign, bound in ((">=", row.low), ("<=", row.high)) if bound is not None)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        raise SystemExit(__doc__)
    try:
        main(sys.argv[1], sys.argv[2:])
    except ConfigError as error:
        raise SystemExit(str(error)) from None
