"""What a characterization is given beside what every study is: cells that do jobs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from interpulse import _core
from interpulse._core import version
from interpulse.studies import pool
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome


@dataclass(frozen=True)
class Job:
    """One piece of work of the core, about a second of it."""

    kind: str
    """What the core calls it."""
    request: dict[str, Any]
    """What it takes; the tester adds the seed and the cells."""


@dataclass(frozen=True)
class _Asked:
    """A job as the core takes it."""

    kind: str
    text: str

    @property
    def identity(self) -> str:
        return hashlib.sha256(f"{self.kind} {self.text}".encode()).hexdigest()[:32]

    def answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(_core.cell_job(self.kind, self.text))
        return answer


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
        asked = [_Asked(job.kind, self._text(job)) for job in jobs]
        self._asked.update(each.identity for each in asked)
        return self.answers(asked, self._do)

    def _text(self, job: Job) -> str:
        """The request: the same bytes for the same request."""
        whole = {"seed": self.seed, "preset": self.preset, "set": self.sets, **job.request}
        return json.dumps(whole, sort_keys=True, allow_nan=False)

    def _do(self, missing: list[_Asked]) -> None:
        if self.workers is None:
            pool.compute(missing, self.options, self, self.keep)
        else:
            self.workers.compute(missing, self, self.keep)

    def head(self) -> str:
        """How a result was made, in one line."""
        sets = "".join(f", {key}={value}" for key, value in self.sets)
        made = f"interpulse {version} characterize {self.name} ({self.how})"
        return f"{made}, seed {self.seed}, config {self.config_hash()}{sets}"

    def told(self, outcome: Outcome) -> dict[str, Any]:
        """What `--json` prints before the rows."""
        sets = [f"{key}={value}" for key, value in self.sets]
        return {"cells": {"preset": self.preset, "set": sets, **outcome.settings}, **outcome.figures}

    def preface(self, outcome: Outcome) -> str:
        """The lines between the head and the table."""
        settings = ", ".join(f"{key.replace('_', '-')} {value}" for key, value in outcome.settings.items())
        return f"cells {self.preset}: {settings}" if settings else f"cells {self.preset}"
