"""Does `interpulse characterize` measure, print, store and resume as it promises?"""

from __future__ import annotations

import csv
import json
import struct
import tomllib
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from interpulse import _core
from interpulse.characterize import registry
from tests.conftest import interrupted, process
from tests.fake_cells import MEAN_US, FakeCells

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

    Command = Callable[..., Ended]

GRID = {"delay1", "delay2", "page_type", "suspends_mean", "suspends_max", "teps_mean_us", "teps_max_us"}
GRID |= {"tpgms_mean_us", "tpgms_max_us"}

ROW = ["name", "figure", "unit", "published", "low", "high", "ours", "ratio", "ci_low", "ci_high", "holds", "undecided"]
ROW += ["status", "why"]

JOBS = 300 + 3 + 3
"""The grid for each page type, each page type alone, the part, the trace and the untouched block."""

SMALL = ("characterize", "suspend", "--word-lines", "6")


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeCells:
    """The stand-in for the tester, in an empty folder."""
    fake = FakeCells()
    monkeypatch.setattr(_core, "cell_job", fake.cell_job)
    monkeypatch.chdir(tmp_path)
    return fake


def test_the_list_says_what_there_is(interpulse: Command) -> None:
    shown = interpulse("characterize", "--list")
    listed = interpulse("characterize", "--list", "--json").json()["kinds"]
    assert [each["name"] for each in listed] == [each.name for each in registry.KINDS]
    for each in listed:
        assert all(each[key] for key in ("name", "summary", "source", "quick", "full", "preset"))
        assert each["name"] in shown.out


@pytest.mark.parametrize("kind", registry.KINDS, ids=lambda each: each.name)
def test_every_kind_has_its_published_figures_and_its_code(kind: registry.Kind) -> None:
    from importlib import import_module

    assert callable(import_module(kind.module).run)
    assert kind.context().expected().rows


@pytest.mark.usefixtures("cells")
def test_json_of_suspend_has_the_promised_keys(interpulse: Command, tmp_path: Path) -> None:
    result = interpulse(*SMALL, "--json", "--seed", "4").json()
    assert (result["characterize"], result["seed"], result["quick"]) == ("suspend", 4, False)
    places = {(row["delay1"], row["delay2"], row["page_type"]) for row in result["grid"]}
    assert len(places) == len(result["grid"]) == 300
    assert {d1 for d1, _, _ in places} == {d2 for _, d2, _ in places} == {k / 10 for k in range(1, 11)}
    assert {page for _, _, page in places} == {"lower", "center", "upper"}
    for row in result["grid"]:
        assert set(row) >= GRID
    assert len(result["word_lines"]) == 6
    assert {row["block"] for row in result["rber"]} == {"suspended", "untouched"}
    assert len(result["rber"]) == 2 * 2 * 3 * 2
    assert all(row["ci_low"] <= row["rber"] <= row["ci_high"] for row in result["rber"])
    assert result["trace"]["phases"][0] == [0.0, 35.0, "pulse", 40.0]
    assert list(result["published"][0]) == ROW
    assert list(tmp_path.iterdir()) == [], "--json alone writes no folder"


@pytest.mark.usefixtures("cells")
def test_the_grid_is_what_the_flow_gives(interpulse: Command) -> None:
    result = interpulse(*SMALL, "--json").json()
    grid = {(row["delay1"], row["delay2"]): row for row in result["grid"] if row["page_type"] == "upper"}
    # Programs of 1875, 2000 and 2125 us, twice. A delay of 200 us ends 75 us into the second loop after a stop: every
    # 250 us of progress a program stops, after 50 us. Requests come at 200, 450, ... 1700 us, and at 1950 us.
    row = grid[0.1, 0.1]
    assert (row["suspends_mean"], row["suspends_max"]) == (pytest.approx((7 + 8 + 8) / 3), 8)
    assert (row["teps_mean_us"], row["teps_max_us"]) == (50.0, 50.0)
    # At 100 % / 100 % only the programs of 17 loops are still running; they end with their loop, 125 us later.
    row = grid[1.0, 1.0]
    assert (row["running"], row["suspends_max"], row["running_suspends_min"]) == (2, 1, 1)
    assert row["teps_mean_us"] == 0.0
    published = {row["name"]: row for row in result["published"]}
    assert published["suspends_most_10_10"]["ours"] == 8
    assert published["suspends_most_10_10"]["holds"] is True
    assert published["tpgms_100_100"]["ours"] == pytest.approx(2.0)
    assert published["rber_change_suspended_percent"]["ours"] == 0
    assert published["rber_change_untouched_percent"]["ci_low"] > 0
    assert result["tpgm_mean_us"] == MEAN_US


@pytest.mark.usefixtures("cells")
def test_what_was_not_measured_is_null(interpulse: Command) -> None:
    """A single word line is over when Delay1 is 100 % of the mean."""
    result = interpulse("characterize", "suspend", "--word-lines", "1", "--json").json()
    grid = {(row["delay1"], row["delay2"]): row for row in result["grid"]}
    assert grid[1.0, 0.5]["teps_mean_us"] is grid[1.0, 0.5]["teps_max_us"] is None
    assert grid[1.0, 0.5]["suspends_max"] == 0
    published = {row["name"]: row for row in result["published"]}
    assert published["tpgms_100_100"]["ours"] is published["tpgms_100_100"]["holds"] is None
    assert any("no t_EPS there" in note for note in result["notes"])


@pytest.mark.usefixtures("cells")
def test_the_folder_holds_tables_plots_and_a_part_that_drives_take(interpulse: Command, tmp_path: Path) -> None:
    ended = interpulse(*SMALL, "--all", "--out", "out")
    assert ended.code == 0
    out = tmp_path / "out"
    assert (out / "table.txt").read_text() == ended.out
    assert len(interpulse(*SMALL, "--out", "brief").out.splitlines()) < len(ended.out.splitlines())
    result = json.loads((out / "result.json").read_text())
    for name, rows in (("published", result["published"]), ("grid", result["grid"]), ("rber", result["rber"])):
        with (out / f"{name}.csv").open() as file:
            read = list(csv.DictReader(file))
        assert len(read) == len(rows)
        assert list(read[0]) == list(rows[0])
    for name in ("suspends", "teps", "tpgms", "tpgm", "rber", "trace"):
        png = (out / f"{name}.png").read_bytes()
        assert struct.unpack(">II", png[16:24]) > (300, 200)
        tree = ElementTree.fromstring((out / f"{name}.svg").read_text())
        assert len(list(tree.iter("{http://www.w3.org/2000/svg}path"))) > 10
    drive = tmp_path / "drive.toml"
    drive.write_text('drive = "a4-mini"\n[part]\nfile = "out/part.toml"\n[run]\nrequests = 10\n[[flow]]\n')
    shown = {entry["key"]: entry for entry in interpulse("show", str(drive), "--json").json()["entries"]}
    assert shown["part.file"]["value"] == "out/part.toml"
    assert shown["part.preset"]["value"] == "a4-tlc"
    for key, value in (
        ("program-loops", "16"),
        ("program-loops-sd", "0.8402"),
        ("program-verify", "90us"),
        ("program-resume", "60us"),
    ):
        assert shown[f"part.{key}"]["value"] == value
        assert "out/part.toml:" in shown[f"part.{key}"]["origin"]
    assert shown["part.program-resume"]["origin"].endswith("(a guess)")
    assert "characterize suspend, cells a4-tlc, seed 1" in shown["part.program-loops"]["origin"]


@pytest.mark.usefixtures("cells")
def test_a_part_of_its_own_keeps_its_sources_and_figures_and_gets_no_verdict(
    interpulse: Command, tmp_path: Path
) -> None:
    sheet = ["--typical", "--tprog", "650us", "--program-loops", "12"]
    assert interpulse("part", "new", "mine", *sheet, "--out", "mine.toml").code == 0
    ended = interpulse(*SMALL, "--part", "mine.toml", "--set", "part.page-size=8KiB", "--all", "--out", "out")
    assert ended.code == 0, ended.err
    part = tomllib.loads((tmp_path / "out" / "part.toml").read_text())["part"]
    own = tomllib.loads((tmp_path / "mine.toml").read_text())["part"]
    for key in ("planes", "read-lsb", "endurance", "program-pulse", "program-verify", "program-loops", "erase-loops"):
        assert part[key] == own[key], key
    assert part["page-size"]["source"] == "--set"
    assert part["program-loops-sd"]["value"] == 0.8402, "it was assumed"
    told = " ".join(ended.out.split())
    assert "note: program-loops = 12 of the part file is kept (data sheet); measured: 16 (" in told
    assert "note: program-loops-sd = 0.8402 replaces the 0 of the part file (assumed: the default)" in told
    assert "no verdict: the published figures are of other cells than the part mine.toml" in told
    rows = json.loads((tmp_path / "out" / "result.json").read_text())["published"]
    assert all(row["published"] is row["low"] is row["high"] is row["holds"] is None for row in rows)
    assert {row["status"] for row in rows} == {"ours"}
    assert "verdict: " in interpulse(*SMALL, "--out", "plain").out


@pytest.mark.usefixtures("cells")
def test_everything_has_the_same_bytes_again_at_any_number_of_jobs(interpulse: Command, tmp_path: Path) -> None:
    for name, jobs in (("one", "1"), ("two", "3")):
        assert interpulse(*SMALL, "--no-cache", "--jobs", jobs, "--out", name).code == 0
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert {"part.toml", "result.json", "suspends.svg", "trace.png"} < set(names)
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_finished_jobs_are_not_done_again(interpulse: Command, cells: FakeCells) -> None:
    first = interpulse(*SMALL, "--json")
    assert len(cells.asked) == JOBS
    second = interpulse(*SMALL, "--json")
    assert len(cells.asked) == JOBS
    assert first.out == second.out
    assert interpulse(*SMALL, "--json", "--seed", "2").json()["config_hash"] != first.json()["config_hash"]
    assert len(cells.asked) == 2 * JOBS
    assert interpulse(*SMALL, "--json", "--no-cache").out == first.out
    assert len(cells.asked) == 3 * JOBS


def test_the_options_reach_the_cells(interpulse: Command, cells: FakeCells) -> None:
    more = ["--scheme", "exact", "--poll", "device", "--cells", "64", "--preset", "own"]
    more += ["--set", "cell.ispp.step=30", "--set", "part.layers=9"]
    result = interpulse(*SMALL, "--json", *more).json()
    sets = [["cell.ispp.step", "30"], ["part.layers", "9"]]
    for kind, request in cells.asked:
        assert (request["set"], request["preset"]) == (sets, "own")
        assert kind == "part" or request["cells"] == 64
        if kind == "suspend":
            assert (request["scheme"], request["poll"], request["word_lines"]) == ("exact", "device", 6)
            assert "tpgm_us" in request or "delay1" not in request
    assert result["cells"]["set"] == ["cell.ispp.step=30", "part.layers=9"]
    cells.asked.clear()
    assert interpulse("characterize", "suspend", "--quick", "--json").json()["quick"] is True
    assert {request["cells"] for kind, request in cells.asked if kind != "part"} == {16_384}
    assert {request["word_lines"] for kind, request in cells.asked if kind == "suspend"} == {50}


STOPPED = """\
import sys
from interpulse import _core
from interpulse.cli import main
from tests.fake_cells import FakeCells
fake = FakeCells(seconds=0.001, stuck_after=int(sys.argv[1]) or None)
_core.cell_job = fake.cell_job
code = 1
try:
    main(["characterize", "suspend", "--word-lines", "6", "--json", "--jobs", "2", *sys.argv[2:]])
finally:
    print("did", len(fake.asked), file=sys.stderr, flush=True)
"""


def test_an_interrupted_characterization_goes_on_where_it_was(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(STOPPED)
    whole, _ = process(str(script), "0", "--no-cache").communicate(timeout=120)
    running = process(str(script), "40", "--cache-dir", str(tmp_path / "cache"))
    code, out, err = interrupted(running, "stuck")
    assert (code, out) == (130, "")
    assert "interrupted after " in err
    assert "Traceback" not in err
    done = int(err.split("interrupted after ")[1].split()[0])
    assert 40 <= done < JOBS, "those that were running when Ctrl-C came are kept too"
    again, err = process(str(script), "0", "--cache-dir", str(tmp_path / "cache")).communicate(timeout=120)
    assert again == whole
    assert f"did {JOBS - done}" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["characterize", "--quick"], "what to characterize? `interpulse characterize --list` has the kinds"),
        (
            ["characterize", "suspent"],
            "no kind of characterization 'suspent': did you mean suspend? There are suspend,",
        ),
        (["characterize", "--list", "suspend"], "--list takes no kind, got 'suspend'"),
        ([*SMALL, "--set", "ispp.step=3"], "--set ispp.step=3: on the tester keys begin with cell. or part."),
        ([*SMALL, "--set", "cell.ispp.step"], "--set takes key=value"),
        ([*SMALL, "--word-lines", "0"], "Invalid value for '--word-lines'"),
        ([*SMALL, "--cells", "many"], "Invalid value for '--cells'"),
        ([*SMALL, "--poll", "never"], "'never' is not one of 'host', 'device'"),
        ([*SMALL, "--jobs", "0"], "Invalid value for '--jobs'"),
    ],
)
def test_a_mistake_is_one_line(interpulse: Command, cells: FakeCells, arguments: list[str], message: str) -> None:
    ended = interpulse(*arguments)
    assert ended.code == 2
    assert message in ended.error()
    assert cells.asked == []


def test_what_the_cells_refuse_is_one_line(interpulse: Command, cells: FakeCells) -> None:
    cells.refuse = "--set: cell.ispp.stp: unknown key"
    ended = interpulse(*SMALL, "--json")
    assert (ended.code, ended.out) == (2, "")
    assert ended.error() == "--set: cell.ispp.stp: unknown key"


def test_a_folder_that_cannot_be_written_is_an_error_before_the_run(
    interpulse: Command, cells: FakeCells, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    ended = interpulse(*SMALL, "--out", str(tmp_path / "file"))
    assert ended.code == 2
    assert "this is a file, not a folder" in ended.error()
    assert cells.asked == []


TINY = ("characterize", "suspend", "--word-lines", "4", "--cells", "256", "--json", "--no-cache")
"""The real tester in miniature."""


def test_real_cells_give_the_shape_and_what_no_sample_can_change(interpulse: Command) -> None:
    result = interpulse(*TINY).json()
    assert len(result["grid"]) == 300
    for row in result["grid"]:
        assert set(row) >= GRID
        # A stop at the end of a loop waits for a loop of 125 us at most and takes 5 us to enter.
        assert row["teps_max_us"] is None or row["teps_max_us"] <= 130
        assert (row["teps_mean_us"] is None) == (row["suspends_max"] == 0)
        assert row["running_suspends_min"] is None or row["running_suspends_min"] >= 1
    assert all(each["tpgm_min_us"] % 125 == each["tpgm_max_us"] % 125 == 0 for each in result["word_lines"])
    whats = {what for _, _, what, _ in result["trace"]["phases"]}
    assert {"pulse", "verify", "sense"} <= whats
    assert interpulse(*TINY, "--jobs", "1").json() == result


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "cell.ispp.stp=3"], "--set: cell.ispp.stp: unknown key; expected one of start, step, gain"),
        (["--set", "part.planes=many"], '--set: part.planes: seen "many"; expected a whole number'),
        (["--preset", "nonsense"], 'cell preset: seen "nonsense"; expected one of a4-tlc, '),
        (["--scheme", "loop-bound"], 'scheme: seen "loop-bound"; expected one of none, '),
        (["--cells", "1"], "cells = 1: from 64 to 1048576"),
        (["--word-lines", "1000000"], "word_lines = 1000000: from 1 to 100000"),
    ],
)
def test_what_real_cells_refuse_is_one_line(interpulse: Command, arguments: list[str], message: str) -> None:
    ended = interpulse(*TINY, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.error()


@pytest.mark.parametrize(("kind", "request_"), [("nonsense", "{}"), ("suspend", "{"), ("suspend", "3"), ("part", "{}")])
def test_the_core_refuses_what_is_no_request(kind: str, request_: str) -> None:
    with pytest.raises(_core.ConfigError):
        _core.cell_job(kind, request_)


@pytest.mark.parametrize("scheme", ["none", "ideal", "exact", "timeout"])
def test_programs_under_other_schemes_have_figures_or_none(scheme: str) -> None:
    from interpulse.characterize.registry import find
    from interpulse.studies.output import to_json

    settings = {"scheme": scheme, "cells": 64, "word_lines": 2}
    tester = find("suspend").context("a4-tlc", quick=True, settings=settings)
    answer = json.loads(to_json(tester, find("suspend").run(tester)))
    teps = {row["name"]: row["ours"] for row in answer["published"]}["teps_mean_percent"]
    assert (teps is None) == (scheme == "none")
    assert teps is None or (teps == 0) == (scheme == "ideal")
