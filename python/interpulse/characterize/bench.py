"""What a characterization is given: its options, and a way to do jobs in parallel that survives an interruption."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interpulse import _core
from interpulse.experiments.context import Reporter
from interpulse.experiments.expected import Expected
from interpulse.experiments.outcome import Rows
from interpulse.experiments.store import Store
from interpulse.runner import POLL_S, Options

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PUBLISHED = Path(__file__).parent / "published"
"""The folder of published figures, one file for each kind."""


@dataclass(frozen=True)
class Job:
    """One piece of work of the core, about a second of it."""

    kind: str
    """What the core calls it."""
    request: dict[str, Any]
    """What it takes; the bench adds the seed and the cells."""


@dataclass
class Bench:
    """One run of a characterization.

    Attributes:
        kind: what is characterized.
        preset: the preset of the cells.
        sets: overrides in the order of application, keys such as `cell.ispp.step` and `part.program-pulse`.
        settings: those options that only some kinds have, as far as they were given.
        quick: whether ten seconds have to do; the shape of the results is the same.
        seed: what every random stream derives from.
        options: how to run.
        store: what earlier runs left.
    """

    kind: str
    preset: str
    sets: list[tuple[str, str]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    quick: bool = False
    seed: int = 1
    options: Options = field(default_factory=Options)
    store: Store = field(default_factory=lambda: Store(None))
    reporter: Reporter = field(default_factory=Reporter)
    published: Path = field(default_factory=lambda: PUBLISHED)
    _done: int = 0
    _before: int = 0
    _announced: int = 0
    _asked: set[str] = field(default_factory=set)

    @property
    def done(self) -> int:
        """Jobs that have ended, those of earlier runs included."""
        return self._done

    @property
    def announced(self) -> int:
        """Jobs known so far."""
        return self._announced

    def announce(self, jobs: int) -> None:
        """Says how many jobs there will be in all, for the estimate of the time left."""
        self._announced = jobs

    def rows(self) -> Rows:
        """An empty table beside the published figures. Raises ConfigError where their file does not stand."""
        return Rows(Expected.load(self.published / f"{self.kind}.toml", bounds=True))

    def run(self, jobs: Iterable[Job]) -> list[dict[str, Any]]:
        """Does jobs, or takes their answers from the store.

        Returns:
            The answers, in the order of the jobs.

        Raises:
            ConfigError: a request cannot be used.
            KeyboardInterrupt: Ctrl-C; what had ended by then is in the store.
        """
        wanted = [(job.kind, self._text(job)) for job in jobs]
        names = [_identity(kind, text) for kind, text in wanted]
        self._asked.update(names)
        missing = {name: ask for name, ask in zip(names, wanted, strict=True) if self.store.get(name) is None}
        self._done += len(names) - len(missing)
        self._announced = max(self._announced, self._done + len(missing))
        self.reporter.experiment(self._done, self._announced, [])
        self._do(missing)
        answers = [self.store.get(name) for name in names]
        return [answer for answer in answers if answer is not None]

    def config_hash(self) -> str:
        """A hash over everything that was asked of the cells."""
        return hashlib.sha256(json.dumps(sorted(self._asked)).encode()).hexdigest()[:32]

    def _text(self, job: Job) -> str:
        """The request as the core takes it: the same bytes for the same request."""
        whole = {"seed": self.seed, "preset": self.preset, "set": self.sets, **job.request}
        return json.dumps(whole, sort_keys=True, allow_nan=False)

    def _do(self, missing: dict[str, tuple[str, str]]) -> None:
        """Does what is missing; every job that ends is kept, whatever becomes of the others."""
        with ThreadPoolExecutor(self.options.jobs, thread_name_prefix="interpulse-cells") as pool:
            running = {pool.submit(_core.cell_job, *ask): name for name, ask in missing.items()}
            self._before = self._done
            left = set(running)
            try:
                while left:
                    ended, left = wait(left, POLL_S, FIRST_COMPLETED)
                    self._keep(ended, running)
                    self.reporter.experiment(self._done, self._announced, [])
            except BaseException:
                # A job cannot be cut short, but it lasts a second: the ones that run are waited for and kept.
                pool.shutdown(wait=True, cancel_futures=True)
                self._keep((future for future in running if not future.cancelled() and not future.exception()), running)
                raise

    def _keep(self, ended: Iterable[Future[str]], names: dict[Future[str], str]) -> None:
        # Ctrl-C may come between any two steps: what is stored already is not counted again, what is not is stored.
        new = {names[future]: future for future in ended if self.store.get(names[future]) is None}
        self.store.put({name: json.loads(future.result()) for name, future in new.items()})
        self._done = self._before + sum(self.store.get(name) is not None for name in names.values())


def _identity(kind: str, text: str) -> str:
    """Equal identities give equal answers of the same core."""
    return hashlib.sha256(f"{kind} {text}".encode()).hexdigest()[:32]


def columns(table: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """The keys of equal dictionaries, as the header of a CSV file."""
    return tuple(table[0])
