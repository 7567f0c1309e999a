"""Do real fio (`apt install fio`) and interpulse agree on job files, and do fio's tools read interpulse's output?"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from interpulse.fio.options import first_names
from tests import fio_jobs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

pytestmark = pytest.mark.verify

TOOLS = ("fio", "fio_jsonplus_clat2csv")


@pytest.fixture(autouse=True)
def _programs() -> None:
    missing = [name for name in TOOLS if shutil.which(name) is None]
    if missing:
        pytest.skip(f"there is no {', '.join(missing)} on this machine")


@pytest.fixture
def ours(interpulse: Callable[..., Ended], tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    """Runs a job file on a small drive; returns the output in fio's JSON."""

    def call(text: str) -> dict[str, Any]:
        (tmp_path / "ours.fio").write_text(text)
        ended = interpulse("run", str(tmp_path / "ours.fio"), "--drive", "a4-mini", "--output-format", "fio-json+")
        assert ended.code == 0, ended.err
        found: dict[str, Any] = ended.json()
        return found

    return call


@pytest.mark.parametrize("name", fio_jobs.JOBS)
def test_both_make_the_same_jobs_requests_and_bytes(
    name: str, ours: Callable[[str], dict[str, Any]], tmp_path: Path
) -> None:
    text = fio_jobs.JOBS[name]
    real = fio_jobs.summary(fio_jobs.of_fio(text, tmp_path))
    assert fio_jobs.differences(name, real, fio_jobs.summary(ours(text))) == []


def test_both_write_the_same_fields(ours: Callable[[str], dict[str, Any]], tmp_path: Path) -> None:
    real: dict[str, str] = {}
    found: dict[str, str] = {}
    for name in fio_jobs.FIELDS:
        real |= fio_jobs.fields(fio_jobs.of_fio(fio_jobs.JOBS[name], tmp_path))
        found |= fio_jobs.fields(ours(fio_jobs.JOBS[name]))
    # Another version of fio may have more fields, and must have all of these.
    assert found.items() <= real.items()


def test_every_option_of_fio_is_in_the_table() -> None:
    listed = fio_jobs.of_program("fio", "--cmdhelp=all").splitlines()
    names = {line.split()[0].rstrip(":") for line in listed if line.strip()}
    assert len(names) > 200
    assert names <= set(first_names())


def test_fio_and_interpulse_write_the_same_buckets(tmp_path: Path) -> None:
    """A latency of fio's own output lies in the bucket that has its value here."""
    numpy = pytest.importorskip("numpy")
    from interpulse.runs.fio.histogram import bucket_of, value_of

    output = fio_jobs.of_fio("[j]\nioengine=null\nrw=randread\nsize=64m\n", tmp_path)
    values = [int(value) for value in output["jobs"][0]["read"]["clat_ns"]["bins"]]
    assert [value_of(int(bucket)) for bucket in bucket_of(numpy.array(values))] == values


DISTRIBUTIONS = ("zipf:1.2", "zipf:0.8", "pareto:0.2", "pareto:0.4", "normal:0", "normal:30", "zoned:60/10:30/20:10/70")
BLOCKS, REQUESTS = 1024, 102_400


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_both_have_the_same_popular_blocks(distribution: str, interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    """Shares of the requests to the most popular blocks; deviations by chance are below 0.0016.

    fio's Zipf generator approximates the weights: 10 of 1024 blocks get 0.589 of the requests instead of 0.567 at 1.2.
    """
    polars = pytest.importorskip("polars")
    text = f"[j]\nioengine=null\nrw=randread\nsize=4m\nio_size=400m\nrandom_distribution={distribution}\n"
    fio_jobs.of_fio(text, tmp_path, "--write_iolog=io.log")
    rows = [line.split() for line in (tmp_path / "io.log").read_text().splitlines()]
    real = Counter(int(row[3]) for row in rows if len(row) == 5 and row[2] == "read")
    words = ("--drive", "a4-mini", "--log", "requests", "--out", str(tmp_path / "out"))
    assert interpulse("run", str(tmp_path / "job.fio"), *words).code == 0
    found = Counter(polars.read_parquet(tmp_path / "out" / "run.requests.parquet")["address_bytes"].to_list())
    assert real.total() == found.total() == REQUESTS
    for blocks in (1, BLOCKS // 100, BLOCKS // 10, BLOCKS // 3):
        shares = [sum(count for _, count in each.most_common(blocks)) / REQUESTS for each in (real, found)]
        off = 0.03 if distribution.startswith("zipf") else 0.012
        assert shares[0] == pytest.approx(shares[1], abs=off), blocks


def test_fios_own_tool_reads_the_output(ours: Callable[[str], dict[str, Any]], tmp_path: Path) -> None:
    output = ours("[global]\nsize=4m\n[a]\nrw=randrw\n[b]\nrw=write\nlat_percentiles=1\n")
    (tmp_path / "out.json").write_text(json.dumps(output))
    words = ["fio_jsonplus_clat2csv", "out.json", "out.csv"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    for number, job in enumerate(output["jobs"]):
        with (tmp_path / f"out_job{number}.csv").open() as file:
            rows = [{key.strip(): text.strip() for key, text in row.items() if key} for row in csv.DictReader(file)]
        for kind in ("read", "write"):
            counts = [int(row[f"{kind}_clat_ns_count"]) for row in rows if row[f"{kind}_clat_ns_count"]]
            assert sum(counts) == job[kind]["total_ios"]
