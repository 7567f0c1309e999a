"""Are the pairs of schemes ranked by what the drive does, with doubtful figures left out and the costs beside them?"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING, Any

import pytest

import interpulse
from interpulse import Config, ConfigError
from interpulse.cli import run_app
from interpulse.search.candidates import OPERATIONS, schemes
from interpulse.tables.interval_plot import interval_plot
from tests.sample import ROOT
from tests.test_advise import DRIVE
from tests.test_search_limits import pretended, result

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WAITS = {"none": 5000.0, "ideal": 100.0, "exact": 300.0, "immediate": 301.0, "deferred": 900.0}
"""Read tail in us of the pretended drive; for other schemes 700."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "drive.toml"
    path.write_text(DRIVE.replace("run.requests = 300", "run.requests = 30000"))
    return path


def pretend(sets: Mapping[str, str]) -> dict[str, Any]:
    """A drive whose reads wait for the slower operation; `timeout` of programs is unsteady, `deferred` lacks reads."""
    of = {operation: sets.get(f"suspend.{operation}.scheme", "none") for operation in OPERATIONS}
    seed = int(sets["seed"]) % 5
    wait = max(WAITS.get(scheme, 700.0) for scheme in of.values()) * (1 + seed * 0.01)
    redone = 50.0 if of["program"] == "immediate" else 10.0 if of["program"] == "exact" else 0.0
    nand = {"program_redone_time": redone, "program_owed_time": 1000, "erase_owed_time": 1000, "suspend_stress": 0}
    counted = {"programs": 10, "erases": 10, "suspends": dict.fromkeys(OPERATIONS, 20)}
    found = result(
        wait,
        verdict="no" if of["program"] == "timeout" else "yes",
        few=("p99.9",) if of["program"] == "deferred" else (),
        nand=counted,
        counters={"nand": nand, "label": f"{of}"},
        power={"mean_mw": {"total": 100.0 + (0 if of["program"] == "none" else 7)}},
    )
    found["latency_us"]["write"] = dict(found["latency_us"]["read"], **{"p99.9": 50.0 + redone, "few": []})
    return found


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What was asked of the pretended drive."""
    return pretended(monkeypatch, pretend)


def test_every_legal_pair_is_tried_and_the_best_with_all_seeds(
    file: Path, asked: list[dict[str, str]], tmp_path: Path
) -> None:
    found = interpulse.rank(str(file), "read-p99.9", seeds=4, out=tmp_path / "out", without=["loop-boundary"])
    (of,) = found.cases
    legal = {o: schemes().keys() - {"ideal"} - found.refused[o].keys() for o in OPERATIONS}
    tried = {tuple(sets.get(f"suspend.{o}.scheme") for o in OPERATIONS) for sets in asked}
    assert {(p, e) for p in legal["program"] for e in legal["erase"]} <= tried
    assert "loop-boundary" in found.refused["program"]
    assert of.best is not None
    assert [of.best.candidate.program.scheme, of.best.candidate.erase.scheme] == ["exact", "exact"]  # type: ignore[union-attr]
    assert len(of.best.raws) == len(of.none.raws) == len(of.configured.raws) == 4
    values = [pair.value.value for pair in of.ranked if pair.value is not None]
    assert values == sorted(values)
    assert of.best.value is not None
    assert of.best.value.low < of.best.value.value < of.best.value.high  # type: ignore[operator]
    # 300 and 301 us of the same seeds differ by a constant ratio: not within chance.
    assert not any("immediate" in pair.candidate.label for pair in of.as_good)
    raw = json.loads((tmp_path / "out" / "ranking.json").read_text())
    assert raw["cases"][of.case]["ranked"][0]["read p99.9"]["value_us"] == of.best.value.value
    assert raw["cases"][of.case]["ranked"][0]["set"] == dict(of.best.candidate.sets)


def test_what_cannot_be_trusted_is_not_ranked(file: Path, asked: list[dict[str, str]], tmp_path: Path) -> None:
    (of,) = interpulse.rank(str(file), "read-p99.9", out=tmp_path / "out").cases
    assert asked
    reasons = {pair.candidate.program.scheme: pair.doubt for pair in of.doubtful if pair.candidate.program}
    assert reasons == {"timeout": "1 of 1 windows not steady", "deferred": "fewer than ten requests beyond p99.9"}
    assert not {"timeout", "deferred"} & {pair.candidate.program.scheme for pair in of.ranked if pair.candidate.program}


def test_the_page_answers_and_names_the_cost(
    file: Path, asked: list[dict[str, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run_app(["advise", str(file), "--rank", "read-p99.9", "--out", str(out)]) == 0
    assert asked
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("lowest read p99.9: programs exact; erases exact: 30")
    assert "without suspension, -94 %" in text
    assert (
        "its cost against no suspension: write p99.9 50.0 us -> 60.0 us (+20 %); power +7 %; 0.5 % more die time"
        in text
    )
    assert "not ranked: timeout + none; timeout + " in text
    assert "more: 1 of 1 windows not steady" in text
    assert (out / "ranking.png").read_bytes().startswith(b"\x89PNG")
    ElementTree.parse(out / "ranking.svg")


def test_a_load_that_is_too_short_is_refused_before_anything_runs(
    file: Path, asked: list[dict[str, str]], tmp_path: Path
) -> None:
    config = Config.load(file).set("run.requests", 1000)
    with pytest.raises(ConfigError, match=r"seen run.requests = 1,000; read p99.999 needs 1,000,000 requests, 10 of"):
        interpulse.rank(config, "read-p99.999", out=tmp_path / "out")
    assert not asked


def test_an_overload_is_refused_before_the_pairs_run(tmp_path: Path) -> None:
    config = Config.load(ROOT / "examples" / "demo.toml").set("flow.0.rate", "80kIOPS").set("run.requests", 20000)
    with pytest.raises(
        ConfigError, match=r"without suspension: overloaded: .* reduce the rate: --set flow.0.rate=\d+/s"
    ):
        interpulse.rank(config, "read-p99", out=tmp_path / "out", cases=["programs"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no limit is given; expected at least one, such as --read-p99.9 1ms, or --rank FIGURE"),
        (["--rank", "read-p99.9", "--read-p99", "1ms"], "--rank with --read-p99: expected either"),
        (["--rank", "read-p99.9", "--wear", "2%"], "--rank with --wear: expected either"),
        (["--rank", "read-p95"], "rank: seen 'read-p95'; expected KIND-MEASURE of read, write, all and mean, p50"),
        (["--rank", "read-p99.9", "--without", "magic"], "--without magic: there is no such scheme"),
        (["--rank", "read-p99.9", "--case", "other"], "other"),
        (["--rank", "write-p99", "--set", "flow.0.read=1"], "seen a load of reads only"),
    ],
)
def test_wrong_options_are_named(
    options: list[str], said: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["advise", str(file), *options, "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err


def test_a_miniature_is_ranked_as_it_runs(file: Path, tmp_path: Path) -> None:
    config = Config.load(file).set("run.requests", 3000)
    left_out = [each for each in schemes() if each not in ("none", "ideal", "exact")]
    found = interpulse.rank(config, "read-mean", seeds=2, out=tmp_path / "out", without=left_out, jobs=1)
    (of,) = found.cases
    pairs = [*of.ranked, *of.screened, *of.doubtful]
    assert sum(1 + len(pair.same) for pair in pairs) == 4
    for pair in of.ranked:
        run = Config.load(file).set("run.requests", 3000).set("seed", pair.raws[0]["config"]["seed"])
        for key, value in pair.candidate.sets:
            run.set(key, value)
        assert interpulse.run(run, no_cache=True).cases[0].raw["latency_us"] == pair.raws[0]["latency_us"]


def test_intervals_lie_where_their_values_do() -> None:
    lines = interval_plot([("1", 100.0, 90.0, 110.0), ("2", 1000.0, None, None)], "read p99", 80)
    assert [line[:1] for line in lines] == ["1", "2", "r"]
    first, second, axis = lines
    assert first.index("-") < first.index("o") < first.rindex("-")
    assert second.count("o") == 1
    assert "-" not in second
    # The tick of 100 us begins where its value is drawn.
    assert axis.index("100 us") == first.index("o")
    assert interval_plot([], "x", 80) == []
    assert interval_plot([("1", 1.0, None, None)], "x", 40) == []
