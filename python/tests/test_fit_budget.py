"""Does a fit that its budget or Ctrl-C ends leave the best drive so far, say so, and go on from there?"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

import interpulse
from interpulse import Config, ConfigError, RunError
from interpulse.cli import study_progress
from interpulse.fitting import model, phases
from interpulse.fitting.budget import Budget, BudgetSpentError, read_budget
from interpulse.sweeps.engine import ProgressObserver
from tests.test_fit import LITTLE, LOAD

if TYPE_CHECKING:
    from pathlib import Path

FREE = {"key": "host.firmware", "from": "1us", "to": "60us"}


def spec(**more: object) -> dict[str, Any]:
    load = LOAD | {"iops": "30k", "read-mean": "130us"}
    return {"config": LITTLE, "load": [load], "free": [FREE], "requests": 1000, "repetitions": 2, **more}


class Watch(ProgressObserver):
    """Observer that keeps notes and what the folder has; raises Ctrl-C after so many simulations."""

    def __init__(self, folder: Path, interrupt_at: float = math.inf) -> None:
        super().__init__()
        self.notes: list[str] = []
        self.done = 0
        self.ends_at: float | None = None
        self.written: list[str] = []
        self._folder, self._interrupt_at = folder, interrupt_at

    def progress(self, done: int, total: int, workers: int) -> None:  # noqa: ARG002 - as in the base class
        self.done = done
        if (self._folder / "fit.json").exists():
            self.written.append(json.loads((self._folder / "fit.json").read_text())["ended"])
        if done >= self._interrupt_at:
            raise KeyboardInterrupt

    def note(self, line: str) -> None:
        self.notes.append(line)

    def until(self, ends_at: float) -> None:
        self.ends_at = ends_at


def stop_after(monkeypatch: pytest.MonkeyPatch, watch: Watch, simulations: int, phases: int) -> None:
    """Ends the budget of the first phases after so many simulations, as a clock would."""
    begun = 0
    plain = Budget.phase

    def phase(self: Budget, share: float, reserved_s: float = 0.0) -> None:
        nonlocal begun
        begun += 1
        plain(self, share, reserved_s)

    def check(_: Budget) -> None:
        if begun <= phases and watch.done >= simulations:
            raise BudgetSpentError

    monkeypatch.setattr(Budget, "phase", phase)
    monkeypatch.setattr(Budget, "check", check)


def drive(folder: Path) -> str:
    """The drive file, which is a configuration."""
    assert Config.load(folder / "drive.toml").hash
    return (folder / "drive.toml").read_text()


def test_a_search_that_its_budget_ends_has_the_best_drive_so_far_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    watch = Watch(tmp_path / "o")
    with monkeypatch.context() as inner:
        stop_after(inner, watch, 12, phases=1)
        part = interpulse.fit(spec(), out=tmp_path / "o", jobs=2, progress=watch, budget="1h")
    # 17 points of one parameter under one load.
    plan = (
        "the fit plans at least 17 simulations (17 drives under 1 load), and usually about 100; it ends within 60 min"
    )
    assert plan in watch.notes
    assert watch.ends_at is not None
    assert part.points >= 8
    assert not any(each.determined for each in part.parameters)
    assert all("the budget ended the search" in each.why for each in part.parameters)
    assert any("ended the search: this is the best drive of" in note for note in part.notes)
    assert "drives so far: the budget ended the search; the same command continues" in drive(tmp_path / "o")
    assert json.loads((tmp_path / "o" / "fit.json").read_text())["ended"] == "search"
    # All figures of the best drive are simulated ones.
    assert all(figure.ratio is not None for figure in part.figures)

    rest = interpulse.fit(spec(), out=tmp_path / "o", jobs=2, budget="none")
    fresh = interpulse.fit(spec(), out=tmp_path / "new", jobs=2, budget="none")
    assert rest.kept >= 8
    assert rest.simulated + rest.kept == fresh.simulated
    assert rest.drive == fresh.drive
    assert "so far" not in drive(tmp_path / "o")
    assert json.loads((tmp_path / "o" / "fit.json").read_text())["ended"] == "complete"

    def explore(_: object) -> None:
        raise BudgetSpentError

    # Everything is stored: only the exploration of rivals is missing.
    monkeypatch.setattr("interpulse.fitting.phases.ConfidenceRegion.explore", explore)
    part = interpulse.fit(spec(), out=tmp_path / "new", jobs=2)
    assert not any(each.determined for each in part.parameters)
    assert "the budget ended the exploration of drives that fit as well; " in part.parameters[0].why
    assert part.parameters[0].within is not None


def test_the_folder_has_the_best_drive_while_the_fit_runs_and_after_ctrl_c(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(phases, "WRITE_S", 0.0)
    watch = Watch(tmp_path / "o", interrupt_at=16)
    with pytest.raises(KeyboardInterrupt):
        interpulse.fit(spec(), out=tmp_path / "o", jobs=2, progress=watch, budget="none")
    assert "under way" in watch.written
    text = drive(tmp_path / "o")
    assert "drives so far: the search is under way; the same command continues from there" in text
    assert "(mean of 1 seeds)" in text


def test_a_budget_that_ends_before_one_drive_is_known_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def spent(*_: object) -> None:
        raise BudgetSpentError

    # Ended by a clock, a fast machine would have simulated a drive already.
    monkeypatch.setattr(model.Model, "_round", spent)
    with pytest.raises(RunError, match=r"the budget of 5 min ended before one drive was simulated .* longer --budget"):
        interpulse.fit(spec(), out=tmp_path / "o", jobs=1)
    assert not (tmp_path / "o" / "drive.toml").exists()


@pytest.mark.parametrize(("text", "seconds"), [("5min", 300.0), ("90s", 90.0), ("2h", 7200.0), ("none", math.inf)])
def test_budgets_are_durations(text: str, seconds: float) -> None:
    assert read_budget(text, "budget") == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "0s", "-1min", "soon", "10ms", "5 parsecs", "None"])
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=f"budget: seen {text!r}; expected"):
        read_budget(text, "budget")


def test_phases_leave_time_for_the_measurement_of_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    clock = Budget(100)
    clock.phase(0.5, 20)
    clock.check()
    now = 1036.9
    clock.check()
    now = 1037.1
    with pytest.raises(BudgetSpentError):
        clock.check()
    clock.phase(1.0, 1e6)
    # At most half of the budget is kept.
    now = 1049.9
    clock.check()
    clock.phase(1.0)
    now = 1100.1
    with pytest.raises(BudgetSpentError):
        clock.check()


def test_progress_of_a_search_says_at_least_and_its_time_left_never_rises(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    with study_progress.watch_engine("fit", grows=True) as watcher:
        assert isinstance(watcher, ProgressObserver)
        for done, total in ((0, 66), (50, 66), (66, 130), (200, 330)):
            watcher.progress(done, total, 2)
            now += 10
        watcher.until(now + 600)
        for done in range(330, 930, 10):
            watcher.progress(done, done + 1 + (done * 7919) % 200, 2)
            now += 10
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "fit: 0 of at least 66 simulations"
    assert lines[3] == "fit: 200 of at least 330 simulations, 30 s so far"
    assert all(" of at least " in line for line in lines)
    assert lines[4].endswith("at most 10 min left")
    left = [line.rpartition("at most ")[2].split()[:2] for line in lines[4:] if "at most" in line]
    seconds = [float(value) * {"s": 1, "min": 60}[unit] for value, unit in left]
    assert len(seconds) > 50
    assert seconds == sorted(seconds, reverse=True)


def test_loads_of_held_out_figures_are_simulated_for_the_answer_only(tmp_path: Path) -> None:
    """They change neither the search nor its answer, and their figures have as many seeds as the others."""
    other = LOAD | {"name": "deep", "depth": 8, "iops": "60k", "held-out": True}
    watch = Watch(tmp_path / "o")
    alone = interpulse.fit(spec(), out=tmp_path / "alone", jobs=2, budget="none")
    both = interpulse.fit(
        spec(load=[*spec()["load"], other]), out=tmp_path / "o", jobs=2, progress=watch, budget="none"
    )
    assert both.simulated == alone.simulated + both.seeds
    assert [each.value for each in both.parameters] == [each.value for each in alone.parameters]
    assert [each.to_dict() for each in both.used] == [each.to_dict() for each in alone.used]
    (predicted,) = both.held_out
    assert predicted.simulated is not None
    assert predicted.interval is not None
    assert predicted.tolerance > predicted.target.tolerance
    assert any("under 1 load; 1 load of held-out figures only for the answer)" in note for note in watch.notes)
