"""Tester: the context of a characterization, with jobs on cells."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from interpulse._core import version
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome, Row, Rows
from interpulse.studies.pool import CellJob
from interpulse.studies.published import Expected, Published
from interpulse.studies.status import Status


@dataclass(frozen=True)
class Job:
    """A job of the core, about one second long."""

    kind: str
    """Name of the kind in the core."""
    request: dict[str, Any]
    """Parameters; the tester adds the seed and the cells."""


@dataclass
class Tester(Context):
    """A run of a characterization.

    Attributes:
        preset: preset of the cells.
        sets: overrides in the order of application, keys such as `cell.ispp.step` and `part.program-pulse`.
        settings: given options that only some kinds have.
        part: the part file over the part of the cells; empty if there is none.
        given: values and sources of that file, by key of the section `[part]`.
        overrides: those of `sets` that are not of the part file.
    """

    preset: str
    sets: list[tuple[str, str]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    part: str = ""
    given: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    overrides: Sequence[tuple[str, str]] = ()
    changes: Sequence[str] = ()
    """Lines on figures of the part file that the cells measured otherwise."""

    def source(self, key: str, value: str, otherwise: str) -> str:
        """The source of a figure of the part: that of the part file where the figure is still the file's."""
        own = self.given.get(key)
        return (
            own[1] if own is not None and own[0] == value and f"part.{key}" not in dict(self.overrides) else otherwise
        )

    def rows(self) -> Rows:
        """An empty table beside the published figures, which apply to the cells of a preset but to no other part."""
        expected = self.expected()
        if not self.part:
            return Rows(expected)
        bare = {row.name: Published(row.name, row.unit, row.figure, Status.OURS) for row in expected.rows.values()}
        return Rows(Expected(expected.source, bare))

    def verdict(self, published: Sequence[Row]) -> str:
        """The verdict; none on another part than the paper's."""
        if not self.part:
            return super().verdict(published)
        return f"no verdict: the published figures are of other cells than the part {self.part}"

    def ask(self, jobs: Iterable[Job]) -> list[dict[str, Any]]:
        """Runs jobs on the cells, or reads their answers from the store.

        Returns:
            The answers, in the order of the jobs.

        Raises:
            ConfigError: a request cannot be used.
            KeyboardInterrupt: Ctrl-C; what had ended by then is in the store.
        """
        whole = {"seed": self.seed, "preset": self.preset, "set": self.sets}
        # Sorted keys: equal requests have equal bytes.
        asked = [CellJob(j.kind, json.dumps(whole | j.request, sort_keys=True, allow_nan=False)) for j in jobs]
        self._asked.update(each.identity for each in asked)
        return self.answers(asked, lambda missing: self.doer.compute(missing, self, self.keep))

    def chosen(self) -> Sequence[tuple[str, str]]:
        """Overrides of the cells."""
        return self.overrides if self.part else self.sets

    def head(self) -> str:
        """Origin of a result in one line."""
        given = self.chosen()
        sets = "".join([f", part {self.part}"] * bool(self.part) + [f", {key}={value}" for key, value in given])
        made = f"interpulse {version} characterize {self.name} ({self.how})"
        return f"{made}, seed {self.seed}, config {self.config_hash()}{sets}"

    def json_head(self, outcome: Outcome) -> dict[str, Any]:
        """Fields of `--json` before the rows."""
        sets = [f"{key}={value}" for key, value in self.sets]
        return {"cells": {"preset": self.preset, "set": sets, **outcome.settings}, **outcome.figures}

    def preface(self, outcome: Outcome) -> str:
        """Lines between the head and the table."""
        settings = ", ".join(f"{key.replace('_', '-')} {value}" for key, value in outcome.settings.items())
        return f"cells {self.preset}: {settings}" if settings else f"cells {self.preset}"
