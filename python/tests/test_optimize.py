"""Does an optimisation find the front, keep what is known, and refuse what cannot be compared?"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import interpulse
from interpulse import ConfigError
from interpulse.cli import run_app
from interpulse.search.study import Study
from interpulse.search.trials import Trial, dominates, front_of, may_cut
from interpulse.sweeps import simulations
from interpulse.sweeps.expression import Expression
from tests.sample import ROOT
from tests.test_search_limits import result

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DRIVE = """[config]
config_version = 1
drive = "a4-mini"
run.requests = 300
run.warmup = "0s"
precondition.fill = "50%"
flow = [{ name = "mixed", depth = 2, read = 0.5 }]
"""
HEAD = """trials = 12
batch = 4
repetitions = 2
sampler = "random"
"""
SPACE = """[[parameter]]
key = "suspend.erase.scheme"
name = "erase"
values = ["none", "immediate", "timeout"]
[[parameter]]
key = "suspend.erase.defer-after"
name = "defer"
log-range = { from = "1ms", to = "16ms", factor = 4 }
when = "erase == 'timeout'"
[[objective]]
name = "read"
minimise = "read_p99_us"
[[objective]]
name = "speed"
maximise = "iops"
[constraints]
tail = "read_p99_us <= 2000"
"""
STUDY = HEAD + DRIVE + SPACE

READS = {"none": (5000.0, 100.0), "immediate": (100.0, 50.0), "timeout": (800.0, 90.0)}
"""Read p99 and requests a second of the pretended drive."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


class Pretended:
    """A drive that needs no simulation."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[dict[str, str]] = []
        self.dies_after: int | None = None
        self.few: tuple[str, ...] = ()
        drive = self

        def run(_: simulations.Simulations, wanted: Sequence[Any]) -> list[dict[str, Any]]:
            return [drive.answer(dict(sets)) for sets in wanted]

        monkeypatch.setattr(simulations.Simulations, "run", run)
        monkeypatch.setattr(simulations.Simulations, "key", lambda *_: None)
        # Its results have no pages.
        monkeypatch.setattr("interpulse.search.optimize.front_files", lambda *_: iter(()))

    def answer(self, sets: dict[str, str]) -> dict[str, Any]:
        self.asked.append(sets)
        if self.dies_after is not None and len(self.asked) > self.dies_after:
            raise KeyboardInterrupt
        read, iops = READS[sets["suspend.erase.scheme"]]
        defer = sets.get("suspend.erase.defer-after", "0ms")
        made = result(read + float(defer.removesuffix("ms")), few=self.few)
        return {"raw": {**made, "iops": iops}}


@pytest.fixture
def drive(monkeypatch: pytest.MonkeyPatch) -> Pretended:
    return Pretended(monkeypatch)


def trials(found: interpulse.Optimization) -> list[dict[str, Any]]:
    return [each.to_dict() for each in found.trials]


def test_the_front_is_found_and_what_misses_is_cut(file: Path, tmp_path: Path, drive: Pretended) -> None:
    found = interpulse.optimize(file, out=tmp_path / "o")
    assert len(found.trials) == 12
    assert [dict(each.columns) for each in found.front] == [
        {"erase": "immediate", "defer": None},
        {"erase": "timeout", "defer": "1ms"},
    ]
    missed = [each for each in found.trials if each.columns["erase"] == "none"]
    assert missed
    assert all(each.cut == "its first seed misses tail by 150 %" and each.seeds == 1 for each in missed)
    assert all(each.seeds == 2 for each in found.trials if each not in missed)
    told = json.loads((tmp_path / "o" / "trials.json").read_text())
    assert told["front"] == [each.number for each in found.front]
    # Again: nothing is asked; with more trials, only those.
    before = len(drive.asked)
    assert trials(interpulse.optimize(file, out=tmp_path / "o")) == trials(found)
    assert len(drive.asked) == before
    more = interpulse.optimize(file, out=tmp_path / "o", trials=13)
    assert trials(more)[:12] == trials(found)
    assert 1 <= len(drive.asked) - before <= 2


@pytest.mark.parametrize(
    ("sampler", "dies_after"),
    [
        ("random", 6),
        pytest.param("random", 1, marks=pytest.mark.verify),
        pytest.param("tpe", 9, marks=pytest.mark.verify),
        pytest.param("nsga-ii", 9, marks=pytest.mark.verify),
    ],
)
def test_a_study_that_is_stopped_goes_on_as_if_it_had_not_been(
    sampler: str, dies_after: int, file: Path, tmp_path: Path, drive: Pretended
) -> None:
    file.write_text(STUDY.replace('"random"', f'"{sampler}"'))
    whole = trials(interpulse.optimize(file, out=tmp_path / "whole"))
    drive.asked.clear()
    drive.dies_after = dies_after
    with pytest.raises(KeyboardInterrupt):
        interpulse.optimize(file, out=tmp_path / "stopped")
    drive.dies_after = None
    assert trials(interpulse.optimize(file, out=tmp_path / "stopped")) == whole


def test_what_results_mark_is_not_on_the_front(file: Path, tmp_path: Path, drive: Pretended) -> None:
    drive.few = ("p99",)
    file.write_text(STUDY.replace("trials = 12", "trials = 4"))
    found = interpulse.optimize(file, out=tmp_path / "o")
    assert found.front == []
    assert found.trials[0].marks == ["read p99 rests on too few requests"]
    assert not any(each.cut for each in found.trials), "what is no fact cuts nothing"
    # A percentile that nothing rests on does not matter.
    drive.few = ("p99.999",)
    assert interpulse.optimize(file, out=tmp_path / "p").front


CHANGES = [
    ('"none", "immediate"', '"none", "exact", "immediate"', "parameter erase: "),
    ("factor = 4", "factor = 16", "parameter defer: "),
    ("maximise", "minimise", 'objective speed: ["minimise", "iops"] now, ["maximise", "iops"] then'),
    ("<= 2000", "<= 3000", 'constraints tail: "read_p99_us <= 3000" now, "read_p99_us <= 2000" then'),
    ("repetitions = 2", "repetitions = 3", "repetitions: 3 now, 2 then"),
    ("depth = 2", "depth = 4", "the configuration has changed"),
    ('sampler = "random"', 'sampler = "tpe"', 'sampler: "tpe" now, "random" then'),
]


def test_another_space_is_refused(file: Path, tmp_path: Path, drive: Pretended) -> None:
    interpulse.optimize(file, out=tmp_path / "o", trials=4)
    asked = len(drive.asked)
    for before, after, said in CHANGES:
        assert before in STUDY
        file.write_text(STUDY.replace(before, after))
        with pytest.raises(ConfigError, match="study study was begun with a different space") as caught:
            interpulse.optimize(file, out=tmp_path / "o")
        assert said in str(caught.value)
    assert len(drive.asked) == asked
    file.write_text(STUDY.replace("trials = 12", "trials = 5"))
    assert len(interpulse.optimize(file, out=tmp_path / "o").trials) == 5, "how many there are is no part of it"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("batch = 4", "bath = 4", "study.toml:2: unknown key bath"),
        ('"random"', '"grid"', "study.toml:4: sampler: seen 'grid'; expected one of tpe, nsga-ii, random"),
        ("trials = 12", "trials = 0", "study.toml:1: trials = 0: a number of trials is a whole number from 1"),
        ("batch = 4", "batch = 4\ncut = 0.5", "cut: seen 0.5; expected a factor of at least 1"),
        ("batch = 4", 'case = "x"', "case: seen 'x'; expected one of run"),
        ('key = "suspend.erase.scheme"', 'key = "suspend.erase.shceme"', "unknown key"),
        ('"immediate"', '"magic"', "expected one of none, ideal"),
        ("erase == 'timeout'", "erase == 'tmeout'", "no combination of the parameters above activates it"),
        ("erase == 'timeout'", "eraze == 'timeout'", "seen eraze in"),
        ('minimise = "read_p99_us"', 'minimise = "read_p98_us"', "no such column: did you mean read_p99_us?"),
        ('minimise = "read_p99_us"', 'least = "read_p99_us"', "expected minimise or maximise"),
        ('name = "speed"', 'name = "read"', "seen 'read'; expected a text that no other objective has"),
        ('name = "defer"', 'name = "iops"', "seen the name iops twice"),
        (SPACE, "", "parameter: seen none; expected at least one [[parameter]]"),
    ],
)
def test_mistakes_in_a_study_file_are_said(
    before: str, after: str, said: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert before in STUDY
    file.write_text(STUDY.replace(before, after))
    assert run_app(["optimize", str(file), "--out", str(tmp_path / "o")]) == 2
    told = capsys.readouterr()
    assert (said in told.err, "Traceback" in told.err, told.out) == (True, False, ""), told.err


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("nonsense", "expected the URL of a database"),
        ("oracle9://x/y", "expected the URL of a database"),
        ("sqlite:////no/such/folder/x.db", "it cannot be used: unable to open database file"),
    ],
)
def test_a_database_that_is_not_there_is_said(url: str, said: str, file: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        interpulse.optimize(file, out=tmp_path / "o", storage=url)
    assert said in str(caught.value)


def test_an_excess_says_how_far_a_condition_is_from_holding() -> None:
    row = {"a": 3.0, "b": None}

    def excess(text: str) -> float | None:
        return Expression.read(text, "x").excess(row)

    assert excess("a <= 2") == 0.5
    assert excess("a <= 6") == -0.5
    assert excess("a >= 6") == 0.5
    assert excess("a < 3") == 1e-12
    assert excess("a == 3") == 0
    assert excess("a <= 2 and a > 0") == 1
    assert excess("b <= 2") is None


def test_domination_and_cuts() -> None:
    study = Study.of(ROOT / "examples" / "optimize.toml")
    x, y = (objective.name for objective in study.objectives)

    def trial(number: int, a: float, b: float, **more: Any) -> Trial:  # noqa: ANN401
        return Trial(number, {}, ((str(number), ""),), {x: a, y: b}, seeds=3, **more)

    good, worse, other = trial(0, 10, 10), trial(1, 12, 10), trial(2, 5, 20)
    assert dominates(study, good, worse)
    assert not dominates(study, good, good)
    assert front_of(study, [good, worse, other, trial(3, 1, 1, excess={"writes": 0.1})]) == [other, good]
    assert not dominates(study, good, worse, factor=1.5)
    assert "beyond trial 0" in may_cut(study, trial(4, 16, 16), [good])
    assert may_cut(study, trial(4, 16, 14), [good]) == ""
    assert may_cut(study, trial(4, 16, 16), [trial(0, 10, 10, marks=["x"])]) == ""


def test_a_real_study_has_a_page_whose_points_open_their_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "real.toml"
    text = STUDY.replace("trials = 12", "trials = 4").replace("<= 2000", "<= 1e9")
    # The tail of so few requests would be no fact.
    path.write_text(text.replace("p99_us", "p50_us"))
    assert run_app(["optimize", str(path), "--out", str(tmp_path / "o")]) == 0
    assert "4 trials" in capsys.readouterr().out
    # Simulated once, whoever asks.
    shutil.rmtree(tmp_path / "o" / "runs")
    again = interpulse.optimize(path, out=tmp_path / "o", on="tcp://127.0.0.1:1")
    assert again.simulated == 0
    assert again.front
    assert again.result(again.front[0]).iops == pytest.approx(again.front[0].objectives["speed"], rel=0.2)
    assert again.page is not None
    page = again.page.read_text()
    for trial in again.front:
        link = f"runs/trial-{trial.number}.html"
        assert f'href="{link}"' in page
        assert b"<h1" in (tmp_path / "o" / link).read_bytes()
    assert "OpenURL" in page


@pytest.mark.verify
def test_the_conclusion_of_the_papers_is_found_again(tmp_path: Path) -> None:
    """Kim et al., ATC'19: with a limit on writes deferred or timeout; without one immediate has the best reads."""
    path = ROOT / "examples" / "optimize.toml"
    found = interpulse.optimize(path, out=tmp_path / "with")
    schemes = {each.columns["erase"] for each in found.front}
    assert schemes
    assert schemes <= {"deferred", "timeout"}
    # `deferred` is a timeout of nothing, and chance decides which of the short ones is on the front.
    deferred = next(each for each in found.trials if each.columns["erase"] == "deferred")
    assert deferred.feasible
    assert any(
        all(deferred.objectives[name] < 1.05 * value for name, value in each.objectives.items()) for each in found.front
    )
    immediate = next(each for each in found.trials if each.columns["erase"] == "immediate")
    assert immediate.excess["writes"] > 0.1
    free = tmp_path / "free.toml"
    free.write_text(path.read_text().rpartition("[constraints]")[0])
    without = interpulse.optimize(free, out=tmp_path / "without")
    assert without.front[0].columns["erase"] == "immediate"
    best, *others = (each.objectives["read p99.9, us"] for each in without.front)
    assert best < 0.8 * min(others)
