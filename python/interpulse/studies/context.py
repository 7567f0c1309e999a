"""Context of a study: options, files and job execution that survives an interruption."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from interpulse._core import ConfigError, Plan, version
from interpulse.configuration.config import Config
from interpulse.runs.result import Result
from interpulse.runs.runner import Options
from interpulse.studies.case import Case, Job, Sets, derived_seed
from interpulse.studies.outcome import Outcome, Row, Rows
from interpulse.studies.pool import LocalWorkers, RemoteWorkers, Workers
from interpulse.studies.published import Expected
from interpulse.studies.store import Store
from interpulse.studies.verdict import verdict

if TYPE_CHECKING:
    from interpulse.runs.runner import Going


class Reporter:
    """Receiver of the progress of a study; this one ignores it."""

    def study(self, done: int, total: int, running: Sequence[Going]) -> None:
        """Called about ten times a second: jobs done, jobs known so far, and the simulations that run now."""

    def note(self, line: str) -> None:
        """Called for each line that the user should see."""

    def end(self) -> None:
        """Called when the study is over, however it ended."""


@dataclass(frozen=True)
class Form:
    """Names that a kind of study uses."""

    what: str
    """The command, and the first key of `--json`."""
    rows: str
    """The key of the rows beside the published figures, and the name of their CSV file."""
    jobs: str
    """Name of its jobs, such as `simulations`."""


class Identified(Protocol):
    """A job: equal identities give equal answers of the same core."""

    @property
    def identity(self) -> str:
        """A hash of all that determines its answer."""


J = TypeVar("J", bound=Identified)

CORES_ELSEWHERE = 8
"""Cores assumed on a cluster, whose workers come and go; further ones are used too."""

FULL_REPEATS = 3
"""Seeds of a full run for the cases that a study repeats itself."""


@dataclass
class Context:
    """One run of a study.

    Attributes:
        name: of the study among those of its form.
        form: which sort of study it is.
        published: the file of the published figures.
        quick: whether to run short; the rows are the same, their figures rougher.
        seed: the seed that every random stream derives from.
        seeds: number of seeds of the whole study, None where it repeats some cases itself.
        options: how to run here.
        store: answers of earlier runs.
        workers: where jobs run, None for this process.
    """

    name: str
    _: KW_ONLY
    form: Form
    published: Path
    quick: bool = False
    seed: int = 1
    seeds: int | None = None
    options: Options = field(default_factory=Options)
    store: Store = field(default_factory=lambda: Store(None))
    workers: RemoteWorkers | None = None
    reporter: Reporter = field(default_factory=Reporter)
    assume: Sets = field(default_factory=dict)
    """Overrides of every configuration of the study: a choice that the paper does not print, made another way."""
    pace: float | None = None
    """Wall time over drive time, for studies of real programs on a served drive; None for the study's own."""
    stop: Event = field(default_factory=Event)
    """Set from another thread to end the study like Ctrl-C."""
    announced: int = 0
    """Jobs known so far."""
    parts: list[Self] = field(default_factory=list)
    """The same study with each of its seeds, where it is repeated as a whole."""
    _before: int = 0
    _wanted: list[str] = field(default_factory=list)
    _asked: set[Any] = field(default_factory=set)

    @property
    def done(self) -> int:
        """Jobs that have ended, those of earlier runs included."""
        own = self._before + sum(self.store.get(identity) is not None for identity in self._wanted)
        return own + sum(part.done for part in self.parts)

    @property
    def doer(self) -> Workers:
        """The workers that run jobs."""
        return LocalWorkers(self.options) if self.workers is None else self.workers.ranked(self.options.rank)

    @property
    def cores(self) -> int:
        """Cores to keep busy with seeds of this study and with other studies."""
        return self.options.jobs if self.workers is None else CORES_ELSEWHERE

    @property
    def repeats(self) -> int:
        """Seeds of the cases that a study repeats; one where the whole study is repeated."""
        return 1 if self.quick or self.seeds is not None else FULL_REPEATS

    def of_seed(self, repeat: int, options: Options, reporter: Reporter) -> Self:
        """The same study with the seed of a repetition and its own reporter; store and `stop` are shared."""
        part = replace(self, seed=derived_seed(self.seed, repeat), seeds=1, options=options, reporter=reporter)
        return replace(part, announced=0, parts=[], _before=0, _wanted=[], _asked=set())

    @property
    def folder(self) -> Path:
        """The folder of the study's own files."""
        return self.published.parent

    def expected(self) -> Expected:
        """The published figures. Raises ConfigError where the file is invalid."""
        return Expected.load(self.published)

    def rows(self) -> Rows:
        """An empty table beside the published figures."""
        return Rows(self.expected())

    def config(self, file: str) -> Config:
        """A configuration from the study's folder. Raises ConfigError where it cannot be read."""
        config = Config.load(self.folder / file)
        for key, value in self.assume.items():
            config.set(key, value)
        return config

    def traces(self) -> Path | None:
        """The folder of real traces, None where INTERPULSE_TRACES does not name one.

        Raises:
            ConfigError: it does not name a folder.
        """
        named = os.environ.get("INTERPULSE_TRACES")
        if not named:
            return None
        path = Path(named)
        if not path.is_dir():
            raise ConfigError(f"INTERPULSE_TRACES = {named}: there is no such folder")
        return path

    def announce(self, jobs: int) -> None:
        """Sets the expected number of jobs, for the estimate of the time left."""
        self.announced = jobs

    def run(self, cases: Iterable[Case]) -> dict[str, list[Result]]:
        """Simulates cases, or takes their results from the store.

        Returns:
            The results of each case by its name, one for each repetition, in order.

        Raises:
            ValueError: two cases have the same name but not the same configuration.
            ConfigError, RunError, Interrupted: as `interpulse.run`; what had ended by then is in the store.
        """
        if self.seeds is not None:
            # Repeated as a whole: every case once with each seed.
            cases = [replace(case, repeats=1) for case in cases]
        jobs = [Job.of(case, repeat, self.seed) for case in cases for repeat in range(case.repeats)]
        self._asked |= {(job.name, job.identity) for job in jobs}
        for name, times in Counter(name for name, _ in self._asked).most_common(1):
            if times > 1:
                raise ValueError(f"two cases of {self.name} are called '{name}'")
        answers = self.answers(jobs, lambda missing: self.doer.simulate(missing, self, self.keep))
        results: dict[str, list[Result]] = {}
        for job, raw in zip(jobs, answers, strict=True):
            # A stored result does not depend on the path of the configuration or the former name of the case.
            results.setdefault(job.case.name, []).append(Result(raw | {"case": job.name}))
        return results

    def keep(self, answers: Mapping[str, dict[str, Any]]) -> None:
        """Puts answers into the store. Where it cannot be written, the study continues in memory after one note."""
        with self.store.lock:
            was_whole = self.store.whole
            try:
                self.store.put(answers)
            except OSError as error:
                if was_whole:
                    why = error.strerror or error
                    self.note(f"{self.store.path}: {why}; {self.form.jobs} that have ended are kept in memory alone")

    def answers(self, jobs: Sequence[J], do: Callable[[list[J]], None]) -> list[dict[str, Any]]:
        """Answers of jobs, in their order: from the store, or by `do`, which stores each as it ends."""
        missing = {job.identity: job for job in jobs if self.store.get(job.identity) is None}
        self._before = self.done + len(jobs) - len(missing)
        self._wanted = list(missing)
        self.announced = max(self.announced, self._before + len(missing))
        self.progress([])
        do(list(missing.values()))
        found = [self.store.get(job.identity) for job in jobs]
        return [answer for answer in found if answer is not None]

    def plan(self, name: str, config: Config, sets: Sets) -> Plan:
        """Resolves a configuration for a single die; it enters the study's hash under this name.

        Raises:
            ConfigError: it cannot be used.
        """
        own = config.copy()
        for key, value in sets.items():
            own.set(key, value)
        plan = own.resolve(seed=self.seed)
        self._asked.add((name, plan.config_hash))
        return plan

    def config_hash(self) -> str:
        """A hash over all jobs so far, such as the configurations and traces of all cases."""
        return hashlib.sha256(json.dumps(sorted(self.asked())).encode()).hexdigest()[:32]

    def asked(self) -> set[Any]:
        """All jobs so far, of all seeds."""
        return self._asked.union(*(part.asked() for part in self.parts))

    def progress(self, cases: Sequence[Going]) -> None:
        """Reports progress and running simulations. Raises KeyboardInterrupt after `stop` is set."""
        if self.stop.is_set():
            raise KeyboardInterrupt
        self.reporter.study(self.done, self.announced, cases)

    def note(self, line: str) -> None:
        """Passes a line of the simulator on."""
        self.reporter.note(line)

    def head(self) -> str:
        """The run of the study in one line."""
        return f"{self.name} ({self.how}), interpulse {version}, seed {self.seed}, config {self.config_hash()}"

    @property
    def how(self) -> str:
        """Quick or full, and the number of seeds where it is repeated."""
        kind = "quick" if self.quick else "full"
        return kind if self.seeds in (None, 1) else f"{kind}, {self.seeds} seeds"

    def about(self) -> str:
        """The run of the study in a few words, without its settings."""
        return f"{self.how}; seed {self.seed}; config {self.config_hash()}"

    def chosen(self) -> Sequence[tuple[str, str]]:
        """Settings that were chosen for this run."""
        return ()

    def json_head(self, outcome: Outcome) -> dict[str, Any]:
        """Keys of `--json` before the rows."""
        return {"calibrated": outcome.calibrated, **outcome.figures}

    def verdict(self, published: Sequence[Row]) -> str:
        """How far the rows that compare with something published agree, in one sentence."""
        return verdict(published)

    def preface(self, outcome: Outcome) -> str:
        """The lines between the head and the table."""
        return "\n".join(f"calibrated: {key} = {value}" for key, value in outcome.calibrated.items())
