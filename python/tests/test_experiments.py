"""Do experiments print, store and resume as they promise?"""

from __future__ import annotations

import csv
import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from interpulse.experiments import registry
from tests import experiment_sample
from tests.conftest import interrupted, process

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Ended

    Command = Callable[..., Ended]

KEYS = {"experiment", "version", "quick", "seed", "seeds", "config_hash", "calibrated", "rows", "notes"}
ROW = ["name", "figure", "unit", "published", "low", "high", "ours", "ratio", "ci_low", "ci_high", "holds", "undecided"]
ROW += ["status", "why"]

_LABELLED = "source = 'x'\n[[row]]\nname='a'\nunit='us'\nfigure='1'\nvalue=3\n{}\n"
"""A row but for its status."""


@pytest.fixture
def mini(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The miniature as the only experiment; the folder of its files."""
    return experiment_sample.install(monkeypatch, tmp_path)


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many cases each call of the simulator was given."""
    return experiment_sample.counted(monkeypatch)


@pytest.mark.usefixtures("mini")
def test_json_has_the_promised_keys(interpulse: Command, tmp_path: Path) -> None:
    result = interpulse("experiment", "mini", "--json", "--seed", "4").json()
    assert set(result) == KEYS
    assert (result["experiment"], result["seed"], result["quick"]) == ("mini", 4, False)
    rows = {row["name"]: row for row in result["rows"]}
    assert list(rows) == ["read_mean", "iops", "suspended_gain", "own"]
    for row in rows.values():
        assert list(row) == ROW
    read = rows["read_mean"]
    assert read["published"] == 100
    assert read["ratio"] == pytest.approx(read["ours"] / 100)
    assert read["ci_low"] < read["ours"] < read["ci_high"]
    assert rows["iops"]["published"] is rows["iops"]["ratio"] is None
    assert rows["own"]["ci_low"] is None
    assert rows["suspended_gain"]["figure"] == "Figure 3 (read off or derived)"
    assert rows["suspended_gain"]["ours"] < 0
    assert [row["status"] for row in rows.values()] == ["calibrated", "ours", "untuned", "ours"]
    assert rows["read_mean"]["why"] == "host.firmware was chosen on it"
    assert not (tmp_path / "interpulse-mini").exists(), "--json alone writes no folder"


@pytest.mark.usefixtures("mini")
def test_same_seed_same_bytes_and_another_seed_others(interpulse: Command) -> None:
    one, two, other = (
        interpulse("experiment", "mini", "--quick", "--json", "--no-cache", "--seed", seed, "--jobs", jobs).out
        for seed, jobs in (("1", "1"), ("1", "2"), ("2", "2"))
    )
    assert one == two
    assert json.loads(one)["rows"] != json.loads(other)["rows"]
    assert json.loads(one)["config_hash"] != json.loads(other)["config_hash"]


@pytest.mark.usefixtures("mini")
def test_the_folder_holds_tables_curves_and_plots(interpulse: Command, tmp_path: Path) -> None:
    ended = interpulse("experiment", "mini", "--quick", "--repeat", "1", "--all", "--out", str(tmp_path / "out"))
    assert ended.code == 0
    out = tmp_path / "out"
    assert "read_mean" in ended.out
    assert "calibrated" in ended.out.split("status", 1)[1]
    assert (out / "table.txt").read_text() == ended.out
    result = json.loads((out / "result.json").read_text())
    with (out / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ROW
    assert [row["name"] for row in rows] == [row["name"] for row in result["rows"]]
    assert float(rows[0]["ours"]) == result["rows"][0]["ours"]
    assert rows[1]["published"] == ""
    assert [row["status"] for row in rows] == [row["status"] for row in result["rows"]]
    assert (out / "means.csv").read_text().startswith("case,mean_us\nbefore,")
    png = (out / "means.png").read_bytes()
    width, height = struct.unpack(">II", png[16:24])
    assert png.startswith(b"\x89PNG")
    assert width > 300
    assert height > 200
    tree = ElementTree.fromstring((out / "means.svg").read_text())
    assert len(list(tree.iter("{http://www.w3.org/2000/svg}path"))) > 10


@pytest.mark.usefixtures("mini")
def test_what_the_paper_printed_is_shown_with_a_verdict_and_the_rest_on_request(interpulse: Command) -> None:
    brief = interpulse("experiment", "mini").out
    every = interpulse("experiment", "mini", "--all").out
    shown = [line.split()[0] for line in brief.split("─\n")[1].split("\n\n")[0].splitlines()]
    assert shown == ["read_mean", "suspended_gain"]
    for word in ("iops", "own", "note: a note", "calibrated: host.firmware = 32us", "read off"):
        assert (word in brief, word in every) == (False, True), word
    verdict = brief.split("verdict: ")[1]
    assert verdict.startswith("0 of 1 published figures within 10 %, 1 outside; off: suspended_gain (x")
    assert "; not counted: 1 calibrated with" in " ".join(verdict.split())
    assert "2 more rows, what was calibrated, where each is published, 1 note" in " ".join(verdict.split())
    assert every.endswith(verdict.split("\nwith")[0] + "\n")


@pytest.mark.usefixtures("mini")
def test_plots_have_the_same_bytes_again(interpulse: Command, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert interpulse("experiment", "mini", "--quick", "--out", str(tmp_path / name)).code == 0
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert {"means.png", "means.svg", "rows.csv"} < set(files)
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


@pytest.mark.usefixtures("mini")
def test_without_out_a_folder_is_made_here(interpulse: Command, tmp_path: Path) -> None:
    ended = interpulse("experiment", "mini", "--quick", "--repeat", "1")
    assert (
        "wrote result.json, table.txt, rows.csv, means.csv, means.png, means.svg, report.html to interpulse-mini"
        in ended.err
    )
    assert (tmp_path / "interpulse-mini" / "means.svg").is_file()


@pytest.mark.usefixtures("mini")
def test_finished_cases_are_not_run_again(interpulse: Command, batches: list[int]) -> None:
    first = interpulse("experiment", "mini", "--json")
    second = interpulse("experiment", "mini", "--json")
    assert batches == [6]
    assert first.out == second.out
    assert interpulse("experiment", "mini", "--json", "--no-cache").out == first.out
    assert batches == [6, 6]


@pytest.mark.usefixtures("mini")
def test_a_changed_simulator_does_not_reuse_results(
    interpulse: Command, batches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from interpulse.studies import store

    interpulse("experiment", "mini", "--quick", "--repeat", "1", "--json")
    monkeypatch.setattr(store, "build_id", lambda: "another")
    interpulse("experiment", "mini", "--quick", "--repeat", "1", "--json")
    assert batches == [2, 2]


@pytest.mark.usefixtures("mini")
def test_a_torn_last_line_costs_only_its_case(interpulse: Command, batches: list[int]) -> None:
    from interpulse.files.cache import Cache

    first = interpulse("experiment", "mini", "--quick", "--repeat", "1", "--json")
    (kept,) = Cache.default().folder.glob("*.results")
    text = kept.read_text()
    kept.write_text(text[:-40])
    assert interpulse("experiment", "mini", "--quick", "--repeat", "1", "--json").out == first.out
    assert batches == [2, 1]


def test_an_interrupted_experiment_goes_on_where_it_was(tmp_path: Path) -> None:
    """The second of three batches never ends by itself; Ctrl-C keeps the others, which did not wait for it."""
    script = tmp_path / "script.py"
    script.write_text(experiment_sample.STOPPED)
    setups = str(experiment_sample.prepare(tmp_path / "setups"))
    code, out, err = interrupted(process(str(script), "4", setups, "2", "--jobs", "2"), "waiting")
    assert (code, out) == (130, "")
    assert "interrupted after 4 of 6 simulations" in err
    assert "Traceback" not in err
    again = process(str(script), "go", setups, "2")
    out, err = again.communicate(timeout=60)
    assert again.returncode == 0, err
    assert err.count("batch 2") == 1, "two cases were left"
    assert set(json.loads(out)) == KEYS


@pytest.mark.usefixtures("mini")
def test_an_unknown_name_suggests_a_near_one(interpulse: Command) -> None:
    ended = interpulse("experiment", "mimi")
    assert ended.code == 2
    assert ended.error() == "no experiment 'mimi': did you mean mini? There are mini"
    assert interpulse("experiment", "quite-different").error() == "no experiment 'quite-different': there are mini"


@pytest.mark.usefixtures("mini")
def test_a_folder_that_cannot_be_written_is_an_error_before_the_run(
    interpulse: Command, batches: list[int], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    ended = interpulse("experiment", "mini", "--out", str(tmp_path / "file"))
    assert ended.code == 2
    assert "this is a file, not a folder" in ended.error()
    assert batches == []


def test_the_list_says_what_there_is(interpulse: Command) -> None:
    shown = interpulse("experiment", "--list")
    listed = interpulse("experiment", "--list", "--json").json()["experiments"]
    assert [each["name"] for each in listed] == [each.name for each in registry.EXPERIMENTS]
    for each in listed:
        assert all(each[key] for key in ("name", "summary", "source", "quick", "full", "traces"))
        assert each["name"] in shown.out
    assert "--list takes no name" in interpulse("experiment", "--list", "mini").error()


@pytest.mark.parametrize("experiment", registry.EXPERIMENTS, ids=lambda each: each.name)
def test_every_experiment_has_its_published_figures(experiment: registry.Experiment) -> None:
    from importlib import import_module

    assert callable(import_module(experiment.module).run)
    assert experiment.context().expected().rows
    root = Path(__file__).parent.parent.parent
    assert (root / "experiments").samefile(registry.SETUPS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source = 'x'\n[[row]]\nname='a'\nunit='us'\nfigure='1'\nvalu=3\n", "row 1 (a): unknown key 'valu'; one of"),
        ("source = 'x'\n[[row]]\nname='a'\nunit='us'\n", "row 1 (a): there is no 'figure'"),
        ("source = 'x'\n[[row]]\nname='a'\nunit='us'\nfigure='1'\nvalue='3'\n", "value = '3' is not a number"),
        ("source = 'x'\n[[row]]\nname='a'\nunit='us'\nfigure='1'\nvalue=nan\n", "value = nan is not a number"),
        ("source = 'x'\n[[row]]\nname='a'\nunit='us'\nfigure='1'\naxis-read=true\n", "there is no value"),
        ("source = 'x'\n[[row]]\nname='a'\nunit='us'\nfigure='1'\naxis-read=1\n", "axis-read = 1 is not true or false"),
        ("source = 'x'\n[[row]]\nname='A b'\nunit='us'\nfigure='1'\n", "name = 'A b'"),
        (
            "source = 'x'\n" + 2 * "[[row]]\nname='a'\nunit='us'\nfigure='1'\nstatus='ours'\n",
            "row 2: name = 'a' is already",
        ),
        (_LABELLED.format(""), "row 1 (a): there is no 'status'"),
        (_LABELLED.format("status='guessed'"), "status = 'guessed' is not one of calibrated, fitted, by-construction,"),
        (_LABELLED.format("status='sensitivity'\nwhy='x'"), "status = 'sensitivity' is not one of calibrated,"),
        (_LABELLED.format("status='ours'"), "status = 'ours' is for rows that compare with no published figure"),
        (_LABELLED.format("status='calibrated'"), "status = 'calibrated' needs a 'why'"),
        (_LABELLED.format("status='fitted'"), "status = 'fitted' needs a 'why'"),
        (_LABELLED.format("status='by-construction'"), "status = 'by-construction' needs a 'why'"),
        (_LABELLED.format("status='assumed'"), "status = 'assumed' needs a 'why'"),
        (_LABELLED.format("status='paper-inconsistent'"), "status = 'paper-inconsistent' needs a 'why'"),
        (_LABELLED.format("status='assumed'\nwhy=' '"), "why = ' ' is not text"),
        (_LABELLED.replace("value=3\n", "").format("status='untuned'"), "with a value or bounds: write 'ours'"),
        (_LABELLED.format("low=3\nhigh=2\nstatus='untuned'"), "low = 3 is more than high = 2"),
        ("[[row]]\nname='a'\nunit='us'\nfigure='1'\n", "there is no 'source'"),
        ("source = 'x'\nrow = 3\n", "row = 3 is not an array of tables"),
        ("source = 'x'\n", "there is no [[row]]"),
        ("source = \n", "is not TOML"),
        ("pages = 3\n", "unknown key 'pages'"),
    ],
)
def test_a_mistake_in_the_published_figures_is_named(
    mini: Path, interpulse: Command, batches: list[int], text: str, message: str
) -> None:
    (mini / "expected.toml").write_text(text)
    ended = interpulse("experiment", "mini", "--json")
    assert ended.code == 2
    assert message in ended.error()
    assert "expected.toml" in ended.error()
    assert batches == []


def test_the_interval_is_students() -> None:
    from interpulse.runs.estimate import Estimate

    three = Estimate.of([1.0, 2.0, 3.0])
    # t(0.975, 2 degrees of freedom) = 4.3027; standard deviation 1.
    assert three.value == 2.0
    assert three.low is not None
    assert three.high is not None
    assert three.low == pytest.approx(2 - 4.302653 / 3**0.5)
    assert three.high == pytest.approx(2 + 4.302653 / 3**0.5)
    assert Estimate.of([5.0]) == Estimate(5.0, None, None)
