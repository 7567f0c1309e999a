"""Do cases of a study wait for nothing but a core?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interpulse import Config
from interpulse.cache import Cache
from interpulse.runner import Options, execute
from interpulse.studies import pool
from interpulse.studies.case import Case, Job
from tests.experiment_sample import DRIVE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pytest

    from interpulse._core import Progress


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

    pool.Here(Options(jobs=2, cache=Cache.default(tmp_path))).simulate(jobs, Silent(), keep)
    assert calls == [["a #1", "a #2", "c", "b"]]
    assert {job.name: kept[job.identity]["host_requests"] for job in jobs} == {
        "a #1": 1000,
        "a #2": 1000,
        "b": 2000,
        "c": 1000,
    }
    assert all(kept[job.identity]["case"] == job.name for job in jobs)


def test_what_has_ended_counts_once() -> None:
    """A case that has ended is kept, and counted there; the view adds the share of those that run."""
    from interpulse.cli.study_progress import fraction

    assert fraction(_Told("run", 30, 120)) == 0.25
    assert fraction(_Told("done", 120, 120)) == 0.0
    assert fraction(_Told("precondition", 60, 120)) == 0.0


class _Told:
    def __init__(self, phase: str, done: int, total: int) -> None:
        self.case, self.phase, self.done, self.total, self.unit = "a", phase, done, total, "requests"
