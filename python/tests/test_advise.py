"""Is the scheme that is advised the cheapest that keeps the limits, among what the part allows?"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

import interpulse
from interpulse import Config, ConfigError
from interpulse.cli import run_app
from interpulse.search.candidates import (
    OPERATIONS,
    PUBLISHED_FOR,
    Way,
    safe_point_entry,
    schemes,
    spaced,
    uncapped,
    ways,
    without_suspension,
)
from interpulse.search.cost import Cost, Ratio
from interpulse.search.limits import Limit, Wear
from interpulse.sweeps import simulations
from tests.sample import ROOT
from tests.test_search_limits import pretended, result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

DRIVE = """config_version = 1
drive = "a4-mini"
run.requests = 300
run.warmup = "0s"
precondition.fill = "50%"
flow = [{ name = "mixed", depth = 2, read = 0.5 }]
"""
LIMITS = {"read-p99.9": "1ms"}

WAITS = {"none": 5000.0, "ideal": 100.0, "deferred": 900.0, "loop-boundary": 900.0, "immediate": 300.0, "exact": 300.0}
"""How long reads wait for an operation in the pretended drive, in us; for other schemes 700."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "drive.toml"
    path.write_text(DRIVE)
    return path


def pretend(sets: Mapping[str, str]) -> dict[str, Any]:
    """A drive whose reads wait for the slower of programs and erases; some schemes do work again."""
    of = {operation: sets.get(f"suspend.{operation}.scheme", "none") for operation in OPERATIONS}
    wait = max(WAITS.get(scheme, 700.0) for scheme in of.values()) * (1 + int(sets["seed"]) % 5 * 0.001)
    suspends = {o: {"none": 0, "deferred": 30, "loop-boundary": 30}.get(s, 60) for o, s in of.items()}
    nand: dict[str, float] = {f"{o}_redone_time": 50 if s in ("immediate", "timeout") else 0 for o, s in of.items()}
    nand |= {"program_owed_time": 1000, "erase_owed_time": 1000, "suspend_stress": 1e4 * sum(suspends.values())}
    counted = {"programs": 10, "erases": 10, "suspends": suspends}
    return result(wait, nand=counted, counters={"nand": nand})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What was asked of the pretended drive."""
    return pretended(monkeypatch, pretend)


def legal_if(check: Callable[[dict[str, str]], bool]) -> Callable[[Any], str | None]:
    return lambda sets: None if check(dict(sets)) else "no"


def test_what_is_tried_comes_from_the_registry() -> None:
    found, refused = ways("erase", legal_if(lambda _: True), [Limit("write", "p99.9", 5000.0)], 7, ["exact"])
    assert {way.scheme for way in found} == schemes().keys() - {"ideal", "exact", "sliced"}
    assert refused == {
        "exact": "left out by --without",
        "sliced": "for parts that cannot suspend the operation",
    }
    assert all(("suspend.erase.max-suspends", "7") in way.sets for way in found if way.scheme != "none")
    promise = [way.label for way in found if way.scheme == "timeout"]
    assert promise == ["timeout, max-suspends=7", "timeout, max-suspends=7, defer-after=5000us"]
    found, refused = ways("erase", legal_if(lambda sets: sets["suspend.erase.scheme"] == "none"), [], None, [])
    assert [way.label for way in found] == ["none"]
    assert set(refused.values()) == {"no"}
    # A part that cannot suspend.
    found, _ = ways("erase", legal_if(lambda sets: sets["suspend.erase.scheme"] in ("none", "sliced")), [], None, [])
    assert [way.label for way in found] == ["none", "sliced"]


def test_schemes_are_told_apart_by_names_that_there_are() -> None:
    assert set(PUBLISHED_FOR) == schemes().keys() - {"none", "ideal"}


def test_a_resume_gets_through_a_loop() -> None:
    way = Way("erase", "immediate", (("suspend.erase.scheme", "immediate"),))
    slower = spaced(way, {"part.erase-pulse": "992us", "part.erase-reset": "0ns", "part.erase-verify": "8us"})
    assert slower is not None
    assert slower.label == "immediate, min-interval=1100us"
    assert spaced(slower, {"part.erase-pulse": "992us"}) is None


def test_suspension_is_taken_out_wherever_it_is_set() -> None:
    text = (
        DRIVE
        + """suspend.erase.scheme = "timeout"
suspend.erase.defer-after = "1ms"
suspend.erase.stress = "1%"
case = [{ name = "a", set = ["suspend.program.scheme=exact", "flow.0.depth=4"] }]
"""
    )
    config = Config(text).set("suspend.program.max-suspends", 3).set("suspend.program.stress", "2%")
    bare = {entry.key: entry.value for entry in without_suspension(config).entries()}
    assert bare["suspend.erase.scheme"] == bare["suspend.program.scheme"] == "none"
    assert bare["suspend.program.max-suspends"] == "not set"
    assert (bare["suspend.erase.stress"], bare["suspend.program.stress"]) == ("0.01", "0.02")
    assert bare["flow.0.depth"] == "4"
    assert without_suspension(Config(DRIVE)).text == DRIVE, "lines stay what messages say they are"


def test_the_cheapest_that_holds_is_named(file: Path, tmp_path: Path, asked: list[dict[str, str]]) -> None:
    advice = interpulse.advise(file, LIMITS, out=tmp_path / "o")
    # Both stop at the end of a loop, with nothing done again: the one of each study for its operation.
    assert advice.sets == {"suspend.program.scheme": "loop-boundary", "suspend.erase.scheme": "deferred"}
    assert advice.best is not None
    assert advice.best.seeds == 5
    assert len(advice.best.same) == 3
    assert advice.configured.why.startswith("run: read p99.9 5.")
    over = advice.ratios["as configured"]["run: read p99.9"]
    assert over.value == pytest.approx(900 / 5000)
    assert advice.untried > 20
    told = json.loads((tmp_path / "o" / "advice.json").read_text())
    assert told["best"]["set"] == advice.sets
    confirmed = [sets for sets in asked if sets["seed"] != "1" and "suspend.erase.scheme" in sets]
    assert len(confirmed) == 4, "what comes to the same is confirmed once, and what costs more not at all"
    # A tighter limit leaves those that stop at once, and of them the one that does nothing again.
    tight = interpulse.advise(file, {"read-p99.9": "500us"}, out=tmp_path / "o")
    assert tight.sets == {"suspend.program.scheme": "exact", "suspend.erase.scheme": "exact"}
    without = interpulse.advise(file, {"read-p99.9": "500us"}, out=tmp_path / "o", without=["exact"], max_suspends=9)
    assert without.sets == {
        "suspend.program.scheme": "immediate",
        "suspend.program.max-suspends": "9",
        "suspend.erase.scheme": "immediate",
        "suspend.erase.max-suspends": "9",
    }


def test_where_ideal_suspension_misses_no_scheme_is_tried(
    file: Path, tmp_path: Path, asked: list[dict[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["advise", str(file), "--read-p99.9", "50us", "--out", str(tmp_path / "o")]) == 0
    out = capsys.readouterr().out
    assert (
        "No scheme can: uncapped ideal suspension of programs and erases misses too: run: read p99.9 100.1 us"
        in " ".join(out.split())
    )
    practical = [sets for sets in asked if not {"ideal", "none"} & set(sets.values())]
    assert all("suspend.erase.scheme" not in sets for sets in practical), "no combination of two schemes"


def answered(monkeypatch: pytest.MonkeyPatch, answer: Callable[[dict[str, str]], dict[str, Any]]) -> list[Any]:
    """Lets a pretended drive answer; what was asked of it."""
    seen: list[Any] = []

    def run(_: simulations.Simulations, wanted: Sequence[Any]) -> list[dict[str, Any]]:
        seen.extend(wanted)
        return [{"raw": answer(dict(sets))} for sets in wanted]

    monkeypatch.setattr(simulations.Simulations, "run", run)
    return seen


def with_writes(sets: dict[str, str], reads: Callable[[bool], float], writes: Callable[[bool], float]) -> Any:  # noqa: ANN401
    """A drive whose latencies depend on whether any operation is suspended."""
    suspends = any(sets.get(f"suspend.{operation}.scheme", "none") != "none" for operation in OPERATIONS)
    found = pretend(sets) | result(reads(suspends))
    found["counters"] = pretend(sets)["counters"]
    found["nand"] = pretend(sets)["nand"]
    found["latency_us"]["write"] = result(writes(suspends))["latency_us"]["read"]
    return found


@pytest.mark.parametrize("configured", ["", 'suspend.program.scheme = "loop-boundary"\n'])
def test_ideal_suspension_is_no_bound_for_writes(
    configured: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Suspension serves reads first, so that writes wait: without it both limits hold."""
    file.write_text(DRIVE.replace("flow =", f"{configured}flow ="))
    slow = lambda s: with_writes(s, lambda on: 300.0 if on else 2700.0, lambda on: 19_000.0 if on else 3.0)  # noqa: E731
    answered(monkeypatch, slow)
    advice = interpulse.advise(file, {"read-p99": "4ms", "write-p99": "1ms"}, out=tmp_path / "o")
    assert advice.impossible == ""
    assert advice.sets == {"suspend.program.scheme": "none", "suspend.erase.scheme": "none"}
    # Of writes alone nothing is concluded either: what misses beside ideal suspension may hold beside none.
    advice = interpulse.advise(file, {"write-p99": "1us"}, out=tmp_path / "p")
    assert (advice.best, advice.impossible) == (None, "")


def test_ideal_suspension_is_no_bound_where_less_suspension_reads_faster(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(monkeypatch, lambda s: with_writes(s, lambda on: 900.0 if on else 700.0, lambda _: 1.0))
    assert interpulse.advise(file, {"read-p99": "500us"}, out=tmp_path / "o").impossible == ""
    answered(monkeypatch, lambda s: with_writes(s, lambda on: 700.0 if on else 900.0, lambda _: 1.0))
    found = interpulse.advise(file, {"read-p99": "500us"}, out=tmp_path / "p").impossible
    assert found.startswith("run: read p99 700 us")


def test_a_configuration_that_holds_is_the_answer_where_nothing_else_does(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(
        DRIVE.replace("flow =", 'suspend.program.scheme = "deferred"\nsuspend.program.pages = ["lsb"]\nflow =')
    )
    answered(
        monkeypatch,
        lambda s: (
            with_writes(s, lambda on: 900.0 if on else 300.0, lambda _: 1.0)
            | ({} if "suspend.erase.scheme" in s else {"latency_us": result(200.0)["latency_us"]})
        ),
    )
    assert run_app(["advise", str(file), "--read-p99", "250us", "--out", str(tmp_path / "o")]) == 0
    assert "The configuration as it is keeps the limits" in capsys.readouterr().out


def test_ideal_suspension_as_a_bound_has_no_cap() -> None:
    way = uncapped("program", {"suspend.program.max-suspended-time": "1ms", "suspend.program.timeout": "not set"})
    assert dict(way.sets) == {"suspend.program.scheme": "ideal", "suspend.program.max-suspended-time": "100s"}


def test_stops_at_safe_points_cost_what_the_part_states() -> None:
    def entry(*sets: tuple[str, str]) -> str | None:
        config = Config(DRIVE)
        for key, value in sets:
            config.set(key, value)
        return safe_point_entry("program", config.entries())

    assert entry() == "part", "the part of the drive states 70 us"
    assert entry(("part.program-suspend-entry", "0us")) is None
    own = (("suspend.program.scheme", "deferred"), ("suspend.program.safe-point-entry", "none"))
    assert entry(*own) == "none"
    found, _ = ways("program", legal_if(lambda _: True), [], None, [], "part")
    charged = {way.scheme for way in found if ("suspend.program.safe-point-entry", "part") in way.sets}
    assert charged == {"deferred", "timeout"}


@pytest.mark.parametrize("command", ["advise", "slo"])
def test_too_few_requests_are_refused_after_one_simulation(
    command: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A load that ends by itself has no longer window."""
    file.write_text(DRIVE.replace("run.requests = 300\n", "").replace("read = 0.5", "read = 0.5, requests = 300"))
    seen = answered(monkeypatch, lambda s: pretend(s) | result(80.0, few=("p99.999",)))
    assert run_app([command, str(file), "--read-p99.999", "1ms", "--out", str(tmp_path / "o")]) == 2
    told = capsys.readouterr().err
    assert "read p99.999: case run: seen 100,000 read requests in a load that ends by itself; " in told
    assert "p99.999 needs 1,000,000, 10 of them beyond it: expected read-p99.99 or lower, or a longer trace" in told
    assert len(seen) == 1
    # A limit that a lower percentile misses is decided all the same.
    if command == "advise":
        answered(
            monkeypatch, lambda s: pretend(s) | result(8000.0, few=("p99.999",)) | {"counters": pretend(s)["counters"]}
        )
        found = interpulse.advise(file, {"read-p99.999": "1ms"}, out=tmp_path / "p")
        assert found.configured.state == "misses"


def test_wear_is_a_limit_like_the_others(file: Path, tmp_path: Path, asked: list[dict[str, str]]) -> None:
    with pytest.raises(
        ConfigError, match=r"--wear: case run: seen suspend\.program\.stress = 0 and .* expected the wear"
    ):
        interpulse.advise(file, LIMITS, wear="2%", out=tmp_path / "o")
    stressed = Config.load(file).set("suspend.erase.stress", "1%")
    # 30 suspensions a program and 30 an erase: 0.06 of a cycle each.
    assert interpulse.advise(stressed, LIMITS, wear="7%", out=tmp_path / "o").best is not None
    assert interpulse.advise(stressed, LIMITS, wear="5%", out=tmp_path / "o").best is None
    assert asked
    assert Wear(0.05).interval(pretend({"seed": "1"})) == (0.0, 0.0)


def test_costs_are_compared_by_die_time_first() -> None:
    assert Cost.of(0.0002, 9) < Cost.of(0.0, 10) < Cost.of(0.01, 0)
    ratio = Ratio.of([2.0, 2.0], [4.0, 4.0])
    assert ratio is not None
    assert ratio.text() == "0.5 (0.5 to 0.5)"
    assert Ratio.of([1.0], [None]) is None


@pytest.mark.verify
def test_a_part_that_cannot_suspend_gets_no_suspension(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Really simulated."""
    options = ["advise", str(file), "--read-p50", "100ms", "--set", "part.suspend-support=none", "--seeds", "2"]
    assert run_app([*options, "--out", str(tmp_path / "o")]) == 0
    out = capsys.readouterr().out
    assert "--set suspend.program.scheme=none\n  --set suspend.erase.scheme=none" in out
    assert "erase deferred: not tried: " in out
    assert "part.suspend-support says that the part cannot" in " ".join(out.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no limit is given; expected at least one, such as --read-p99.9 1ms"),
        (["--read-p99.9", "1ms", "--without", "magic"], "--without magic: there is no such scheme; expected one of"),
        (["--read-p99.9", "1ms", "--wear", "-1"], "--wear: seen '-1'; expected a share above 0"),
        (["--read-p99.9", "1ms", "--max-suspends", "0"], "Invalid value for '--max-suspends'"),
        (["--read-p99.9", "1ms", "--set", "suspend.erase.scheme=magic"], "suspend.erase.scheme"),
    ],
)
def test_mistakes_are_said(
    options: list[str], said: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["advise", str(file), "--out", str(tmp_path / "o"), *options]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert "Traceback" not in told.err


@pytest.mark.verify
def test_the_drive_of_the_page_gets_the_answer_of_the_page(tmp_path: Path) -> None:
    """docs/CHOOSING.md, in short: reads and writes matter; in one command and less than two minutes of two cores."""
    begin = time.process_time()
    advice = interpulse.advise(
        ROOT / "examples" / "choose.toml",
        {"read-p99.99": "1.5ms", "write-p99.9": "30ms"},
        max_suspends=10,
        out=tmp_path / "o",
    )
    assert advice.sets == {
        # With the 70 us that the part states for an entry, `deferred` is the same: the name published for programs.
        "suspend.program.scheme": "loop-boundary",
        "suspend.program.max-suspends": "10",
        "suspend.erase.scheme": "deferred",
        "suspend.erase.max-suspends": "10",
    }
    assert advice.configured.state == "misses"
    assert time.process_time() - begin < 60, "of the driver alone"
    immediate = [option for way, option in advice.ways["erase"] if way.label == "immediate, max-suspends=10"]
    assert [option.state for option in immediate] == ["misses"]
    assert immediate[0].why.startswith("dense")


def test_a_window_without_erases_is_named_and_so_is_the_nearest_limit(
    file: Path, asked: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(file.parent / "out")]
    assert run_app(["advise", str(file), "--read-p99.9", "1ms", *out]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert asked
    assert "nearest to its limit: read p99.9, up to 9" in text
    assert "one seed: read p99.9 " in text
    assert "too few to tell them apart" not in text

    def without_erases(sets: Mapping[str, str]) -> dict[str, Any]:
        found = pretend(sets)
        found["nand"]["erases"] = 3
        return found

    pretended(monkeypatch, without_erases)
    assert run_app(["advise", str(file), "--read-p99.9", "1ms", *out]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "warning: a window in which erase schemes were compared had 3 erases, too few to tell them apart" in text
