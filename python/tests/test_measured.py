"""Measured figures of blind studies: are they read from fio's output, and only beside an outcome?"""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from interpulse.experiments.registry import SETUPS
from interpulse.studies.published import FILE, Expected
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

sys.path.insert(0, str(ROOT / "python" / "tools"))
import measured
from blind import OUTCOME

LATENCY = {"mean": 78250.0, "percentile": {"99.000000": 218112, "99.900000": 374784}}
OUTPUT = "fio: a note\n" + json.dumps({"jobs": [{"jobname": "fill"}, {"jobname": "read", "read": {"lat_ns": LATENCY}}]})
STUDY = "zn540"


@pytest.mark.parametrize(("which", "us"), [("mean", 78.25), ("p99", 218.112), ("p99.9", 374.784)])
def test_a_figure_is_that_of_the_job(which: str, us: float) -> None:
    assert measured.figure(OUTPUT, "read", ["latency_us", "read", which], "here") == us


@pytest.mark.parametrize(
    ("job", "kind", "which"), [("trim", "read", "mean"), ("read", "write", "mean"), ("read", "read", "p50")]
)
def test_what_fio_did_not_measure_is_named(job: str, kind: str, which: str) -> None:
    with pytest.raises(ValueError, match=f"here: job '{job}' has no {kind} {which}"):
        measured.figure(OUTPUT, job, ["latency_us", kind, which], "here")


def test_each_row_is_read_from_the_file_of_its_case(tmp_path: Path) -> None:
    own = shutil.copytree(SETUPS / STUDY, tmp_path / STUDY)
    files = {row.figure for row in Expected.load(SETUPS / STUDY / FILE).rows.values()}
    folder = tmp_path / "data" / "custom" / "zns-a" / "rate_inteference"
    folder.mkdir(parents=True)
    for number, name in enumerate(sorted(files)):
        latency = {"mean": 1000.0 * number, "percentile": {"99.000000": 7000, "99.900000": 8000}}
        (folder / name).write_text(json.dumps({"jobs": [{"jobname": "read", "read": {"lat_ns": latency}}]}))
    (own / FILE).write_text(measured.expected(own, measured.read(own, tmp_path)))
    rows = Expected.load(own / FILE).rows
    assert list(rows) == list(json.loads((own / OUTCOME).read_text())["rows"])
    for number, name in enumerate(sorted(files)):
        values = [row.value for row in rows.values() if row.figure == name]
        assert values == 2 * [float(number), 7.0, 8.0]


@pytest.mark.parametrize("name", measured.STUDIES)
def test_the_page_has_the_figures_and_the_outcome(name: str) -> None:
    assert measured.table(SETUPS / name) in measured.PAGE.read_text()


def test_no_figure_is_read_before_the_outcome(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / STUDY).mkdir()
    monkeypatch.setattr(measured, "SETUPS", tmp_path)
    with pytest.raises(SystemExit, match="the outcome comes before the measured figures"):
        measured.main([STUDY, str(tmp_path)])
