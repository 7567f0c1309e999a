"""Multi-objective optimisation: Optuna proposes, the sweep engine evaluates, a database stores.

Batches have a fixed size, the generator of a trial is seeded by the study's seed and the trial's number, and results
are reported to Optuna in order: trials depend neither on the number of workers nor on interruptions.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError, RunError
from interpulse.configuration.installation import command
from interpulse.configuration.values import whole
from interpulse.files.paths import named
from interpulse.lifetime.expected import check_lives, expected
from interpulse.runs.result import Result
from interpulse.search.front import front_files
from interpulse.search.study import Study
from interpulse.search.trials import Trial, front_of, may_cut, measure
from interpulse.studies.store import build_id
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.engine import AGAIN, ProgressObserver, observer_of
from interpulse.sweeps.simulations import Simulations

if TYPE_CHECKING:
    from collections.abc import Callable

    import optuna
    from distributed import Client
    from distributed.deploy import Cluster
    from sqlalchemy import Engine

NAME = "trials.json"
DATABASE = "study.db"
_DEFINITION = "interpulse"
_FOUND = "found"
LIFE = "expected life"
"""Name of the constraint on the life of the drive; constraints of files have no blanks."""


@dataclass
class Optimization:
    """Outcome of a study.

    Attributes:
        study: the study file.
        trials: all trials in order.
        front: sound trials that no other dominates, sorted by the first objective.
        simulated: simulations that this call ran.
        kept: simulations from earlier calls.
        page: the plot of the front.
    """

    study: Study
    trials: list[Trial]
    front: list[Trial]
    simulated: int
    kept: int
    folder: Path
    page: Path | None
    store: Any

    def result(self, trial: Trial, seed: int = 0) -> Result:
        """The result of a trial with one of its seeds, counted from 0.

        Raises:
            ValueError: no result.
        """
        from interpulse.runs.result import Result

        key = trial.keys[seed] if seed < len(trial.keys) else None
        answer = None if key is None else self.store.get(key)
        if answer is None or "raw" not in answer:
            raise ValueError(trial.error or f"trial {trial.number} has no result with seed {seed}")
        return Result(answer["raw"])

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        objectives = {each.name: "maximise" if each.maximise else "minimise" for each in self.study.objectives}
        return {
            "objectives": objectives,
            "front": [each.number for each in self.front],
            "trials": [each.to_dict() for each in self.trials],
            "simulated": self.simulated,
            "kept": self.kept,
        }

    def __repr__(self) -> str:
        return f"Optimization({len(self.trials)} trials, {len(self.front)} on the front, in {self.folder})"


def optimize(
    study: Mapping[str, Any] | str | PathLike[str],
    *,
    out: str | PathLike[str] | None = None,
    storage: str | None = None,
    trials: int | None = None,
    on: str | PathLike[str] | Client | Cluster | None = None,
    jobs: int | None = None,
    progress: ProgressObserver | Callable[[int, int, int], None] | None = None,
) -> Optimization:
    """Runs the missing part of a study.

    Args:
        study: the path of a study file (docs/SEARCH.md), or a dictionary with its keys.
        out: the output folder; default: the file's name without `.toml`, in the working folder.
        storage: URL of the database, such as `postgresql://HOST/NAME`; default: an SQLite file in the folder.
        trials: total number of trials, in place of the number in the file.
        on: as for `interpulse.sweep`.
        jobs: local workers, by default one per core; never changes a trial.
        progress: called with the numbers of finished, requested and concurrent simulations.

    Returns:
        All trials and the Pareto front.

    Raises:
        ConfigError: the file or its configuration cannot be used, the study was begun with a different space, or the
            cluster or the database is unavailable.
        RunError: the cluster or the database was lost, or writing failed; finished simulations are kept.
        KeyboardInterrupt: Ctrl-C; finished simulations are kept.
    """
    spec, observer = Study.of(study), observer_of(progress)
    if find_spec("optuna") is None:
        raise ConfigError(f"an optimisation needs optuna: {command('search')}")
    total = spec.trials if trials is None else whole("trials", trials, "how many trials there are to be", 1, 1_000_001)
    folder = named(out, "out") if out is not None else Path(spec.name)
    with Simulations(spec.config, folder, observer, on=on, jobs=jobs) as simulations, _alone(folder):
        _check(spec, simulations)
        with _database(storage or spec.storage, folder) as opened:
            conductor = _Conductor(spec, simulations, opened, total)
            conductor.run()
            every = conductor.trials()
        front = front_of(spec, every)
        # Counted before the pages read results once more.
        kept, store = simulations.kept, simulations.store
        found = Optimization(spec, every, front, simulations.simulated, kept, folder, None, store)
        _write_trials(found, simulations)
        for name, content in front_files(spec, every, front, lambda t: _run(found, t, simulations), observer.note):
            place = simulations.write(name, content)
            found.page = place if "/" not in name else found.page
        _write_trials(found, simulations)
        return found


def _write_trials(found: Optimization, simulations: Simulations) -> None:
    simulations.write(NAME, (json.dumps(found.to_dict(), indent=1) + "\n").encode())


def _run(found: Optimization, trial: Trial, simulations: Simulations) -> tuple[Result, list[dict[str, str]]]:
    """The first result of a trial, simulated again if its answer is damaged or missing, and its settings."""
    sets = (*found.study.sets, *trial.sets)
    entries = [
        {"key": e.key, "value": e.value, "origin": e.origin, "doc": e.doc} for e in simulations.plan(sets).entries()
    ]
    (raw,) = simulations.results([simulations.with_seed(sets, 0)])
    found.simulated = simulations.simulated
    return Result(raw), entries


def _check(study: Study, simulations: Simulations) -> None:
    def legal(sets: Sets) -> str | None:
        try:
            simulations.plan((*study.sets, *sets))
        except ConfigError as error:
            return str(error)
        return None

    study.check(legal)
    if study.life is not None:
        check_lives(simulations, {study.case: study.sets}, study.life)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Locks the folder against a second driver, which would run the same trials."""
    descriptor = os.open(folder / "study.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"--out {folder}: another optimisation is running in this folder; wait for it, or name another"
            ) from None
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _database(url: str | None, folder: Path) -> Iterator[optuna.storages.BaseStorage]:
    """The database of trials, with its errors turned into ConfigError and RunError."""
    import optuna
    from sqlalchemy import Engine, event
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    where = url or f"sqlite:///{(folder / DATABASE).absolute()}"
    shown = where if "@" not in where else where.split("//")[0] + "//...@" + where.split("@", 1)[1]
    with warnings.catch_warnings(), ExitStack() as ends:
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        event.listen(Engine, "connect", _in_a_log)
        ends.callback(event.remove, Engine, "connect", _in_a_log)
        try:
            # The default driver of `postgresql:` differs between versions of SQLAlchemy.
            storage = optuna.storages.RDBStorage(re.sub("^postgres(ql)?:", "postgresql+psycopg:", where))
        except (ArgumentError, NoSuchModuleError, ModuleNotFoundError, ImportError) as error:
            raise ConfigError(
                f"storage {shown}: {_first(error)}; expected the URL of a database, such as sqlite:///study.db or "
                "postgresql://USER@HOST/NAME (which needs pip install 'psycopg[binary]')"
            ) from None
        except (SQLAlchemyError, RuntimeError, OSError) as error:
            raise ConfigError(f"storage {shown}: it cannot be used: {_first(error)}") from None
        hint = _REMAKE.format(DATABASE) if url is None else "restore it from a copy, or name another storage"
        try:
            if storage.engine.dialect.name == "sqlite":
                _check_sqlite(storage.engine)
            yield storage
        except _DamagedError as error:
            raise RunError(f"storage {shown}: it is damaged: {error}; {hint}") from None
        except (SQLAlchemyError, optuna.exceptions.StorageInternalError) as error:
            again = hint if "malformed" in str(error) else AGAIN
            raise RunError(f"storage {shown}: {_first(error)}; {again}") from None
        finally:
            storage.remove_session()
            storage.engine.dispose()


class _DamagedError(Exception):
    """The database does not hold what interpulse and Optuna wrote."""


_REMAKE = "delete {} and its -wal and -shm files: the same command makes it again from the simulations in store/"


def _check_sqlite(engine: Engine) -> None:
    """Raises _DamagedError if pages of a SQLite file contradict each other."""
    from sqlalchemy import text

    with engine.connect() as connection:
        found = [str(row[0]) for row in connection.execute(text("PRAGMA integrity_check(1)"))]
    if found != ["ok"]:
        raise _DamagedError(" ".join(found)[:200] or "its check has no answer")


@contextmanager
def _reading() -> Iterator[None]:
    """Turns errors of Optuna and of this file about records that contradict each other into _DamagedError."""
    try:
        yield
    except (KeyError, IndexError, TypeError, AttributeError, AssertionError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise _DamagedError(f"its records cannot be read ({type(error).__name__}: {_first(error)})") from None


def _in_a_log(connection: Any, _: object) -> None:  # noqa: ANN401 - of any database
    """Enables SQLite's write-ahead log: otherwise each of about thirty statements per trial waits for the disk."""
    if type(connection).__module__.startswith("sqlite3"):
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")


def _first(error: BaseException) -> str:
    text = " ".join(str(getattr(error, "orig", None) or error.__cause__ or error).split())
    return text[:300] or type(error).__name__


class _Conductor:
    def __init__(
        self, study: Study, simulations: Simulations, storage: optuna.storages.BaseStorage, total: int
    ) -> None:
        import optuna

        self._study, self._simulations, self._total = study, simulations, total
        self._optuna = optuna
        with _reading():
            there = any(each.study_name == study.name for each in storage.get_all_studies())
            ways = optuna.study.StudyDirection
            directions = [ways.MAXIMIZE if each.maximise else ways.MINIMIZE for each in study.objectives]
            self._opened = optuna.create_study(
                storage=storage,
                study_name=study.name,
                directions=None if there else directions,
                load_if_exists=True,
            )
            self._same_space()

    def _same_space(self) -> None:
        """Raises ConfigError if the study was begun with another definition."""
        own = self._study.definition(self._simulations.plain) | {"build": build_id()}
        known = self._opened.user_attrs.get(_DEFINITION)
        if known is None and not self._opened.get_trials(deepcopy=False):
            self._opened.set_user_attr(_DEFINITION, own)
            return
        if known == own:
            return
        what = "it was not begun by interpulse" if known is None else "; ".join(_differences(known, own))
        raise ConfigError(
            f"{self._study.path}: study {self._study.name} was begun with a different space: {what}. Its trials cannot "
            "be compared with new ones: name another --out (or storage), or take the change back"
        )

    def run(self) -> None:
        """Runs batches until there are enough trials, an unfinished batch first."""
        batch = self._study.batch
        while True:
            with _reading():
                trials = self._opened.get_trials(deepcopy=False)
                self.trials()
            unfinished = [each.number for each in trials if not each.state.is_finished()]
            if not unfinished and len(trials) >= self._total:
                return
            end = min(self._total, (len(trials) // batch + 1) * batch) if not unfinished else len(trials)
            if unfinished and any(not self._complete(trials[number]) for number in unfinished):
                # Killed while Optuna proposed the batch: no trial of the batch has been reported.
                end = max(end, min(self._total, (unfinished[-1] // batch + 1) * batch))
            asked = [self._ask(number, trials) for number in [*unfinished, *range(len(trials), end)]]
            self._answer(asked)

    def _complete(self, trial: optuna.trial.FrozenTrial) -> bool:
        return _FOUND in trial.user_attrs

    def _ask(self, number: int, trials: list[optuna.trial.FrozenTrial]) -> tuple[optuna.trial.Trial, Trial]:
        self._opened.sampler = self._sampler(number)
        if number < len(trials):
            asked = self._optuna.trial.Trial(self._opened, trials[number]._trial_id)  # noqa: SLF001 - as Optuna's own
        else:
            asked = self._opened.ask()
        columns: dict[str, Any] = {}
        sets: dict[str, str] = {}
        for parameter in self._study.parameters:
            if not parameter.active(columns):
                columns |= dict.fromkeys(parameter.axis.columns)
                continue
            choices = parameter.axis.choices
            if parameter.ordered:
                at = asked.suggest_int(parameter.name, 0, len(choices) - 1)
            else:
                at = asked.suggest_categorical(parameter.name, list(range(len(choices))))
            columns |= dict(choices[at].columns)
            sets |= dict(choices[at].sets)
        found = Trial(asked.number, columns, tuple(sets.items()))
        asked.set_user_attr(_FOUND, {"columns": columns, "sets": [list(each) for each in found.sets]})
        return asked, found

    def _sampler(self, number: int) -> optuna.samplers.BaseSampler:
        digest = hashlib.sha256(f"interpulse study {self._study.seed} {number}".encode()).digest()
        seed = int.from_bytes(digest[:4])
        samplers = self._optuna.samplers
        found: optuna.samplers.BaseSampler
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self._study.sampler == "random":
                found = samplers.RandomSampler(seed=seed)
            elif self._study.sampler == "nsga-ii":
                found = samplers.NSGAIISampler(population_size=max(2, 2 * self._study.batch), seed=seed)
            else:
                found = samplers.TPESampler(n_startup_trials=2 * self._study.batch, seed=seed)
        return found

    def _answer(self, asked: list[tuple[optuna.trial.Trial, Trial]]) -> None:
        """Runs and reports trials: the first seed of all, then the other seeds of the trials that are not cut."""
        study, simulations = self._study, self._simulations
        known = self.trials()

        def seeds(trial: Trial, repetitions: range) -> list[Sets]:
            return [simulations.with_seed((*study.sets, *trial.sets), repetition) for repetition in repetitions]

        firsts = simulations.run([seeds(trial, range(1))[0] for _, trial in asked])
        measured = [measure(study, trial, [answer]) for (_, trial), answer in zip(asked, firsts, strict=True)]
        cuts = ["" if study.repetitions == 1 else may_cut(study, each, known) for each in measured]
        going = [at for at, cut in enumerate(cuts) if not cut and not measured[at].error and study.repetitions > 1]
        rest = iter(
            simulations.run([s for at in going for s in seeds(asked[at][1], range(1, study.repetitions))])
            if going
            else []
        )
        for at in going:
            answers = [firsts[at], *(next(rest) for _ in range(1, study.repetitions))]
            measured[at] = measure(study, asked[at][1], answers)
        for found, cut in zip(measured, cuts, strict=True):
            found.cut = cut
        self._live([found for found in measured if found.feasible and not found.cut])
        for (trial, plain), found in zip(asked, measured, strict=True):
            keys = [simulations.key(sets) for sets in seeds(plain, range(found.seeds))]
            found.keys = [key for key in keys if key is not None]
            self._report(trial, found)

    def _live(self, trials: list[Trial]) -> None:
        """Adds the expected life of trials, where one is demanded, as a constraint."""
        study = self._study
        if study.life is None or not trials:
            return
        asked = [(study.case, (*study.sets, *trial.sets), ()) for trial in trials]
        try:
            lives = expected(self._simulations, asked, study.life, study.repetitions)
        except ConfigError as error:
            if len(trials) > 1:
                for trial in trials:
                    self._live([trial])
            else:
                (trials[0].objectives, trials[0].error) = {}, str(error)
            return
        for trial, life in zip(trials, lives, strict=True):
            trial.life = life.to_dict()
            trial.excess[LIFE] = life.excess

    def _report(self, trial: optuna.trial.Trial, found: Trial) -> None:
        trial.set_user_attr(_FOUND, _kept(found))
        state = self._optuna.trial.TrialState
        if found.error:
            self._opened.tell(trial, state=state.FAIL)
            return
        for name, excess in found.excess.items():
            trial.set_constraint(name, excess)
        self._opened.tell(trial, [found.objectives[each.name] for each in self._study.objectives])

    def trials(self) -> list[Trial]:
        """The finished trials."""
        with _reading():
            every = self._opened.get_trials(deepcopy=False)
            return [_trial(each.number, each.user_attrs[_FOUND]) for each in every if each.state.is_finished()]


def _kept(trial: Trial) -> dict[str, Any]:
    return {
        "columns": dict(trial.columns),
        "sets": [list(each) for each in trial.sets],
        "objectives": trial.objectives,
        "excess": trial.excess,
        "seeds": trial.seeds,
        "cut": trial.cut,
        "marks": trial.marks,
        "error": trial.error,
        "keys": trial.keys,
        **({"life": dict(trial.life)} if trial.life else {}),
    }


def _trial(number: int, kept: Mapping[str, Any]) -> Trial:
    sets = tuple((key, value) for key, value in kept["sets"])
    return Trial(number, kept["columns"], sets, **{key: kept[key] for key in kept if key not in ("columns", "sets")})


def _differences(known: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[str]:
    """Differences between two definitions, as text."""
    for key in dict.fromkeys([*known, *own]):
        before, now = known.get(key), own.get(key)
        if before == now:
            continue
        if key == "build":
            yield "another build of interpulse made it"
        elif isinstance(before, dict) and isinstance(now, dict):
            for name in dict.fromkeys([*before, *now]):
                if before.get(name) != now.get(name):
                    yield f"{key} {name}: {_short(now.get(name))} now, {_short(before.get(name))} then"
        elif key == "config":
            yield "the configuration has changed"
        else:
            yield f"{key}: {_short(now)} now, {_short(before)} then"


def _short(value: object) -> str:
    if value is None:
        return "none"
    text = json.dumps(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
