"""Does `interpulse papers` show every published figure, judge it as its label says, and reuse what there is?"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from interpulse.characterize.registry import KINDS
from interpulse.experiments import registry
from interpulse.papers import catalogue
from interpulse.papers.output import Report, page, render
from interpulse.papers.table import Line, counts, summary
from interpulse.studies.outcome import Row
from interpulse.studies.published import Expected
from interpulse.studies.status import SILENT, Status
from interpulse.studies.verdict import APART, Agreement
from interpulse.tables.format import short_figure
from interpulse.tables.layout import cells
from tests import experiment_sample
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from interpulse.studies.registry import Entry
    from tests.conftest import Ended

    Command = Callable[..., Ended]

PAPERS = """\
[[paper]]
name = "one"
title = "One: a paper"
experiments = ["mini"]
[[paper.missing]]
figure = "Figure 9"
why = "nobody can."
"""

QUICK = ("--quick", "--repeat", "1")

PAGE = ROOT / "docs" / "PAPERS.md"

STUDIES: tuple[Entry, ...] = (*registry.EXPERIMENTS, *KINDS)


@pytest.fixture
def mini(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """One paper with the miniature as its experiment; how many cases each call of the simulator was given."""
    experiment_sample.install(monkeypatch, tmp_path)
    file = tmp_path / "papers.toml"
    file.write_text(PAPERS)
    monkeypatch.setattr(catalogue, "FILE", file)
    return experiment_sample.counted(monkeypatch)


@pytest.mark.parametrize("study", STUDIES, ids=lambda each: each.title)
def test_every_published_row_is_labelled(study: Entry) -> None:
    """`Expected.load` refuses what is not; this asks the files themselves."""
    for row in study.context().expected().rows.values():
        assert row.said == (row.status is not Status.OURS), row.name
        assert row.why or row.status in SILENT, row.name
        assert not re.search("; (calibrated|fitted|blind|untuned)", row.figure), "the label is the place for that"


@pytest.mark.parametrize(
    ("study", "row", "status"),
    [
        ("fast12", "read_vs_rps_ipc_mean", Status.BY_CONSTRUCTION),
        ("fast12", "jsa14_read_vs_rps_mean", Status.CALIBRATED),
        ("fast12", "read_vs_fifo_ipc_mean", Status.CALIBRATED),
        ("characterize reprogram", "mean_reprogram_unaged", Status.FITTED),
        ("characterize reprogram", "max_reprogram_year", Status.FITTED),
        ("atc19-fio", "qd1_read_mean_us", Status.CALIBRATED),
        ("atc19-act", "act_x_stress_es", Status.ASSUMED),
        ("starblaze", "r2w1_t1_write_mean_before", Status.CALIBRATED),
        ("starblaze", "sequential_write", Status.CALIBRATED),
        ("starblaze", "random_write", Status.FITTED),
        ("starblaze", "read_latency", Status.PAPER_INCONSISTENT),
        ("ressd", "baseline_gc_share", Status.CALIBRATED),
        ("ressd", "mlc_write_latency", Status.FITTED),
        ("ressd", "mlc_pwe", Status.BY_CONSTRUCTION),
        ("ressd", "gc_time", Status.FITTED),
        ("ressd", "gc_runs", Status.PAPER_INCONSISTENT),
        ("ressd", "write_latency", Status.ASSUMED),
        ("ressd", "free_pages", Status.ASSUMED),
        ("ressd", "proj_1_write_mlc_over_ressd", Status.ASSUMED),
        ("suspend-tlc", "iops_gain_rank_qd64_25w", Status.ASSUMED),
        ("suspend-tlc", "total_p99.99_gain_us_qd64_25w", Status.ASSUMED),
        ("fast12", "ips_over_ipc_max", Status.BY_CONSTRUCTION),
    ],
)
def test_what_was_chosen_on_a_figure_is_not_called_untuned(study: str, row: str, status: Status) -> None:
    (entry,) = (each for each in STUDIES if each.title == study)
    assert entry.context().expected().rows[row].status is status


def test_every_study_of_a_paper_is_in_the_catalogue() -> None:
    """All but those of what no paper, or none of the five, has."""
    listed = [study.title for paper in catalogue.papers() for study in paper.studies]
    others = {
        "reprogram-suspend",
        "decade",
        "database",
        "database-sqlite",
        "characterize retention",
        "characterize endurance",
    }
    assert sorted(listed) == sorted({study.title for study in STUDIES} - others)


def test_the_catalogue_leaves_out_rows_that_there_are() -> None:
    for paper in catalogue.papers():
        assert paper.missing
        rows = {row for study in paper.studies for row in study.context().expected().rows}
        assert paper.repeats <= rows


def line(**fields: Any) -> Line:  # noqa: ANN401 - of a row
    status = fields.pop("status", Status.UNTUNED)
    return Line("p", "s", Row("row", "Figure 1", "us", status=status, **{"published": None, "ours": None} | fields))


@pytest.mark.parametrize(
    ("fields", "agreement"),
    [
        ({"published": 100.0, "ours": 110.0}, Agreement.NEAR),
        ({"published": -100.0, "ours": -90.0}, Agreement.NEAR),
        ({"published": 100.0, "ours": 111.0}, Agreement.QUARTER),
        ({"published": 100.0, "ours": 75.0}, Agreement.QUARTER),
        ({"published": 100.0, "ours": 74.9}, Agreement.OUTSIDE),
        ({"published": 100.0, "ours": -100.0}, Agreement.OUTSIDE),
        ({"published": 100.0, "ours": 120.0, "low": 60.0, "high": 150.0}, Agreement.QUARTER),
        ({"published": 4.0, "ours": 1.0, "high": 4.0}, Agreement.HOLDS),
        ({"published": 4.0, "ours": 4.0, "high": 4.0}, Agreement.EQUAL),
        ({"ours": 0.0, "low": 0.0}, Agreement.EQUAL),
        ({"ours": 1.0, "ci_low": -2.0, "ci_high": 4.0, "low": 0.0}, Agreement.UNDECIDED),
        ({"ours": -1.0, "ci_low": -4.0, "ci_high": 2.0, "low": 0.0}, Agreement.UNDECIDED),
        ({"ours": 2.0, "ci_low": 1.0, "ci_high": 3.0, "low": 0.0}, Agreement.HOLDS),
        ({"ours": -2.0, "ci_low": -3.0, "ci_high": -1.0, "low": 0.0}, Agreement.FAILS),
        ({"published": 0.0, "ours": 1.0, "ci_low": -1.0, "ci_high": 3.0, "low": 0.0, "high": 0.0}, Agreement.UNDECIDED),
        ({"published": 100.0, "ours": 134.0, "high": 100.0}, Agreement.FAILS),
        ({"ours": 2.7, "low": 3.0, "high": 4.0}, Agreement.FAILS),
        ({"published": 0.0, "ours": 0.0, "low": 0.0, "high": 0.0}, Agreement.HOLDS),
        ({"published": 20.0, "ours": 99.0, "status": Status.PAPER_INCONSISTENT}, Agreement.INCONSISTENT),
        ({"published": 20.0}, Agreement.NONE),
    ],
)
def test_agreement_is_the_ratio_or_the_statement(fields: dict[str, Any], agreement: Agreement) -> None:
    assert line(**fields).agreement is agreement


def test_what_was_made_to_agree_is_counted_apart() -> None:
    same = {"published": 1.0, "ours": 1.0}
    lines = [line(status=status, **same) for status in (*APART, Status.FITTED, Status.ASSUMED)]
    found = counts([*lines, line(published=1.0, ours=2.0)])
    assert {status: of.total() for status, of in found.items()} == dict.fromkeys(
        (Status.CALIBRATED, Status.FITTED, Status.BY_CONSTRUCTION, Status.UNTUNED, Status.ASSUMED), 1
    )
    text = summary([*lines, line(published=1.0, ours=2.0)])
    assert "calibrated on: 3 (2 within 10 %, 1 outside)" in text
    assert text.endswith("Counted apart: 1 calibrated, 1 by-construction.")


def test_json_has_the_rows_the_counts_and_what_is_not_reproduced(interpulse: Command, mini: list[int]) -> None:
    result = interpulse("papers", *QUICK, "--json").json()
    assert [row["name"] for row in result["rows"]] == ["read_mean", "suspended_gain"], "a row of ours says nothing"
    read = result["rows"][0]
    assert (read["paper"], read["study"], read["status"]) == ("one", "mini", "calibrated")
    assert read["why"]
    assert read["ratio"] == pytest.approx(read["ours"] / 100)
    assert read["agreement"] in [str(each) for each in Agreement]
    assert {status: sum(of.values()) for status, of in result["counts"].items()} == {"calibrated": 1, "untuned": 1}
    assert result["not_reproduced"] == [{"paper": "one", "figure": "Figure 9", "why": "nobody can."}]
    assert mini == [2]


def test_a_quick_table_is_of_one_seed(interpulse: Command, mini: list[int]) -> None:
    """All papers have to be there within minutes: `interpulse experiment --quick` has three seeds, this has not."""
    ended = interpulse("papers", "--quick", "--json")
    assert (ended.code, mini, json.loads(ended.out)["seeds"]) == (0, [2], 1)
    assert interpulse("papers", *QUICK, "--json").out == ended.out


def test_a_run_with_several_seeds_says_how_sure_it_is(interpulse: Command, mini: list[int], tmp_path: Path) -> None:
    ended = interpulse("papers", "--quick", "--repeat", "3", "--out", str(tmp_path / "out"))
    assert (ended.code, mini) == (0, [2, 2, 2])
    assert "3 seeds from 1 on" in ended.out
    read, _ = json.loads((tmp_path / "out" / "result.json").read_text())["rows"]
    assert read["ci_low"] < read["ours"] < read["ci_high"]
    told = f"| {short_figure(read['ours'])} ± {short_figure(read['ci_high'] - read['ours'])} |"
    assert told in (tmp_path / "out" / "PAPERS.md").read_text()


def test_what_an_experiment_left_is_not_run_again(interpulse: Command, mini: list[int]) -> None:
    assert interpulse("experiment", "mini", *QUICK, "--json").code == 0
    first = interpulse("papers", *QUICK, "--json")
    assert mini == [2]
    assert interpulse("papers", "one", *QUICK, "--json").out == first.out
    assert interpulse("papers", *QUICK, "--json", "--no-cache").out == first.out
    assert mini == [2, 2]


def test_the_folder_has_table_csv_json_and_the_page(interpulse: Command, mini: list[int], tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = interpulse("papers", *QUICK, "--out", str(out))
    assert (ended.code, mini) == (0, [2])
    assert (out / "table.txt").read_text() == ended.out
    assert "not reproduced: Figure 9. nobody can." in ended.out
    assert "mini (1 of 1): " in ended.err
    rows = json.loads((out / "result.json").read_text())["rows"]
    with (out / "papers.csv").open() as file:
        assert [row["status"] for row in csv.DictReader(file)] == [row["status"] for row in rows]
    text = (out / "PAPERS.md").read_text()
    assert "## One: a paper" in text
    assert "- Figure 9. nobody can." in text
    assert re.search(
        r"^\| read\\_mean \| mini \| Figure 1 \| 100 us \|.*\| calibrated \| host\.firmware was", text, re.M
    )
    assert interpulse("papers", *QUICK, "--csv").out == (out / "papers.csv").read_text()


@pytest.mark.usefixtures("mini")
def test_mistakes_are_named(interpulse: Command, tmp_path: Path) -> None:
    ended = interpulse("papers", "ones", *QUICK)
    assert (ended.code, ended.error()) == (2, "no paper 'ones': did you mean one? There are one")
    ended = interpulse("papers", "--json", "--csv")
    assert ended.code == 2
    assert "both use standard output" in ended.error()
    (tmp_path / "file").write_text("")
    assert "this is a file, not a folder" in interpulse("papers", "--out", str(tmp_path / "file")).error()


def test_ctrl_c_keeps_what_had_ended(interpulse: Command, mini: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = experiment_sample.run

    def stopped(context: Any) -> Any:  # noqa: ANN401 - as `run`
        whole(context)
        raise KeyboardInterrupt

    monkeypatch.setattr(experiment_sample, "run", stopped)
    ended = interpulse("papers", *QUICK, "--json")
    assert (ended.code, ended.out) == (130, "")
    assert "interrupted after 2 of 2 simulations; completed ones are stored in" in ended.err
    monkeypatch.setattr(experiment_sample, "run", whole)
    assert interpulse("papers", *QUICK, "--json").code == 0
    assert mini == [2], "nothing was run again"


def everything() -> Report:
    """All papers, as if ours were published: what fits has to fit with the longest names and reasons."""
    papers = catalogue.papers()
    lines = []
    for paper in papers:
        for study in paper.studies:
            for row in study.context().expected().rows.values():
                if row.said and row.name not in paper.repeats:
                    said = Row(row.name, row.figure, row.unit, row.value, row.value, status=row.status, why=row.why)
                    lines.append(Line(paper.name, study.title, said))
    return Report(papers, lines, quick=True, seed=1)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
def test_all_papers_fit_the_width(width: int) -> None:
    text = render(everything(), width)
    assert all(cells(each) <= width for each in text.splitlines())
    assert text.count("not reproduced: ") == sum(len(paper.missing) for paper in catalogue.papers())


def test_the_page_has_every_row_once_and_every_reason() -> None:
    report = everything()
    text = page(report)
    told = "|".join(status for status in Status if status is not Status.OURS)
    names = re.findall(rf"^\| ([a-z0-9\\_.-]+) \| .* \| (?:{told}) \| .*\|$", text, re.M)
    assert [name.replace("\\_", "_") for name in names] == [each.row.name for each in report.lines]
    for paper in report.papers:
        assert text.count(f"## {paper.title}\n") == 1
    assert all(len(each.split(" | ")) == 9 for each in text.splitlines() if each.startswith("| ") and "Figure" in each)


def test_a_reason_that_rows_share_stands_once(tmp_path: Path) -> None:
    why = "the same reason for both"
    lines = [line(published=1.0, ours=1.0, status=Status.ASSUMED, why=why) for _ in range(2)]
    paper = SimpleNamespace(name="p", title="P", missing=())
    assert render(Report([cast("Any", paper)], lines, quick=True, seed=1), 100).count(why) == 1
    assert Expected.load(experiment_sample.prepare(tmp_path) / "mini" / "expected.toml").rows["iops"].said is False


@pytest.mark.skipif(not PAGE.is_file(), reason="there is no page yet: `make papers` writes it")
def test_the_committed_page_is_of_these_rows() -> None:
    """Whoever changes a row or its label has to run `make papers` again."""
    text = PAGE.read_text().replace("\\_", "_")
    for each in everything().lines:
        assert re.search(rf"^\| {re.escape(each.row.name)} \| .* \| {each.row.status} \| ", text, re.M), each.row.name
