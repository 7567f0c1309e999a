"""Does the page about results hold what they hold, compare what belongs together, and say what it lacks?"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import interpulse as package
from interpulse.cli.run_command import REPORTED
from interpulse.report import page, registry, run_page, runs
from interpulse.report.charts import Drawing
from interpulse.report.elements import Chart, Section, prose, table
from interpulse.report.sections.latency import curve, distinct
from tests import sample
from tests.sample import ROOT, check

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Ended

    Cli = Callable[..., Ended]

SMALL = ROOT / "examples" / "small.toml"
SETS = [part for text in (*REPORTED, "run.requests=30000") for part in ("--set", text)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `run --repeat 2 --report` leaves."""
    from interpulse.cli import run_app

    out = tmp_path_factory.mktemp("report") / "out"
    asked = ["run", str(SMALL), "--set", "run.requests=30000", "--repeat", "2", "--report", "--no-cache"]
    assert run_app([*asked, "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def content(folder: Path) -> str:
    return (folder / page.NAME).read_text()


def data(content: str) -> Any:  # noqa: ANN401 - JSON
    """The numbers of a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', content, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def raw(folder: Path, seed: int, case: int) -> dict[str, Any]:
    found: dict[str, Any] = sample.seed(json.loads((folder / f"seed-{seed}" / "result.json").read_text()), case)
    return found


class Elements(HTMLParser):
    """The elements of a page: identifiers, references, and what would be loaded."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.loads: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("src", "srcset", "data", "poster", "action") or (name == "href" and tag == "link"):
                self.loads.append(value or "")
            elif name == "href":
                self.links.append(value or "")


def test_a_repeated_run_leaves_a_folder_for_each_seed_as_if_run_alone(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == ["report.html", "seed-1", "seed-2"]
    config = package.Config.load(SMALL).set("run.requests", 30000)
    for text in REPORTED:
        config.set(*text.split("=", maxsplit=1))
    alone = package.run(config, seed=2, no_cache=True)
    found = json.loads((folder / "seed-2" / "result.json").read_text())
    assert sample.without_timing(alone.document) == sample.without_timing(found)
    check(found)


def test_batches_add_up_to_the_window(folder: Path) -> None:
    for case in (raw(folder, 1, 0), raw(folder, 1, 1)):
        batches = case["batches"]
        assert len(batches) >= 20
        assert len(batches) == case["steady"]["batches"]
        requests = sum(batch["host_requests"] for batch in batches)
        assert case["host_requests"] - requests < batches[0]["host_requests"], (
            "only what came after the last is missing"
        )
        assert batches[-1]["end_s"] == pytest.approx(sum(batch["length_s"] for batch in batches))
        assert batches[-1]["end_s"] <= case["simulated_s"]
        for batch in batches:
            assert sum(batch["time_share"].values()) == pytest.approx(1)
            assert batch["read_us"]["count"] + batch["write_us"]["count"] == batch["host_requests"]
        weighted = sum(batch["time_share"]["programming"] * batch["length_s"] for batch in batches)
        assert weighted / batches[-1]["end_s"] == pytest.approx(case["time_share"]["programming"], rel=0.05)
        suspends = sum(batch["suspends"]["program"] for batch in batches)
        assert 0.95 * case["nand"]["suspends"]["program"] <= suspends <= case["nand"]["suspends"]["program"]


def test_dies_add_up_to_the_drive(folder: Path) -> None:
    case = raw(folder, 1, 1)
    dies = case["dies"]
    assert [(die["channel"], die["die"]) for die in dies] == [(k // 2, k) for k in range(8)]
    for use, share in case["time_share"].items():
        assert sum(die["time_share"][use] for die in dies) / len(dies) == pytest.approx(share), use
    wear = case["counters"]["wear"]
    assert max(max(die["cycles"]["max"]) for die in dies) == wear["cycles_max"]
    # 96 blocks of a plane: 32 groups of three.
    assert all(die["cycles"]["blocks"] == 3 and len(die["cycles"]["mean"]) == 32 for die in dies)
    total = sum(3 * sum(die["cycles"]["mean"]) for die in dies)
    assert total / (8 * 96) == pytest.approx(wear["cycles_mean"], rel=1e-3)


def test_the_page_needs_nothing_else(content: str) -> None:
    elements = Elements(content)
    assert [each for each in elements.loads if not each.startswith("data:")] == []
    assert len(elements.ids) == len(set(elements.ids)), "an identifier is there once"
    assert {link.removeprefix("#") for link in elements.links} <= set(elements.ids), "links lead somewhere on the page"
    assert len(content.encode()) < page.MOST_BYTES
    assert "seeds 1, 2" in content


def test_every_chart_has_its_place_its_figure_and_its_numbers(content: str) -> None:
    found = data(content)
    places = {each.removeprefix("plot-") for each in Elements(content).ids if each.startswith("plot-")}
    expected = {"ratio-1", "latency-read", "latency-write", "latency-all", "blame", "over-time-brush", "over-time-iops"}
    expected |= {"over-time-read", "over-time-waf", "over-time-dies-2", "activity-suspends-program", "dies", "wear-2"}
    assert expected | {"activity-by-program", "power-operations"} <= places
    assert set(found["tables"]) == places
    assert {place for of in found["plots"] for place in of["roots"].values()} == {f"plot-{name}" for name in places}
    for name, numbers in found["tables"].items():
        assert numbers["rows"], name
        assert all(len(row) == len(numbers["columns"]) for row in numbers["rows"]), name


def test_the_numbers_are_those_of_the_results(folder: Path, content: str) -> None:
    tables = data(content)["tables"]
    first = raw(folder, 1, 0)
    iops = [row for row in tables["over-time-iops"]["rows"] if row[0] == "no-suspend"]
    assert [row[3] for row in iops] == pytest.approx([b["host_requests"] / b["length_s"] for b in first["batches"]])
    shares = [row[6] for row in tables["blame"]["rows"] if row[:2] == ["no-suspend", "slowest 1 %"]]
    assert shares == pytest.approx(list(first["tail_blame"]["p99"]["shares"].values()))
    p99 = next(row for row in tables["latency-read"]["rows"] if row[:2] == ["no-suspend", "p99"])
    both = [raw(folder, seed, 0)["latency_us"]["read"]["p99"] for seed in (1, 2)]
    assert p99[2] == pytest.approx(sum(both) / 2)
    assert p99[5] <= p99[2] <= p99[6], "two seeds give an interval"
    busy = [sum(row[5:]) for row in tables["dies"]["rows"]]
    assert busy == pytest.approx([1 - row[4] for row in tables["dies"]["rows"]])


def test_a_curve_says_how_many_were_slower() -> None:
    points = curve({10.0: 90, 20.0: 9, 40.0: 1}, 39.0)
    assert points == [(10.0, 1.0, 100), (10.0, 0.1, 10), (20.0, 0.01, 1), (39.0, 0.0, 0)]
    long = curve({float(k): 1 for k in range(1, 5001)}, 5000.0)
    kept = distinct(long)
    assert kept[0] == long[0]
    assert kept[-1] == long[-1]
    assert len(kept) < 700
    assert set(kept) <= set(long)
    # In the tail every request counts.
    assert long[-20:] == kept[-20:]


def test_a_percentile_of_few_requests_is_marked(folder: Path, content: str) -> None:
    assert "p99.999" in raw(folder, 1, 0)["latency_us"]["read"]["few"]
    marks = {row[1]: row[7] for row in data(content)["tables"]["latency-read"]["rows"] if row[1] != "curve"}
    assert marks["p99"] is False
    assert marks["p99.99"] is True
    table = content[content.index("<caption>Every figure") :]
    assert re.search(r"read p99\.99, µs</th><td>~", table)
    assert re.search(r"read p99, µs</th><td>[0-9]", table)


def test_settings_have_their_sources_and_chosen_ones_are_marked(content: str) -> None:
    changed = content[content.index("What differs from the defaults") : content.index("What differs between the cases")]
    assert "<code>flow.0.depth</code></th><td>8</td><td>" in changed
    assert "small.toml:16" in changed
    assert "part.read-lsb" not in changed, "a figure of the part is no choice"
    every = content[content.index("Every setting") :]
    assert re.search(r'<tr class="marked"><th scope="row"><code>flow.0.depth</code>', every)
    assert re.search(
        r"<tr><th scope=\"row\"><code>part.read-lsb</code></th><td>80us</td><td>part preset a4-tlc \(Zambelli", every
    )


def test_a_page_depends_on_its_results_alone(folder: Path) -> None:
    found = runs.load([folder])
    assert [run.result.seed for run in found] == [1, 2]
    # Made by a run, which had no files to read, among other figures of its process.
    assert run_page.page(found).decode().replace(str(folder), "") == (folder / page.NAME).read_text().replace(
        str(folder), ""
    )


def test_seeds_are_one_side_and_configurations_are_several(folder: Path) -> None:
    both = runs.of(runs.load([folder]))
    assert list(both.sides) == ["A"]
    assert [(series.label, series.seeds) for series in both.series] == [("no-suspend", [1, 2]), ("suspend-10", [1, 2])]
    (found,) = both.comparisons
    assert found.rows[0].case == "no-suspend -> suspend-10"
    assert found.rows[0].pairs == 2
    changed = json.loads((folder / "seed-1" / "result.json").read_text())
    for seed in sample.seeds(changed):
        seed["config"]["flow.0.depth"] = "9"
    other = runs.Run("other", package.Result(changed))
    sides = runs.of([*runs.load([folder]), other])
    assert list(sides.sides) == ["A", "B"]
    assert [series.label for series in sides.series][::2] == ["A: no-suspend", "B: no-suspend"]
    assert {row.case for row in sides.comparisons[0].rows} == {"no-suspend", "suspend-10"}
    change = sides.comparisons[0].differences[0]
    assert (change.key, change.a, change.b) == ("flow.0.depth", "8", "9")


def test_what_an_older_result_lacks_is_said(tmp_path: Path, interpulse: Cli) -> None:
    (tmp_path / "result.json").write_text(json.dumps(sample.two_cases()))
    assert interpulse("report", str(tmp_path)).code == 0
    text = (tmp_path / page.NAME).read_text()
    assert "This result holds no batches of its window: run with --report" in text
    assert "This result holds nothing about single dies: run with --report" in text
    assert "lines join its percentiles" in text
    assert "config.resolved.json does not lie beside this result" in text
    assert "latency-read" in data(text)["tables"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda raw: raw.update(schema_version=7), "seen schema_version = 7, of interpulse 0.1.0; expected 1 or 2"),
        (lambda raw: sample.seed(raw).pop("seed"), "a result of `interpulse run`: seen seed = none; expected int"),
        (lambda raw: sample.seed(raw).update(seed="x"), "a result of `interpulse run`: seen seed = 'x'; expected int"),
        (lambda raw: raw.update(experiment="fast12"), "is the result of the experiment 'fast12'"),
        (lambda raw: raw.update(characterize="erase"), "is the result of the characterization 'erase'"),
        (lambda raw: sample.seed(raw).update(latency_us=5), "no whole result by docs/result.schema.json (Attr"),
        (lambda raw: sample.seed(raw).update(batches=[{}]), "no whole result by docs/result.schema.json (KeyError"),
        (lambda raw: raw["cases"][0].update(seeds=[{"seed": 1, "config_hash": "ab"}]),
         "no case has figures to report"),
    ],
)  # fmt: skip
def test_no_result_is_refused_by_name(
    change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path, interpulse: Cli
) -> None:
    result = sample.result(sample.case("only"))
    change(result)
    (tmp_path / "result.json").write_text(json.dumps(result))
    ended = interpulse("report", str(tmp_path))
    assert ended.code == 2
    assert message in " ".join(ended.error().split())
    assert not (tmp_path / page.NAME).exists()


def test_nothing_but_a_page_is_overwritten(tmp_path: Path, interpulse: Cli) -> None:
    (tmp_path / "result.json").write_text(json.dumps(sample.result(sample.case("only"))))
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    ended = interpulse("report", str(tmp_path), "--out", str(mine))
    assert ended.code == 2
    assert "is no page of interpulse" in ended.error()
    assert mine.read_text() == "mine"
    assert "this is a folder" in interpulse("report", str(tmp_path), "--out", str(tmp_path)).error()
    assert "cannot read the result" in interpulse("report", str(tmp_path / "none")).error()
    earlier = tmp_path / page.NAME
    earlier.write_bytes(b"<html>" + page.MARK + b"earlier")
    assert interpulse("report", str(tmp_path)).code == 0
    assert b"earlier" not in earlier.read_bytes()


def test_an_interrupted_result_is_reported_as_such() -> None:
    result = sample.two_cases()
    sample.seed(result)["interrupted"] = True
    result["cases"][1]["seeds"] = [{"seed": 1, "config_hash": "ab", "interrupted": True}]
    report = runs.of([runs.Run("here", package.Result(result))])
    assert [series.label for series in report.series] == [result["cases"][0]["case"]]
    assert "was interrupted: its figures are those of a shorter run" in report.notes[0]
    assert "was interrupted before anything was measured and is left out" in report.notes[1]


def test_no_text_of_a_result_becomes_a_part_of_the_page() -> None:
    evil = '</script><img src=x onerror="alert(1)">'
    result = sample.case(evil)
    result["config"] = {"title": evil, "flow.0.depth": evil}
    text = run_page.page([runs.Run(evil, package.Result(result))]).decode()
    assert "<img" not in text
    assert evil in json.dumps(data(text)["tables"]["latency-read"]["rows"][0][0].replace('\\"', '"')).replace(
        '\\"', '"'
    )


def test_a_page_that_would_be_too_large_is_refused() -> None:
    wide = Chart(
        "a",
        "A",
        "About.",
        ("x",),
        [["x" * 100]] * 60_000,
        lambda drawing: drawing.figure("x", "y", drawing.range(0, 1), drawing.range(0, 1)),
    )
    with pytest.raises(ValueError, match="more than 5,000,000"):
        page.render("title", "about", [Section("s", "S", [wide])])
    with pytest.raises(ValueError, match="same name"):
        page.render("title", "about", [Section("s", "S", [wide, wide])])


def test_every_section_is_a_file_and_a_line() -> None:
    files = {path.stem for path in (Path(registry.__file__).parent / "sections").glob("*.py")} - {"__init__"}
    assert set(registry.SECTIONS) == files


def test_cells_are_escaped_and_figures_share_ranges() -> None:
    assert "&lt;b&gt;" in table("c", ["a", "<b>"], [["1", "2"]]).text
    assert "&lt;b&gt;" in prose("<b>").text
    drawing = Drawing()
    assert drawing.shared("window", 0, 1) is drawing.shared("window", 0, 5)


def test_a_run_writes_its_page_beside_its_result(tmp_path: Path, interpulse: Cli) -> None:
    path = tmp_path / "one.toml"
    path.write_text('drive = "a4-mini"\n[run]\nrequests = 1000\n[[flow]]\nname = "a"\n')
    asked = ["run", str(path), "--no-cache", "--report", "--out", str(tmp_path / "out")]
    ended = interpulse(*asked, "--set", "report.dies=false")
    assert ended.code == 0, ended.err
    assert "report.html" in ended.err
    text = (tmp_path / "out" / page.NAME).read_text()
    assert "This result holds nothing about single dies" in text, "what was asked by hand counts"
    assert "too short to decide" in text


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (("case.0.name=other",), "--repeat takes the cases as the file has them"),
        (("seed=18446744073709551615",), "the last seed is 18446744073709551615"),
    ],
)
def test_seeds_that_cannot_be_given_are_refused(sets: tuple[str, ...], message: str, interpulse: Cli) -> None:
    ended = interpulse("run", str(SMALL), "--repeat", "2", *(part for text in sets for part in ("--set", text)))
    assert ended.code == 2
    assert message in ended.error()


def test_a_case_with_a_seed_of_its_own_is_not_repeated(tmp_path: Path, interpulse: Cli) -> None:
    path = tmp_path / "own.toml"
    path.write_text(SMALL.read_text().replace('set = ["suspend.', 'set = ["seed=9", "suspend.'))
    assert "sets its own seed" in interpulse("run", str(path), "--repeat", "2").error()


def test_a_repeated_run_prints_means_and_json(tmp_path: Path, interpulse: Cli) -> None:
    path = tmp_path / "one.toml"
    path.write_text('drive = "a4-mini"\n[run]\nrequests = 2000\n[[flow]]\nname = "a"\n')
    ended = interpulse("run", str(path), "--repeat", "3", "--seed", "5", "--no-cache")
    assert ended.code == 0, ended.err
    assert "run, seeds 5, 6, 7" in ended.out
    assert "95 % interval" in ended.out
    found = interpulse("run", str(path), "--repeat", "2", "--seed", "5", "--no-cache", "--json").json()
    check(found)
    (case,) = found["cases"]
    assert (case["case"], [seed["seed"] for seed in case["seeds"]]) == ("run", [5, 6])


def test_a_page_that_cannot_be_written_costs_no_result(tmp_path: Path, interpulse: Cli) -> None:
    """The folder of the page is a file."""
    (tmp_path / "result.json").write_text(json.dumps(sample.result(sample.case("only"))))
    (tmp_path / "file").write_text("")
    ended = interpulse("report", str(tmp_path), "--out", str(tmp_path / "file" / "x.html"))
    assert ended.code == 2
    assert "file" in ended.error()
