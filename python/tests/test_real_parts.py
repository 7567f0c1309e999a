"""Do the examples run unchanged on a Slurm and with a PostgreSQL server, both real, and come to the same bytes?"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import postgres, slurm_node
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.postgres import Server

SWEEP = str(ROOT / "examples" / "sweep.toml")
STUDY = str(ROOT / "examples" / "optimize.toml")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm_node.started(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres.started() as running:
        yield running


def command(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "interpulse", *arguments]
    seen = (environment or dict(os.environ)) | {"PYTHONPATH": str(ROOT / "python")}
    return subprocess.run(line, env=seen, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.verify
def test_the_sweep_of_the_examples_runs_on_slurm_by_the_three_lines_of_its_page(
    slurm: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "dask.json"
    # Jobs see the environment of srun.
    seen = slurm | {
        "PATH": f"{Path(sys.executable).parent}:{slurm['PATH']}",
        "PYTHONPATH": str(ROOT / "python"),
        "INTERPULSE_CACHE_DIR": str(tmp_path / "cache"),
    }
    lines = [
        ["srun", "-n", "1", "dask", "scheduler", "--scheduler-file", str(file)],
        [
            "srun",
            "-n",
            "2",
            "dask",
            "worker",
            "--scheduler-file",
            str(file),
            "--nthreads",
            "1",
            "--memory-limit",
            "4GB",
        ],
    ]
    with ExitStack() as ends:
        log = ends.enter_context((tmp_path / "log").open("wb"))
        for line in lines:
            job = subprocess.Popen(line, env=seen, cwd=tmp_path, stdout=log, stderr=log)
            ends.callback(job.wait, 30)
            ends.callback(job.terminate)
            end = time.monotonic() + 60
            while not file.exists():
                assert job.poll() is None, (tmp_path / "log").read_text()
                assert time.monotonic() < end, (tmp_path / "log").read_text()
                time.sleep(0.1)
        far = command("sweep", SWEEP, "--on", str(file), "--out", str(tmp_path / "far"), "--json", environment=seen)
        assert far.returncode == 0, far.stderr
    counts = json.loads(far.stdout)
    assert (counts["rows"], counts["simulated"], counts["failed"]) == (44, 44, 0)
    near = command("sweep", SWEEP, "--out", str(tmp_path / "near"))
    assert near.returncode == 0, near.stderr
    assert (tmp_path / "far" / "results.parquet").read_bytes() == (tmp_path / "near" / "results.parquet").read_bytes()


def told(folder: Path) -> dict[str, Any]:
    """The trials and the front, but for how many simulations were there already."""
    found: dict[str, Any] = json.loads((folder / "trials.json").read_text())
    assert found.pop("simulated") + found.pop("kept") == 24
    return found


def answers(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("store/index/*"))


@pytest.mark.verify
def test_the_study_of_the_examples_goes_on_in_postgresql_after_sigkill(server: Server, tmp_path: Path) -> None:
    out = tmp_path / "here"
    study = ("optimize", STUDY, "--out", str(out), "--storage", server.url)
    line = [sys.executable, "-m", "interpulse", *study]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    with subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        end = time.monotonic() + 120
        while answers(out) < 12 and time.monotonic() < end and run.poll() is None:
            time.sleep(0.05)
        run.kill()
        _, said = run.communicate()
    assert run.returncode == -signal.SIGKILL, said
    before = answers(out)
    whole = command(*study)
    assert whole.returncode == 0, whole.stderr
    assert not (out / "study.db").exists(), "the trials are in the server"

    # The same simulations with SQLite: the same trials, the same front.
    other = tmp_path / "sqlite"
    shutil.copytree(out / "store", other / "store")
    lite = command("optimize", STUDY, "--out", str(other))
    assert lite.returncode == 0, lite.stderr
    assert told(out) == told(other)
    assert answers(other) == answers(out) > before

    changed = tmp_path / Path(STUDY).name
    changed.write_text(Path(STUDY).read_text().replace('"5ms", to = "80ms"', '"5ms", to = "40ms"'))
    refused = command("optimize", str(changed), "--out", str(out), "--storage", server.url)
    assert refused.returncode == 2
    assert "parameter" in refused.stderr

    server.stop.close()
    gone = command(*study, "--trials", "40")
    assert gone.returncode == 2
    assert "it cannot be used" in gone.stderr
    assert "Traceback" not in gone.stderr
    for each in (whole, lite, refused, gone):
        assert postgres.PASSWORD not in each.stdout + each.stderr
