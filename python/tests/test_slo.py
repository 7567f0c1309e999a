"""Is the load that a configuration is said to sustain the one that it sustains, and is nothing run twice for it?"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

import interpulse
from interpulse import ConfigError
from interpulse.cli import run_app
from interpulse.search.slo import STEP
from interpulse.sweeps import simulations
from tests.test_search_limits import result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

DRIVE = """config_version = 1
drive = "a4-mini"
run.requests = 2000
run.warmup = "0s"
precondition.fill = "50%"
flow = [{ name = "mixed", pacing = "open", rate = "5000/s", read = 0.9 }]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "drive.toml"
    path.write_text(DRIVE)
    return path


def answer(
    of: Callable[[float, int], dict[str, Any]], monkeypatch: pytest.MonkeyPatch, key: str = "flow.0.rate"
) -> None:
    """Lets a function of load and seed stand for the simulator."""

    def results(_: simulations.Simulations, asked: Sequence[Any]) -> list[dict[str, Any]]:
        return [of(float(dict(sets)[key].rstrip("/s")), int(dict(sets)["seed"])) for sets in asked]

    monkeypatch.setattr(simulations.Simulations, "results", results)


@pytest.mark.parametrize("limit_at", [333.0, 5000.0, 41_234.0, 2e6])
def test_the_answer_holds_the_load_at_which_the_limit_is_reached(
    limit_at: float, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Latency is proportional to the load, give or take a percent by seed.
    answer(lambda load, seed: result(1000 * load / limit_at * (1 + seed % 7 * 0.001)), monkeypatch)
    found = interpulse.slo(file, {"read-p99.9": "1ms"}, out=tmp_path / "o").cases[0]
    assert found.sustains is not None
    assert found.fails is not None
    assert found.sustains < limit_at < found.fails * 1.01
    assert found.fails / found.sustains < 1.12
    assert found.binding == "read p99.9"
    assert len(found.tried) < 25


def test_what_is_not_shown_lies_within_the_interval(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # From 10,000 to 20,000 a second one window in some is not steady, whatever its latency.
    def of(load: float, seed: int) -> dict[str, Any]:
        open_ = 10_000 <= load <= 20_000
        return result(10 if load <= 20_000 else 2000, verdict="no" if open_ and seed % 2 else "yes", halves=(2.0, 1.0))

    answer(of, monkeypatch)
    found = interpulse.slo(file, {"read-p99.9": "1ms"}, out=tmp_path / "o", seeds=6).cases[0]
    assert found.sustains is not None
    assert found.fails is not None
    assert 10_000 / 1.06 < found.sustains < 10_000
    assert 20_000 < found.fails < 20_000 * 1.06
    assert {each.times for each in found.tried} == {1.0, 4.0}, "what was open was tried with longer windows"


def test_a_limit_that_is_never_reached_or_always_missed_is_said(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(lambda *_: result(10), monkeypatch)
    found = interpulse.slo(file, {"read-p99.9": "1ms"}, out=tmp_path / "o").cases[0]
    assert (found.fails, found.binding) == (None, "")
    assert found.sustains == 5000 * STEP ** math.floor(math.log(1024, STEP))
    assert found.note == "no load that was tried misses a limit"
    answer(lambda *_: result(1e6), monkeypatch)
    found = interpulse.slo(file, {"read-p99.9": "1ms"}, out=tmp_path / "o").cases[0]
    assert (found.sustains, found.note) == (None, "no load that was tried was shown to hold")


def test_a_depth_is_found_to_the_request(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = interpulse.Config(DRIVE.replace('pacing = "open", rate = "5000/s"', "depth = 3"), path=str(file))
    answer(lambda depth, _: result(999 if depth <= 13 else 1500), monkeypatch, "flow.0.depth")
    found = interpulse.slo(config, {"read-p99.9": "1.1ms"}, out=tmp_path / "o", precision=0.001).cases[0]
    assert (found.sustains, found.fails) == (13, 14)


def test_a_real_drive_in_one_command_and_again_for_nothing(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [str(file), "--read-p99", "2ms", "--seeds", "2", "--precision", "100%", "--out", str(tmp_path / "o")]
    assert run_app(["slo", *options]) == 0
    assert "read p99 at most 2 ms; 2 seeds each" in capsys.readouterr().out
    told = json.loads((tmp_path / "o" / "slo.json").read_text())
    assert told["simulated"] > 4
    (case,) = told["cases"]
    assert case["load"] == "rate"
    assert case.get("sustains", 0) < case["fails_from"]

    # From Python the same for nothing: no cluster is asked for what is there.
    again = interpulse.slo(
        file, {"read_p99": "2ms"}, seeds=2, precision=1.0, out=tmp_path / "o", on="tcp://127.0.0.1:1"
    )
    assert (again.simulated, again.kept) == (0, told["simulated"])
    assert again.to_dict()["cases"] == told["cases"]
    assert "fails from" in repr(again)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no limit is given; expected at least one, such as --read-p99.9 1ms"),
        (["--read-p99.9", "1"], "--read-p99.9: seen '1'; expected a time above 0 with its unit"),
        (["--read-p99.9", "1ms", "--case", "x"], "--case x: there is no such case; expected one of run"),
        (["--read-p99.9", "1ms", "--precision", "2"], "precision = 2.0: expected a share from 0.001 to 1"),
        (["--read-p99.9", "1ms", "--on", "x", "--jobs", "2"], "--jobs is for workers of this machine"),
        (["--read-p95", "1ms"], "No such option: --read-p95"),
    ],
)
def test_mistakes_are_said(
    options: list[str], said: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["slo", str(file), "--out", str(tmp_path / "o"), *options]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert "Traceback" not in told.err


def test_a_configuration_without_a_load_is_refused(tmp_path: Path) -> None:
    text = DRIVE.replace("}]", '}, { name = "closed", depth = 4 }]')
    with pytest.raises(ConfigError, match=r"case run: seen flow\.0\.rate = 5000/s, flow\.1\.depth = 4; expected"):
        interpulse.slo(interpulse.Config(text), {"read-p99": "1ms"}, out=tmp_path / "o")
    with pytest.raises(ConfigError, match="seeds = 1: a number of seeds is a whole number from 2"):
        interpulse.slo(interpulse.Config(DRIVE), {"read-p99": "1ms"}, out=tmp_path / "o", seeds=1)


def test_an_empty_folder_and_one_name_are_what_they_say(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="out: seen an empty name"):
        interpulse.slo(file, {"read-p99": "1ms"}, out="")
    with pytest.raises(ConfigError, match="--case steady: there is no such case; expected one of run"):
        interpulse.slo(file, {"read-p99": "1ms"}, out=tmp_path / "o", cases="steady")
