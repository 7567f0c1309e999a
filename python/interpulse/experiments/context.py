"""What an experiment is given: its options, its files, and a way to run cases that survives an interruption."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError, RunError
from interpulse.config import Config
from interpulse.experiments.case import Job
from interpulse.experiments.expected import FILE, Expected
from interpulse.experiments.outcome import Rows
from interpulse.experiments.store import Store
from interpulse.result import Result
from interpulse.runner import Interrupted, Options, execute

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from interpulse._core import Plan, Progress
    from interpulse.experiments.case import Case, Sets

SETUPS = Path(__file__).parent / "setups"
"""The folder `experiments` of the repository; inside the package it is a link, in a wheel a copy."""

BATCH = 16
"""Cases handed to the simulator at a time: what a killed process can lose at most. Ctrl-C loses none that ended."""


class Reporter:
    """Who is told how far an experiment is; this one keeps silent."""

    def experiment(self, done: int, total: int, running: Sequence[Progress]) -> None:
        """Called about ten times a second: cases done, cases known so far, and those that run now."""

    def note(self, line: str) -> None:
        """Called for each line that the user should see."""


@dataclass
class Context:
    """One run of an experiment.

    Attributes:
        name: the experiment.
        quick: whether half a minute has to do; the rows are the same, their figures rougher.
        seed: the seed that those of all cases derive from.
        options: how to run.
        store: what earlier runs left.
        setups: the folder with a folder for each experiment.
    """

    name: str
    quick: bool = False
    seed: int = 1
    options: Options = field(default_factory=Options)
    store: Store = field(default_factory=lambda: Store(None))
    reporter: Reporter = field(default_factory=Reporter)
    setups: Path = field(default_factory=lambda: SETUPS)
    _done: int = 0
    _announced: int = 0
    _hashes: dict[str, str] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """Simulations that have ended, those of earlier runs included."""
        return self._done

    @property
    def announced(self) -> int:
        """Simulations known so far."""
        return self._announced

    @property
    def folder(self) -> Path:
        """The folder of the experiment's own files."""
        return self.setups / self.name

    def expected(self) -> Expected:
        """The published figures. Raises ConfigError where the file does not stand."""
        return Expected.load(self.folder / FILE)

    def rows(self) -> Rows:
        """An empty table beside the published figures."""
        return Rows(self.expected())

    def config(self, file: str) -> Config:
        """A configuration from the experiment's folder. Raises ConfigError where it cannot be read."""
        return Config.load(self.folder / file)

    def scratch(self) -> Path:
        """A folder for files that the experiment makes and may find again, such as generated traces."""
        path = self.options.cache.folder / "experiments" / self.name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def traces(self) -> Path | None:
        """The folder of real traces, None where INTERPULSE_TRACES does not name one.

        Raises:
            ConfigError: it names something that is no folder.
        """
        named = os.environ.get("INTERPULSE_TRACES")
        if not named:
            return None
        path = Path(named)
        if not path.is_dir():
            raise ConfigError(f"INTERPULSE_TRACES = {named}: there is no such folder")
        return path

    def announce(self, cases: int) -> None:
        """Says how many simulations there will be in all, for the estimate of the time left."""
        self._announced = cases

    def run(self, cases: Iterable[Case]) -> dict[str, list[Result]]:
        """Simulates cases, or takes their results from the store.

        Returns:
            The results of each case by its name, one for each repetition, in order.

        Raises:
            ValueError: two cases have the same name but not the same configuration.
            ConfigError, RunError, Interrupted: as `interpulse.run`; what had ended by then is in the store.
        """
        jobs = [Job.of(case, repeat, self.seed) for case in cases for repeat in range(case.repeats)]
        for job in jobs:
            if self._hashes.setdefault(job.name, job.identity) != job.identity:
                raise ValueError(f"two cases of {self.name} are called '{job.name}'")
        missing = [job for job in jobs if self.store.get(job.identity) is None]
        self._done += len(jobs) - len(missing)
        self._announced = max(self._announced, self._done + len(missing))
        self.reporter.experiment(self._done, self._announced, [])
        for group in _grouped(missing):
            for start in range(0, len(group), BATCH):
                self._batch(group[start : start + BATCH])
        results: dict[str, list[Result]] = {}
        for job in jobs:
            raw = self.store.get(job.identity)
            assert raw is not None, job.name
            # Where the configuration lay does not matter to a kept result, nor what the case was called then.
            results.setdefault(job.case.name, []).append(Result(raw | {"case": job.name}))
        return results

    def plan(self, name: str, config: Config, sets: Sets) -> Plan:
        """Resolves a configuration for the bench of a single die; it enters the experiment's hash under this name.

        Raises:
            ConfigError: it cannot be used.
        """
        own = config.copy()
        for key, value in sets.items():
            own.set(key, value)
        plan = own.resolve(seed=self.seed)
        self._hashes[name] = plan.config_hash
        return plan

    def config_hash(self) -> str:
        """A hash over the configurations and traces of all cases run so far."""
        text = json.dumps(sorted(self._hashes.items()))
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def progress(self, cases: Sequence[Progress]) -> None:
        """Tells the reporter how the running batch goes."""
        self.reporter.experiment(self._done, self._announced, cases)

    def note(self, line: str) -> None:
        """Passes a line of the simulator on."""
        self.reporter.note(line)

    def _batch(self, jobs: list[Job]) -> None:
        """Runs jobs that share a configuration, and keeps every one that ended, however the batch did."""
        base = jobs[0].case.config
        text = base.text + "".join(
            f"\n[[case]]\nname = {json.dumps(job.name)}\nset = {json.dumps(job.overrides(), ensure_ascii=False)}\n"
            for job in jobs
        )
        config = Config(text, path=base.path)
        try:
            result = execute(config.resolve(), self.options, self)
        except Interrupted as stop:
            self._keep(jobs, stop.result)
            raise
        except RunError as error:
            self._keep(jobs, None if error.partial is None else Result.from_json(error.partial))
            raise
        self._keep(jobs, result)

    def _keep(self, jobs: list[Job], result: Result | None) -> None:
        if result is None:
            return
        ended: dict[str, dict[str, Any]] = {}
        for job, case in zip(jobs, result.cases, strict=True):
            if "iops" in case.raw and not case.raw.get("interrupted") and "error" not in case.raw:
                assert case.config_hash == job.config_hash, f"{job.name}: resolved alone, the case is another one"
                ended[job.identity] = {key: value for key, value in case.raw.items() if key != "cases"}
        self._done += len(ended)
        self.store.put(ended)


def _grouped(jobs: list[Job]) -> list[list[Job]]:
    """The jobs by the configuration file that they share, in the order of first appearance."""
    groups: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        groups.setdefault((job.case.config.path, job.case.config.text), []).append(job)
    return list(groups.values())
