"""Does the experiment on real databases measure what it says, refuse what it cannot do, and resume?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from interpulse import ConfigError
from interpulse.blockdevice import commands, pgbench, requirements, sqlite
from interpulse.blockdevice.workload import Load
from interpulse.cli import run_app
from interpulse.experiments import registry, served_database
from interpulse.experiments.served_database import summary
from interpulse.studies.store import Store
from tests.sample import ROOT

PACE = 4.0


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ways, a small database, and a window of half a second."""
    monkeypatch.setattr(served_database, "WAYS", {way: served_database.WAYS[way] for way in ("none", "ideal")})
    monkeypatch.setattr(served_database, "WARM_UP_S", {True: 0.05})
    monkeypatch.setattr(served_database, "WINDOW_S", {True: 0.5})
    monkeypatch.setattr(sqlite, "ACCOUNTS", 20_000)
    monkeypatch.setattr(pgbench, "SCALE", 2)


def skip_without(name: str) -> None:
    lacking = registry.find(name).missing()
    if lacking:
        pytest.skip("; ".join(lacking))


def measures(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without(name)
    entry = registry.find(name)

    def run() -> Any:  # noqa: ANN401 - an outcome
        store = Store(folder / "answers")
        return entry.run(entry.context(quick=True, seeds=1, pace=PACE, store=store))

    first = run()
    found = {row.name: row for row in first.rows.ordered()}
    for way in ("none", "ideal"):
        for kind in ("read", "update"):
            # A read of this drive takes 115 us, and every transaction has some.
            low, high = found[f"{kind}_p50_{way}"].ours, found[f"{kind}_p99_{way}"].ours
            assert low is not None
            assert high is not None
            assert 20 < low <= high < 1e6
    runs = {(row[0], row[2]): dict(zip(first.curves[0].columns, row, strict=True)) for row in first.curves[0].rows}
    assert runs["none", "read"]["program suspends"] == 0
    assert runs["ideal", "read"]["program suspends"] > 0
    assert all(row["transactions"] > 20 for row in runs.values())
    assert {plot.name for plot in first.plots} == {"tails", "percentiles"}

    def never(*_: object) -> None:
        raise AssertionError("a finished measurement runs again")

    monkeypatch.setattr(served_database.Bench, "measure", never)
    again = run()
    assert [row.to_dict() for row in again.rows.ordered()] == [row.to_dict() for row in first.rows.ordered()]


@pytest.mark.usefixtures("small")
def test_sqlite_is_measured_and_its_answers_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measures("database-sqlite", tmp_path, monkeypatch)


@pytest.mark.verify
@pytest.mark.usefixtures("small")
def test_postgresql_is_measured_and_its_answers_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measures("database", tmp_path, monkeypatch)


@pytest.mark.verify
def test_ctrl_c_leaves_no_mount_and_no_loop_device(tmp_path: Path) -> None:
    skip_without("database-sqlite")
    line = [sys.executable, "-m", "interpulse", "experiment", "database-sqlite", "--quick", "--repeat", "1", "--json"]
    settings = {"PYTHONPATH": str(ROOT / "python"), "TMPDIR": str(tmp_path)}
    before = {path.name for path in Path("/dev/shm").iterdir()}

    def own() -> list[str]:
        """Mounts that began with this test."""
        mounts = [each.split()[1] for each in Path("/proc/self/mounts").read_text().splitlines()]
        return [each for each in mounts if "interpulse-database-" in each and Path(each).parent.name not in before]

    with subprocess.Popen(line, env=os.environ | settings, stderr=subprocess.PIPE, text=True) as process:
        began = time.monotonic()
        while not any(each.endswith("/mount") for each in own()):
            assert process.poll() is None
            assert time.monotonic() - began < 120
            time.sleep(0.1)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "interrupted after 0 of 6" in said
    assert own() == []
    assert {path.name for path in Path("/dev/shm").iterdir()} <= before


@pytest.mark.parametrize("name", ["database", "database-sqlite"])
def test_what_is_missing_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "path", lambda: "/nowhere")
    monkeypatch.setattr(requirements, "may_mount", lambda: False)
    entry = registry.find(name)
    with pytest.raises(ConfigError) as error:
        entry.run(entry.context(quick=True))
    said = str(error.value)
    assert f"experiment {name} cannot run here: " in said
    assert "there is no nbdfuse: apt-get install libnbd-bin" in said
    assert ("pgbench: apt-get install postgresql-contrib" in said) == (name == "database")
    assert "mounting needs root" in said


def test_a_user_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(ConfigError, match="there is no user 'nobody-of-this-name' here"):
        commands.account("nobody-of-this-name")


def test_a_cluster_is_refused() -> None:
    entry = registry.find("database")
    with pytest.raises(ConfigError, match="cannot run on a cluster"):
        entry.run(entry.context(quick=True, workers=object()))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["suspend-tlc", "--pace", "5"],
            "--pace is for real programs on a served drive, and suspend-tlc is a simulation",
        ),
        (["database", "--pace", "0.5"], "0.5"),
    ],
)
def test_a_wrong_pace_is_refused(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(["experiment", *arguments]) == 2
    assert expected in capsys.readouterr().err


def test_figures_are_wall_time_divided_by_the_pace() -> None:
    found = summary([number / 1000 for number in range(1, 1001)], 10)
    assert found["count"] == 1000
    assert found["p50"] == pytest.approx(50_000)
    assert found["p99"] == pytest.approx(99_000)
    assert found["p99.9"] == pytest.approx(99_900)
    assert found["mean"] == pytest.approx(50_050)
    assert found["curve"] == sorted(found["curve"])
    assert found["growth"] == pytest.approx(875.5 / 125.5)
    assert json.dumps(found)


def test_the_log_of_pgbench_is_read_by_arrival(tmp_path: Path) -> None:
    # Client, number, us from arrival, script, s, us, and the wait for a client in us.
    (tmp_path / "pgbench_log.1").write_text(
        "0 1 1000 1 100 1000 5\n0 2 2000 0 102 500000 5\n1 1 600000 1 102 500000 5\n1 2 skipped 1 103 0 5\n"
    )
    found = pgbench.latencies(tmp_path, Load(rate=1, warm_up=2, window=2, seed=1))
    assert found == {"read": [], "update": [0.002]}
