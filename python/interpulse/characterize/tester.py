"""Tester: the context of a characterization, with jobs on cells."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from interpulse._core import version
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome
from interpulse.studies.pool import CellJob


@dataclass(frozen=True)
class Job:
    """One piece of work of the core, about a second of it."""

    kind: str
    """What the core calls it."""
    request: dict[str, Any]
    """What it takes; the tester adds the seed and the cells."""


@dataclass
class Tester(Context):
    """One run of a characterization.

    Attributes:
        preset: the preset of the cells.
        sets: overrides in the order of application, keys such as `cell.ispp.step` and `part.program-pulse`.
        settings: those options that only some kinds have, as far as they were given.
    """

    preset: str
    sets: list[tuple[str, str]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)

    def ask(self, jobs: Iterable[Job]) -> list[dict[str, Any]]:
        """Has the cells do jobs, or takes their answers from the store.

        Returns:
            The answers, in the order of the jobs.

        Raises:
            ConfigError: a request cannot be used.
            KeyboardInterrupt: Ctrl-C; what had ended by then is in the store.
        """
        whole = {"seed": self.seed, "preset": self.preset, "set": self.sets}
        # The same bytes for the same request.
        asked = [CellJob(j.kind, json.dumps(whole | j.request, sort_keys=True, allow_nan=False)) for j in jobs]
        self._asked.update(each.identity for each in asked)
        return self.answers(asked, lambda missing: self.doer.compute(missing, self, self.keep))

    def head(self) -> str:
        """How a result was made, in one line."""
        sets = "".join(f", {key}={value}" for key, value in self.sets)
        made = f"interpulse {version} characterize {self.name} ({self.how})"
        return f"{made}, seed {self.seed}, config {self.config_hash()}{sets}"

    def json_head(self, outcome: Outcome) -> dict[str, Any]:
        """What `--json` prints before the rows."""
        sets = [f"{key}={value}" for key, value in self.sets]
        return {"cells": {"preset": self.preset, "set": sets, **outcome.settings}, **outcome.figures}

    def preface(self, outcome: Outcome) -> str:
        """The lines between the head and the table."""
        settings = ", ".join(f"{key.replace('_', '-')} {value}" for key, value in outcome.settings.items())
        return f"cells {self.preset}: {settings}" if settings else f"cells {self.preset}"
