"""Do cases of a study wait for nothing but a core?"""

from __future__ import annotations

import sys
from inspect import CO_GENERATOR
from threading import Barrier, Condition, Event, Lock
from typing import TYPE_CHECKING, Any

import pytest

from interpulse import Config, RunError, _core
from interpulse.files.cache import Cache
from interpulse.runs.runner import Options, execute
from interpulse.studies import pool
from interpulse.studies.case import Case, Job
from interpulse.studies.overlap import run_overlapping
from interpulse.studies.parallel import run_parallel
from tests.experiment_sample import DRIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from types import FrameType

    from interpulse._core import Progress
    from interpulse.runs.runner import Watcher


class Silent:
    """A watcher that says nothing."""

    def progress(self, cases: Sequence[Progress]) -> None:
        pass

    def note(self, line: str) -> None:
        pass


def test_cases_of_all_files_run_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One call of the simulator, which fills its cores from all of them; each answer belongs to its case."""
    calls: list[list[str]] = []

    def call(plan: Any, *rest: Any) -> Any:  # noqa: ANN401 - passed on
        calls.append(plan.case_names)
        return execute(plan, *rest)

    monkeypatch.setattr(pool, "execute", call)
    one, other = (Config.from_toml(DRIVE.replace("4000", count), path=f"{count}.toml") for count in ("1000", "2000"))
    cases = [Case("a", one, repeats=2), Case("b", other), Case("c", one, {"flow.0.depth": 4})]
    jobs = [Job.of(case, repeat, 1) for case in cases for repeat in range(case.repeats)]
    kept: dict[str, Any] = {}

    def keep(answers: Mapping[str, dict[str, Any]]) -> None:
        kept.update(answers)

    pool.LocalWorkers(Options(jobs=2, cache=Cache.default(tmp_path))).simulate(jobs, Silent(), keep)
    assert calls == [["a #1", "a #2", "c", "b"]]
    assert {job.name: kept[job.identity]["host_requests"] for job in jobs} == {
        "a #1": 1000,
        "a #2": 1000,
        "b": 2000,
        "c": 1000,
    }
    assert all(kept[job.identity]["case"] == job.name for job in jobs)


MANY, SIZE, JOBS = 24, 4, 2


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Cases of six batches."""
    monkeypatch.setattr(pool, "BATCH", SIZE)
    return jobs_of(500)


def jobs_of(requests: int) -> list[Job]:
    """Cases of so many requests each."""
    case = Case("a", Config.from_toml(DRIVE.replace("4000", str(requests)), path="many.toml"), repeats=MANY)
    return [Job.of(case, number, 1) for number in range(MANY)]


class Calls:
    """Stands before the simulator: a case of the first batch may end last, and a batch may fail at its end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, slow: bool = False, torn: int | None = None) -> None:
        self.begun, self.ended = 0, 0
        self._slow, self._torn, self._changed = slow, torn, Condition()
        monkeypatch.setattr(pool, "execute", self._call)

    def _call(self, plan: Any, options: Options, watcher: Any, keep: Any) -> Any:  # noqa: ANN401 - passed on
        with self._changed:
            number, self.begun = self.begun, self.begun + 1
        held: list[tuple[int, dict[str, Any]]] = []

        def kept(index: int, raw: dict[str, Any]) -> None:
            if self._slow and number == 0 and not held:
                held.append((index, raw))  # As if it still ran.
                return
            keep(index, raw)
            with self._changed:
                self.ended += 1
                self._changed.notify_all()

        result = execute(plan, options, watcher, kept)
        if number == self._torn:
            raise RunError("torn")
        if held:
            with self._changed:
                # The time is only there so that a failure ends.
                assert self._changed.wait_for(lambda: self.ended == MANY - 1, 60), "others waited for the slowest case"
            keep(*held[0])
        return result


def simulated(jobs: Sequence[Job], folder: Path, kept: dict[str, Any], watcher: Watcher | None = None) -> None:
    """Simulates these, and keeps what ends."""

    def keep(answers: Mapping[str, dict[str, Any]]) -> None:
        kept.update(answers)

    pool.LocalWorkers(Options(jobs=JOBS, cache=Cache.default(folder))).simulate(jobs, watcher or Silent(), keep)


def test_no_batch_waits_for_the_slowest_case_of_another(
    many: list[Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = Calls(monkeypatch, slow=True)
    kept, alone = dict[str, Any](), dict[str, Any]()
    simulated(many, tmp_path, kept)
    assert (calls.begun, set(kept)) == (MANY // SIZE, {job.identity for job in many})
    monkeypatch.setattr(pool, "BATCH", MANY)
    simulated(many, tmp_path, alone)
    figures = ("case", "config_hash", "latency_us", "iops")
    assert [[kept[key][name] for name in figures] for key in alone] == [
        [alone[key][name] for name in figures] for key in alone
    ]


def test_no_more_batches_stand_about_than_may_hold_a_core_each_and_one() -> None:
    """However few cases each of them has left."""
    together, lock = Barrier(JOBS + 1), Lock()
    now, most = [0], [0]

    def do(_: Sequence[int], watcher: Watcher, keep: Any) -> None:  # noqa: ARG001, ANN401 - as batches are done
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        # The time is only there so that a failure ends.
        together.wait(60)
        with lock:
            now[0] -= 1

    run_overlapping([[1]] * 4 * (JOBS + 1), do, Silent(), lambda _: None, few=1000, jobs=JOBS)
    assert most == [JOBS + 1]


def test_no_batch_begins_after_one_that_failed_and_those_beside_it_are_kept(
    many: list[Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = Calls(monkeypatch, torn=1)
    kept = dict[str, Any]()
    with pytest.raises(RunError, match="torn"):
        simulated(many, tmp_path, kept)
    assert 2 <= calls.begun <= JOBS + 2 < MANY // SIZE
    assert len(kept) == SIZE * calls.begun


@pytest.mark.usefixtures("many")
def test_ctrl_c_ends_all_batches_and_what_had_ended_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopping(Silent):
        def progress(self, cases: Sequence[Progress]) -> None:  # noqa: ARG002 - as a watcher
            if len(kept) > 2 * SIZE:
                raise KeyboardInterrupt

    calls = Calls(monkeypatch)
    kept = dict[str, Any]()
    with pytest.raises(KeyboardInterrupt):
        simulated(jobs_of(100_000), tmp_path, kept, Stopping())
    assert 2 * SIZE < len(kept) < MANY
    assert calls.begun < MANY // SIZE


class _Interrupt:
    """Raises KeyboardInterrupt at one step of this thread: a call, line or return of the code that runs."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __enter__(self) -> None:
        self._before = sys.gettrace()
        sys.settrace(self._step)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _step(self, frame: FrameType, *_: object) -> Any:  # noqa: ANN401 - a trace function
        if frame.f_code.co_flags & CO_GENERATOR:
            return None  # Closing one is a step of the trace, but signals do not arrive there.
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return self._step


def _cells() -> None:
    """Five jobs on cells, two at a time."""
    workers = pool.LocalWorkers(Options(jobs=JOBS))
    workers.compute([pool.CellJob("any", str(number)) for number in range(5)], Silent(), lambda _: None)


def _studies() -> None:
    """Five tasks side by side."""
    assert run_parallel([lambda: 1] * 5, 1, Event()) == [1] * 5


def _batches() -> None:
    """Three batches."""
    run_overlapping([[1]] * 3, lambda *_: None, Silent(), lambda _: None, few=1, jobs=1)


@pytest.mark.parametrize("work", [_cells, _studies, _batches])
def test_ctrl_c_at_any_step_ends_the_work(work: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """No step is one after which a lock stays held and the threads, or who waits for them, never end."""
    monkeypatch.setattr(_core, "cell_job", lambda *_: "{}")
    steps, interrupted = 0, True
    while interrupted:
        steps += 1
        try:
            with (step := _Interrupt(steps)):
                work()
        except KeyboardInterrupt:
            continue
        interrupted = step.left <= 0
    assert steps > 100


def test_what_has_ended_counts_once() -> None:
    """A case that has ended is kept, and counted there; the view adds the share of those that run."""
    from interpulse.cli.study_progress import fraction

    assert fraction(_Told("run", 30, 120)) == 0.25
    assert fraction(_Told("done", 120, 120)) == 0.0
    assert fraction(_Told("precondition", 60, 120)) == 0.0


class _Told:
    def __init__(self, phase: str, done: int, total: int) -> None:
        self.case, self.phase, self.done, self.total, self.unit = "a", phase, done, total, "requests"
