"""Job execution: parallel jobs whose answers are kept even if another job fails or Ctrl-C stops them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

import interpulse._core as _core
from interpulse._core import together
from interpulse.configuration.config import Config
from interpulse.runs.runner import POLL_S, Options, execute
from interpulse.studies.case import Job
from interpulse.studies.overlap import Keep, run_overlapping
from interpulse.studies.threads import Call, Threads

if TYPE_CHECKING:
    from interpulse._core import Plan
    from interpulse.runs.runner import Watcher


@dataclass(frozen=True)
class CellJob:
    """A job on cells for the core: about a second of work."""

    kind: str
    """Its name in the core."""
    text: str
    """The request, JSON."""

    @property
    def identity(self) -> str:
        """A hash of both."""
        return hashlib.sha256(f"{self.kind} {self.text}".encode()).hexdigest()[:32]

    def answer(self) -> dict[str, Any]:
        """Runs it in this thread."""
        answer: dict[str, Any] = json.loads(_core.cell_job(self.kind, self.text))
        return answer


class Workers(Protocol):
    """Executor of jobs: `LocalWorkers`, or a cluster of `sweeps`."""

    def simulate(self, jobs: Sequence[Job], watcher: Watcher, keep: Keep) -> None:
        """Simulates cases and passes each to `keep` soon after it ends."""

    def compute(self, jobs: Sequence[CellJob], watcher: Watcher, keep: Keep) -> None:
        """Runs jobs on cells in the same way."""


class RemoteWorkers(Workers, Protocol):
    """Executor on other machines."""

    def ranked(self, rank: int) -> Workers:
        """The same for a study, or a seed of one, of this rank; lower ranks go first."""


BATCH = 64
"""Cases of one plan. Each takes 0.3 MB until the last one ends, and 5 ms to resolve before the first starts; a state
that is not cached is made once per batch."""


def _batch(jobs: Sequence[Job], options: Options, watcher: Watcher, keep: Keep) -> None:
    plans = [_plan(list(of)) for _, of in groupby(jobs, lambda job: (job.case.config.path, job.case.config.text))]

    def ended(index: int, raw: dict[str, Any]) -> None:
        job = jobs[index]
        if "iops" in raw and not raw.get("interrupted"):
            assert raw["config_hash"] == job.config_hash, f"{job.name}: resolved alone, the case is another one"
            keep({job.identity: raw})

    execute(plans[0] if len(plans) == 1 else together(plans), options, watcher, ended)


def _plan(jobs: Sequence[Job]) -> Plan:
    """The cases of one configuration file."""
    base = jobs[0].case.config
    text = base.text + "".join(
        f"\n[[case]]\nname = {json.dumps(job.name)}\nset = {json.dumps(job.overrides(), ensure_ascii=False)}\n"
        for job in jobs
    )
    return Config(text, path=base.path).resolve()


@dataclass(frozen=True)
class LocalWorkers:
    """Executor in this process."""

    options: Options

    def simulate(self, jobs: Sequence[Job], watcher: Watcher, keep: Keep) -> None:
        """Simulates cases, those of all configuration files side by side. Raises as `interpulse.run`."""
        groups: dict[tuple[str, str], list[Job]] = {}
        for job in jobs:
            groups.setdefault((job.case.config.path, job.case.config.text), []).append(job)
        # Cases of one file are adjacent because they may share a state.
        ordered = [job for group in groups.values() for job in group]
        batches = [ordered[start : start + BATCH] for start in range(0, len(ordered), BATCH)]
        if len(batches) < 2:
            for batch in batches:
                _batch(batch, self.options, watcher, keep)
            return
        options = self.options if self.options.machine is not None else self.options.shared(1)[0]

        def do(batch: Sequence[Job], watcher: Watcher, keep: Keep) -> None:
            _batch(batch, options, watcher, keep)

        run_overlapping(batches, do, watcher, keep, few=max(BATCH // 2, 2 * options.jobs), jobs=options.jobs)

    def compute(self, jobs: Sequence[CellJob], watcher: Watcher, keep: Keep) -> None:
        """Runs jobs on cells, each on its own core.

        At most twice as many threads as cores: more would prolong each job, and with it the reaction to Ctrl-C.

        Raises the error of a job, KeyboardInterrupt, and RunError where the system provides too few threads.
        """
        most = min(self.options.jobs, 2 * (os.cpu_count() or 1))
        given_up = Event()
        running: dict[Call[dict[str, Any] | None], str] = {}
        with Threads[dict[str, Any] | None](most) as threads:
            try:
                for job in jobs:
                    running[threads.submit(self._answer, job, given_up)] = job.identity
                left = len(running)
                while left:
                    ended = threads.ended(POLL_S)
                    left -= len(ended)
                    keep(_answers(ended, running))
                    watcher.progress([])
            except BaseException:
                # A job cannot be interrupted but takes a second: running ones are awaited and kept.
                given_up.set()
                threads.cancel()
                keep(_answers([call for call in running if call.done and call.error is None], running))
                raise

    def _answer(self, job: CellJob, given_up: Event) -> dict[str, Any] | None:
        machine = self.options.machine
        if machine is None:
            return job.answer()
        while not machine.take(self.options.rank, POLL_S):
            if given_up.is_set():
                return None
        try:
            return job.answer()
        finally:
            machine.give()


def _answers(
    calls: Sequence[Call[dict[str, Any] | None]], identities: Mapping[Call[dict[str, Any] | None], str]
) -> dict[str, dict[str, Any]]:
    """The answers of calls that have ended, by the identity of their job; raises the error of one."""
    found = {identities[call]: call.result() for call in calls}
    return {identity: answer for identity, answer in found.items() if answer is not None}
