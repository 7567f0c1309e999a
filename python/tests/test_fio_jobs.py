"""Does interpulse make the jobs, requests and bytes of a fio job file that fio makes, and write them in fio's JSON?"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import interpulse as package
from interpulse import Config, ConfigError, Result
from interpulse.fio.options import VERSION, table
from interpulse.fitting.fio import options
from interpulse.fitting.fio.loads import loads
from interpulse.runs.fio.histogram import BUCKETS, bucket_of, percentiles, value_of
from tests import fio_jobs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

RECORDED: dict[str, Any] = json.loads(fio_jobs.RECORDED.read_text())


@pytest.fixture
def fio(interpulse: Callable[..., Ended], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Runs a job file on a small drive; returns the output in fio's JSON."""

    def call(text: str, *options: str) -> dict[str, Any]:
        (tmp_path / "job.fio").write_text(text)
        words = ("run", str(tmp_path / "job.fio"), "--drive", "a4-mini", "--cache-dir", str(tmp_path / "cache"))
        ended = interpulse(*words, "--output-format", "fio-json+", *options)
        assert ended.code == 0, ended.err
        found: dict[str, Any] = ended.json()
        return found

    return call


def test_the_options_and_the_record_are_of_one_version() -> None:
    assert RECORDED["version"] == VERSION
    assert set(RECORDED["jobs"]) == set(fio_jobs.JOBS)
    assert len(fio_jobs.JOBS) >= 30


@pytest.mark.parametrize("name", fio_jobs.JOBS)
def test_jobs_requests_and_bytes_are_those_of_fio(name: str, fio: Callable[..., dict[str, Any]]) -> None:
    output = fio(fio_jobs.JOBS[name])
    assert fio_jobs.differences(name, RECORDED["jobs"][name], fio_jobs.summary(output)) == []


def test_the_output_has_every_field_of_fio_with_its_type_and_no_other(fio: Callable[..., dict[str, Any]]) -> None:
    outputs = [fio(fio_jobs.JOBS[name]) for name in fio_jobs.FIELDS]
    found = {path: kind for output in outputs for path, kind in fio_jobs.fields(output).items()}
    assert found == RECORDED["fields"]
    assert fio_jobs.order(outputs[0]) == RECORDED["order"]


def test_the_comparison_with_fio_finds_what_differs() -> None:
    one = RECORDED["jobs"]["mix-70"]
    other = json.loads(json.dumps(one))
    other[0]["read"]["total_ios"] -= 300
    other[0]["write"]["total_ios"] += 300
    assert "reads and writes of fio" in fio_jobs.differences("mix-70", one, other)[0]
    other[0]["write"]["total_ios"] += 1
    assert "requests of fio" in fio_jobs.differences("mix-70", one, other)[0]
    other[0]["jobname"] = "other"
    assert "jobs" in fio_jobs.differences("mix-70", one, other)[0]


MIX = "[mix]\nioengine=libaio\ndirect=1\nsize=64m\nbs=4k\nrw=randrw\nrwmixread=75\niodepth=8\n"


def test_the_figures_are_those_of_the_result(fio: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    (job,) = fio(MIX, "--out", str(tmp_path / "out"))["jobs"]
    assert json.loads((tmp_path / "out" / "fio.json").read_text())["jobs"] == [job]
    raw = json.loads((tmp_path / "out" / "result.json").read_text())["cases"][0]["seeds"][0]
    for kind in ("read", "write"):
        ours, latency = raw["latency_us"][kind], job[kind]["clat_ns"]
        assert job[kind]["total_ios"] == latency["N"] == ours["count"]
        assert latency["mean"] == pytest.approx(1000 * ours["mean"], rel=1e-6)
        assert latency["max"] == round(1000 * ours["max"])
        # Buckets of fio are up to 1.6 % wide, those of the result 0.2 %.
        for key, name in (("50.000000", "p50"), ("99.000000", "p99"), ("99.900000", "p99.9")):
            assert latency["percentile"][key] == pytest.approx(1000 * ours[name], rel=0.02)
        assert sum(latency["bins"].values()) == ours["count"]
        assert job[kind]["io_bytes"] == 4096 * ours["count"]
        assert job[kind]["iops"] == pytest.approx(ours["count"] / raw["simulated_s"], rel=0.002)
    assert sum(job["iodepth_level"].values()) == pytest.approx(100)
    assert job["iodepth_level"]["8"] > 99
    levels = [job[f"latency_{unit}"] for unit in ("ns", "us", "ms")]
    assert sum(sum(level.values()) for level in levels) == pytest.approx(100, abs=1e-4)


def test_fit_reads_the_output_back_with_equal_figures(fio: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    output = fio(MIX)
    path = tmp_path / "out.json"
    path.write_text(json.dumps(output))
    (load,) = loads(path, 0.02, None, ())
    (job,) = output["jobs"]
    assert (load.pattern, load.block, load.depth) == ("random", 4096, 8)
    assert load.read == pytest.approx(job["read"]["total_ios"] / 16384)
    targets = {target.figure: target.value for target in load.targets}
    assert targets["iops"] == pytest.approx(job["read"]["iops"] + job["write"]["iops"])
    assert targets["read-p99"] == job["read"]["clat_ns"]["percentile"]["99.000000"]
    assert targets["write-p50"] == job["write"]["clat_ns"]["percentile"]["50.000000"]


def test_the_same_seed_gives_the_same_bytes_and_another_one_other_addresses(fio: Callable[..., dict[str, Any]]) -> None:
    text = "[a]\nsize=16m\nrw=randrw\nbssplit=4k/50:16k/50\n"
    assert fio(text, "--seed", "7") == fio(text, "--seed", "7")
    assert fio(text, "--seed", "7") != fio(text, "--seed", "8")


def test_a_random_job_visits_each_block_of_its_file_once(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    text = "[global]\nsize=4m\nrw=randread\n[a]\nbs=8k\n[b]\nbssplit=4k/50:32k/50\n[c]\nbs=4k\noffset=1m\nfilesize=8m\n"
    (tmp_path / "job.fio").write_text(text)
    words = ("run", str(tmp_path / "job.fio"), "--drive", "a4-mini", "--cache-dir", str(tmp_path / "cache"))
    ended = interpulse(*words, "--log", "requests", "--out", str(tmp_path / "out"))
    assert ended.code == 0, ended.err
    places = {
        name: (int(first), int(end))
        for name, first, end in re.findall(r"the file (\w)\.0\.0 has the bytes (\d+) to (\d+) of the drive", ended.err)
    }
    assert places == {"a": (0, 4 << 20), "b": (4 << 20, 8 << 20), "c": (8 << 20, 16 << 20)}
    log = polars.read_parquet(tmp_path / "out" / "run.requests.parquet")
    for name, start, length in (("a", 0, 4 << 20), ("b", 4 << 20, 4 << 20), ("c", 9 << 20, 4 << 20)):
        of_flow = log.filter(polars.col("flow") == name).sort("address_bytes")
        ends = (of_flow["address_bytes"] + of_flow["size_bytes"]).to_list()
        assert of_flow["address_bytes"].to_list() == [start, *ends[:-1]], name
        assert ends[-1] == start + length
    sizes = set(log.filter(polars.col("flow") == "b")["size_bytes"].to_list())
    assert 4096 in sizes
    assert all(size % 4096 == 0 and size <= 32768 for size in sizes)


def test_phases_pauses_rates_and_ramps_take_their_time(fio: Callable[..., dict[str, Any]]) -> None:
    text = (
        "[global]\nsize=4m\nrw=randread\n[a]\ntime_based\nruntime=2\niodepth=4\nioengine=libaio\n"
        "[b]\nstonewall\nthinktime=10ms\nnumber_ios=20\n[c]\nstonewall\nrate_iops=100\nnumber_ios=50\n"
    )
    first, second, third = fio(text)["jobs"]
    assert first["read"]["runtime"] in (2000, 2001)
    assert 190 <= second["read"]["runtime"] <= 200
    assert 500 <= third["read"]["runtime"] <= 502
    assert third["read"]["iops"] == pytest.approx(100, rel=0.01)
    assert first["read"]["iops_samples"] == 4
    assert first["elapsed"] == 3
    (ramped,) = fio("[a]\nsize=4m\nrw=randread\ntime_based\nruntime=1\nramp_time=500ms\n")["jobs"]
    assert ramped["read"]["runtime"] == pytest.approx(1000, abs=1)
    assert ramped["read"]["iops"] == pytest.approx(1e9 / ramped["read"]["lat_ns"]["mean"], rel=0.01)


def test_a_rate_that_fio_would_hold_back_is_noted(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    for rate, expected in ((100, False), (100_000, True)):
        (tmp_path / "job.fio").write_text(f"[a]\nsize=4m\nrw=randread\nrate_iops={rate}\nnumber_ios=200\n")
        words = ("run", str(tmp_path / "job.fio"), "--drive", "a4-mini", "--output-format", "fio-json")
        ended = interpulse(*words)
        assert ended.code == 0, ended.err
        assert ("requests of a were outstanding" in ended.err) is expected


def test_a_configuration_has_the_flows_of_a_job_file_beside_its_own(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[a]\nsize=4m\nrw=randwrite\nnumjobs=2\n")
    text = 'drive = "a4-mini"\n\n[[flow]]\nfio = "job.fio"\nqueue = 0\n\n[[flow]]\nname = "own"\nrequests = 500\n'
    config = Config.from_toml(text, path=str(tmp_path / "mine.toml"))
    result = package.run(config, no_cache=True)
    assert {flow["name"]: flow["host_requests"] for flow in result.flows} == {"own": 500, "a.0": 1024, "a.1": 1024}
    settings = {entry.key: entry.value for entry in config.entries()}
    assert settings["flow.1.address"] == "permuted"
    assert settings["flow.2.queue"] == "0"
    # From a dictionary, and with a mistake in another line.
    given = {"drive": "a4-mini", "flow": [{"fio": str(tmp_path / "job.fio")}]}
    assert isinstance(package.run(given, no_cache=True), Result)
    with pytest.raises(ConfigError, match=r"mine\.toml:10: flow\.0\.depht"):
        Config.from_toml(f"{text}depht = 3\n", path=str(tmp_path / "mine.toml")).resolve()


def test_a_log_of_requests_is_replayed(fio: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "v2.log").write_text("fio version 2 iolog\nf add\nf open\nf read 0 4096\nf write 8192 4096\nf close\n")
    (tmp_path / "v3.log").write_text(
        "fio version 3 iolog\n0 f add\n0 f open\n0 f read 0 4096\n200000 f read 4096 4096\n"
    )
    v2, v3, closed = fio(
        "[a]\nread_iolog=v2.log\n[b]\nread_iolog=v3.log\nreplay_redirect=/dev/x\nreplay_time_scale=200\n"
        "[c]\nread_iolog=v3.log\nreplay_no_stall=1\n"
    )["jobs"]
    assert (v2["read"]["total_ios"], v2["write"]["total_ios"]) == (1, 1)
    assert v3["read"]["runtime"] == pytest.approx(100, abs=1)
    assert closed["read"]["total_ios"] == 2
    assert closed["read"]["runtime"] < 10


def test_every_configuration_has_fio_output(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(
        'drive = "a4-mini"\n[run]\nrequests = 1000\n[[flow]]\nname = "x"\nread = 0.5\n[[flow]]\nname = "y"\n'
    )
    ended = interpulse("run", str(path), "--output-format", "fio-json", "--cache-dir", str(tmp_path / "cache"))
    assert ended.code == 0, ended.err
    jobs = ended.json()["jobs"]
    assert [job["jobname"] for job in jobs] == ["x", "y"]
    assert sum(job[kind]["total_ios"] for job in jobs for kind in ("read", "write")) == 1000
    assert "bins" not in jobs[0]["read"]["clat_ns"]


def test_buckets_hold_their_values() -> None:
    numpy = pytest.importorskip("numpy")
    values = [0, 1, 63, 64, 127, 128, 129, 130, 255, 1000, 12_345, 10**6, 10**9, 2**33]
    found = [int(index) for index in bucket_of(numpy.array(values))]
    assert found[:6] == [0, 1, 63, 64, 127, 128]
    for value, index in zip(values, found, strict=True):
        assert index < BUCKETS
        assert value_of(index) == pytest.approx(value, rel=0.5 / 64, abs=1)
    counts = [0] * BUCKETS
    counts[10], counts[20] = 99, 1
    assert percentiles(counts, (50, 99, 99.5)) == {"50.000000": 10, "99.000000": 10, "99.500000": 20}


def test_options_that_a_fit_reads_are_first_names_of_the_table() -> None:
    known = options.READ | options.HARMLESS | options.SWITCHED_BY_NOUGHT | set(options.OFF)
    assert known <= set(table())


def test_every_option_has_one_row_and_a_known_treatment() -> None:
    names = [name for option in table().values() for name in (option.name, *option.aliases)]
    assert len(names) == len(set(names)) > 200
    assert {option.treatment for option in table().values()} == {"read", "host", "output", "drop", "only", "no"}
    assert all(option.why for option in table().values())
