"""Runs each experiment under every choice that its paper does not print, and names untuned rows that move.

Arguments are names of experiments; without them every experiment that has untuned rows and a `choices.toml`. The exit
code is 1 if a row labelled `untuned` moves beyond its tolerance: its status must then be `assumed`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from interpulse.experiments.choices import FILE, choices, moves
from interpulse.experiments.registry import EXPERIMENTS, find
from interpulse.runs.runner import Options
from interpulse.studies.status import Status
from interpulse.studies.store import Store

if TYPE_CHECKING:
    from interpulse.experiments.registry import Experiment
    from interpulse.studies.outcome import Outcome


def main(names: list[str]) -> int:
    """Checks these experiments, or all; returns the exit code."""
    code = 0
    for experiment in map(find, names) if names else EXPERIMENTS:
        context = experiment.context()
        untuned = [row for row in context.expected().rows.values() if row.status is Status.UNTUNED]
        if not untuned:
            print(f"== {experiment.name}: no untuned row", flush=True)  # noqa: T201
            continue
        found = list(moves(choices(context.folder / FILE), _run(experiment)))
        rows = {move.row for move in found}
        print(f"== {experiment.name}: {len(rows)} of {len(untuned)} untuned rows move", flush=True)  # noqa: T201
        for move in found:
            print(f"   {move}", flush=True)  # noqa: T201
        code = code or int(bool(found))
    return code


def _run(experiment: Experiment) -> Any:  # noqa: ANN401 - a function as `moves` takes it
    def run(sets: dict[str, Any]) -> Outcome:
        context = experiment.context(quick=True, seeds=1, assume=sets, options=Options(), store=Store(None))
        return experiment.run(context)

    return run


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
