"""Blind rows: is the set-up the recorded one, was it committed first, and does a changed one end the status?"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from interpulse import ConfigError
from interpulse.characterize.registry import KINDS
from interpulse.experiments.blind import Measures
from interpulse.experiments.registry import EXPERIMENTS, SETUPS
from interpulse.runs.result import Result
from interpulse.studies import blind
from interpulse.studies.published import FILE, Expected
from interpulse.studies.status import Status
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

sys.path.insert(0, str(ROOT / "python" / "tools"))
from blind import OUTCOME, simulate

NAMES = sorted(path.parent.name for path in SETUPS.glob(f"*/{blind.FILE}"))
FOLDER = ROOT / "experiments"


def git(*arguments: str) -> bytes:
    """Output of a git command in the repository."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True, timeout=60).stdout


def added(path: Path) -> str:
    """The first commit with a file; empty if it is not committed."""
    name = path.relative_to(ROOT).as_posix()
    commits = git("log", "--diff-filter=A", "--reverse", "--format=%H", "--", name).decode().split()
    return commits[0] if commits else ""


def is_before(first: str, second: str) -> bool:
    """Whether a commit is a proper ancestor of another."""
    ended = subprocess.run(["git", "merge-base", "--is-ancestor", first, second], cwd=ROOT, check=False, timeout=60)
    return first != second and ended.returncode == 0


def test_there_are_blind_rows() -> None:
    found = {
        each.name for each in EXPERIMENTS for row in each.context().expected().rows.values() if row.status == "blind"
    }
    assert found
    assert found <= set(NAMES)


def test_no_study_calls_a_row_predicted() -> None:
    files = [*SETUPS.glob(f"*/{FILE}"), *(kind.context().published for kind in KINDS)]
    assert len(files) > 10
    statuses = [row["status"] for file in files for row in tomllib.loads(file.read_text()).get("row", [])]
    assert "predicted" not in statuses
    assert "untuned" in statuses


@pytest.mark.parametrize("name", NAMES)
def test_the_set_up_is_the_recorded_one(name: str) -> None:
    folder = FOLDER / name
    assert blind.is_unchanged(folder)
    assert Measures.load(folder).rows
    if (folder / OUTCOME).is_file():
        outcome = json.loads((folder / OUTCOME).read_text())
        assert outcome["setup-sha256"] == blind.Record.load(folder).setup_sha256
        assert list(outcome["rows"]) == [row["name"] for row in Measures.load(folder).rows]
    else:
        assert not (folder / FILE).exists(), "published figures before the outcome"


@pytest.mark.parametrize("name", NAMES)
def test_the_history_has_set_up_outcome_and_figures_in_this_order(name: str) -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a repository")
    if git("rev-parse", "--is-shallow-repository").strip() == b"true":
        pytest.skip("a shallow clone has no history")
    folder = FOLDER / name
    recorded, outcome, figures = (added(folder / file) for file in (blind.FILE, OUTCOME, FILE))
    if not recorded:
        pytest.skip("the set-up is not committed yet")
    held = [git("show", f"{recorded}:experiments/{name}/{file}") for file in (*blind.files(folder), blind.FILE)]
    then = tomllib.loads(held.pop().decode())["setup-sha256"]
    assert hashlib.sha256(b"".join(held)).hexdigest() == then == blind.Record.load(folder).setup_sha256
    if outcome:
        assert is_before(recorded, outcome)
    if figures:
        assert is_before(outcome, figures)


def copied(folder: Path) -> Path:
    """A copy of a blind study with published figures."""
    return shutil.copytree(FOLDER / "ioda", folder / "ioda")


def test_a_changed_set_up_makes_its_rows_fitted(tmp_path: Path) -> None:
    own = copied(tmp_path)
    assert {row.status for row in Expected.load(own / FILE).rows.values()} == {Status.BLIND}
    (own / blind.SETUP[0]).write_text((own / blind.SETUP[0]).read_text().replace('"10us"', '"20us"'))
    rows = Expected.load(own / FILE).rows.values()
    assert {(row.status, row.why) for row in rows} == {(Status.FITTED, blind.CHANGED)}
    with pytest.raises(ValueError, match="the set-up has changed since it was recorded"):
        simulate(own)


def test_an_error_table_belongs_to_its_set_up(tmp_path: Path) -> None:
    own = copied(tmp_path)
    assert blind.is_unchanged(own)
    (own / blind.TABLE).write_text("[error-table]\n")
    assert not blind.is_unchanged(own)


def test_blind_rows_need_a_record(tmp_path: Path) -> None:
    own = copied(tmp_path)
    (own / blind.FILE).unlink()
    with pytest.raises(ConfigError, match=r"blind\.toml"):
        Expected.load(own / FILE)
    (own / blind.FILE).write_text('setup-sha256 = "0"\n')
    with pytest.raises(ConfigError, match="read-before = None is not text"):
        Expected.load(own / FILE)


MEASURES = """\
[[axis]]
name = "load"
values = { light = {}, heavy = { "flow.0.depth" = 8 } }
[[axis]]
name = "mode"
values = { off = {}, on = { "suspend.erase.scheme" = "exact" } }
"""


def measures(folder: Path, row: str) -> Measures:
    """Measures with one row."""
    (folder / blind.SETUP[1]).write_text(f'{MEASURES}[[row]]\nname = "a"\nof = ["x"]\n{row}\n')
    return Measures.load(folder)


@pytest.mark.parametrize(
    ("row", "value"),
    [
        ('where = { load = "light", mode = "on" }', 20.0),
        ('where = { load = "heavy" }', 55.0),
        ('where = { load = "heavy" }\ntake = "max"', 60.0),
        ('per = ["y"]\nwhere = { load = "light", mode = "off" }', 20.0),
        # Light: 40 / 20, heavy: 60 / 50.
        ('ratio = { mode = ["off", "on"] }', 1.6),
        ('ratio = { mode = ["off", "on"] }\ntake = "max"', 2.0),
        # Light: 20 / 40 - 1, heavy: 50 / 60 - 1.
        ('change = { mode = ["off", "on"] }', (-50.0 - 100.0 / 6.0) / 2.0),
    ],
)
def test_a_row_is_a_mean_over_its_cases(row: str, value: float, tmp_path: Path) -> None:
    found = measures(tmp_path, row)
    assert found.sets(found.cases()["heavy_on"]) == {"flow.0.depth": 8, "suspend.erase.scheme": "exact"}
    figures: dict[str, dict[str, Any]] = {
        "light_off": {"x": 40.0, "y": 2.0},
        "light_on": {"x": 20.0, "y": 2.0},
        "heavy_off": {"x": 60.0, "y": 2.0},
        "heavy_on": {"x": 50.0, "y": 2.0},
    }
    results = {name: Result({"case": name, **raw}) for name, raw in figures.items()}
    assert found.found(results)["a"] == pytest.approx(value)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("form = 1", "legal are change, name, of, per, ratio, take, where"),
        ('where = { load = "none" }', "there is no axis 'load' with a value 'none'"),
        ('ratio = { mode = ["off"] }', "takes one axis with two of its values"),
        ('take = "least"', "take = 'least' is not one of mean, max"),
    ],
)
def test_a_wrong_row_is_refused(row: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        measures(tmp_path, row)


@pytest.mark.verify
@pytest.mark.parametrize("name", [name for name in NAMES if (FOLDER / name / OUTCOME).is_file()])
def test_an_outcome_is_what_its_set_up_gives(name: str) -> None:
    folder = FOLDER / name
    found = simulate(folder)["rows"]
    assert isinstance(found, dict)
    for row, values in json.loads((folder / OUTCOME).read_text())["rows"].items():
        assert found[row] == pytest.approx(values, rel=0.25), row
