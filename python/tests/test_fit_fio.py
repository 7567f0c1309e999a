"""fio's output in a fit: do measurements outrank options, is all that was read listed?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import interpulse
from interpulse import Config
from interpulse.fitting.spec import Spec
from interpulse.fitting.targets import Load, Target
from tests import fio_like
from tests.fio_like import measured, reported

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FREE = {"key": "host.firmware", "from": "1us", "to": "60us"}

READS = {"rw": "randread", "bs": "4k", "iodepth": "8"}
"""Options of reads whose rate times latency is 8."""


def of_text(tmp_path: Path, text: str, **more: object) -> tuple[Load, ...]:
    (tmp_path / "fio.json").write_text(text)
    fio = [{"file": str(tmp_path / "fio.json"), **more}]
    return Spec.of({"config": {"drive": "a4-mini"}, "fio": fio, "free": [FREE], "hold-out": "0%"}).loads


def of_jobs(tmp_path: Path, jobs: Sequence[Mapping[str, Any]], **more: object) -> tuple[Load, ...]:
    return of_text(tmp_path, fio_like.output(jobs), **more)


def one(tmp_path: Path, options: Mapping[str, str], **parts: Any) -> Load:  # noqa: ANN401 - JSON
    (load,) = of_jobs(tmp_path, [reported(options, **parts)])
    return load


def figures(load: Load) -> list[str]:
    return [target.figure for target in load.targets]


# ---- what is read -------------------------------------------------------------------------------------


def test_jobs_are_loads(tmp_path: Path) -> None:
    mixed = reported(
        {"rw": "randrw", "bs": "8k", "iodepth": "4", "numjobs": "3", "rwmixread": "70"},
        "mix",
        read=measured(35_000, 240, size=8192),
        write=measured(15_000, 240, size=8192),
    )
    sync = reported(
        {"readwrite": "read", "blocksize": "1m", "iodepth": "9", "ioengine": "psync"},
        "sync",
        read=measured(1_000, 950, size=2**20),
    )
    rr, mix, psync = of_jobs(tmp_path, [reported(READS, read=measured()), mixed, sync], **{"held-out": ["mix"]})
    assert (rr.pattern, rr.read, rr.block, rr.depth, rr.state) == ("random", 1.0, 4096, 8, "filled")
    assert figures(rr) == ["iops", "read-p50", "read-p99", "read-p99.9", "read-p99.99"]
    assert [target.value for target in rr.targets] == [50_000.0, 150e3, 200e3, 300e3, 400e3]
    assert (mix.read, mix.block, mix.depth, mix.state) == (0.7, 8192, 12, "steady")
    assert figures(mix)[:2] == ["iops", "read-mean"]
    assert mix.targets[0].value == 50_000
    assert all(target.held_out for target in mix.targets)
    assert not any(target.held_out for target in rr.targets)
    assert (psync.pattern, psync.depth, psync.block) == ("sequential", 1, 2**20)


@pytest.mark.parametrize(
    ("options", "reads"),
    [
        ({"rwmixwrite": "30"}, 699),
        ({"rwmixread": "70"}, 703),
        ({"rwmixread": "70", "rwmixwrite": "30"}, 700),
        ({}, 505),
    ],
)
def test_the_share_of_reads_is_measured(options: dict[str, str], reads: int, tmp_path: Path) -> None:
    parts = {"read": measured(10.0 * reads, 800), "write": measured(10.0 * (1000 - reads), 800)}
    load = one(tmp_path, {"rw": "randrw", "bs": "4k", "iodepth": "8", **options}, **parts)
    assert load.read == pytest.approx(reads / 1000)


@pytest.mark.parametrize(
    ("text", "size"),
    [("4k", 4096), ("4K", 4096), ("4kib", 4096), ("4KiB", 4000), ("4096", 4096), ("4k,8k", 4096), ("4k,4k,4k", 4096)],
)
def test_the_size_is_measured(text: str, size: int, tmp_path: Path) -> None:
    """In fio, KiB is 1000 bytes unless kb_base says otherwise."""
    assert one(tmp_path, READS | {"bs": text}, read=measured(size=size)).block == size


def test_one_size_that_contradicts_the_others_is_said(tmp_path: Path) -> None:
    wrong = measured() | {"io_bytes": 1_024_000_000}
    del wrong["io_kbytes"]
    load = one(tmp_path, READS, read=wrong)
    assert load.block == 4096
    assert any(
        "read.io_bytes contradicts bw_bytes: it makes 2048 B of a request; 4096 B" in note for note in load.notes
    )


@pytest.mark.parametrize(
    ("options", "latency_us", "depth"),
    [
        ({"iodepth": "8"}, 160, 8),
        ({"iodepth": "8"}, 150, 8),
        ({"iodepth": "8"}, 120, 6),
        ({"iodepth": "2", "numjobs": "4"}, 160, 8),
        ({"iodepth": "64", "ioengine": "sync", "numjobs": "8"}, 150, 8),
        ({"iodepth": "1"}, 16, 1),
        ({}, 12, 1),
    ],
)
def test_the_requests_outstanding_are_rate_times_latency(
    options: dict[str, str], latency_us: float, depth: int, tmp_path: Path
) -> None:
    load = one(
        tmp_path, {"rw": "randread", "bs": "4k", "ioengine": "libaio", **options}, read=measured(50e3, latency_us)
    )
    assert load.depth == depth
    assert any("Little's law" in note for note in load.notes) == (depth == 6)


def test_jobs_of_a_group_are_one_load(tmp_path: Path) -> None:
    jobs = [reported(READS, name, groupid=0, read=measured()) for name in ("rr", "rr2")]
    other = reported(READS, "other", groupid=1, read=measured())
    load, _ = of_jobs(tmp_path, [*jobs, other], **{"held-out": ["rr2"]})
    assert load.depth == 16
    # Their percentiles are none of both together.
    assert [(target.figure, target.value) for target in load.targets] == [("iops", 100_000.0)]
    assert load.targets[0].held_out
    assert any("cannot be merged" in each.why for each in load.unused)


@pytest.mark.parametrize("where", ["clat_ns", "lat_ns"])
def test_percentiles_are_read_where_they_are(where: str, tmp_path: Path) -> None:
    load = one(tmp_path, READS, read=measured(where=where))
    assert figures(load) == ["iops", "read-p50", "read-p99", "read-p99.9", "read-p99.99"]
    assert ("with the submission" in load.targets[1].source) == (where == "lat_ns")


def test_what_was_there_and_is_not_used_is_listed_with_its_reason(tmp_path: Path) -> None:
    both = measured(5_000, 1600)
    both["lat_ns"]["percentile"] = {"99.000000": 1e6}
    load = one(tmp_path, READS, read=both)
    said = {each.figure: each.why for each in load.unused}
    assert said["read-p99.99"] == "5.0 of 50000 requests are beyond it; it takes 12"
    assert "Little's law" in said["read-mean"]
    assert said["read lat_ns percentiles"] == "clat_ns has them too, without the submission"
    assert "read clat_ns p95" in said
    assert set(figures(load)).isdisjoint(said)


def test_without_percentiles_that_is_said(tmp_path: Path) -> None:
    load = one(tmp_path, READS, read=measured(percentiles={}))
    assert figures(load) == ["iops"]
    assert any(each.why.startswith("there are none") for each in load.unused)


@pytest.mark.parametrize(("mode", "share"), [("mixed", 0.7), ("both", 0.72)])
def test_reads_and_writes_that_fio_counted_together_are_read(mode: str, share: float, tmp_path: Path) -> None:
    options = {"rw": "randrw", "bs": "4k", "iodepth": "8", "rwmixread": "70", "unified_rw_reporting": mode}
    job = reported(options, mixed=measured(), read=measured(36_000), write=measured(14_000))
    if mode == "mixed":
        for part in ("read", "write", "trim", "sync"):
            del job[part]
    (load,) = of_jobs(tmp_path, [job])
    assert load.read == pytest.approx(share)
    assert load.targets[0].value == 50_000
    assert ("all-p99" in figures(load)) == (mode == "mixed")
    assert any("counted reads and writes together" in note for note in load.notes) == (mode == "mixed")
    assert ("mixed" in [each.figure for each in load.unused]) == (mode == "both")


@pytest.mark.parametrize("option", ["fsync", "fdatasync"])
@pytest.mark.parametrize(("every", "counted"), [(1, True), (4, True), (32, False)])
def test_flushes_are_simulated(option: str, every: int, *, counted: bool, tmp_path: Path) -> None:
    """One writer: a write of 20 us, and after `every` of them a flush of 900 us."""
    rate = every / (every * 20e-6 + 900e-6)
    write = measured(rate, 20, seconds=100)
    count = write["total_ios"] // every
    # fio 3.33 leaves total_ios at 0.
    sync = {"total_ios": 0, "lat_ns": {"mean": 900e3, "N": count}} if counted else {}
    load = one(
        tmp_path, {"rw": "randwrite", "bs": "4k", "ioengine": "psync", option: str(every)}, write=write, sync=sync
    )
    assert (load.flush_every, load.depth) == (every, 1)
    assert ("flow.0.flush-every", str(every)) in load.sets(1000, 0)
    assert figures(load)[:2] == ["iops", "write-mean"]


def test_flushes_are_not_counted_as_requests() -> None:
    """A simulated drive with a flush after each write: half of its requests are writes."""
    load = Load("w", "", "random", 0.0, 4096, 4, "filled", (), (Target("iops", 1.0),), 1)
    config = Config.of({"drive": "a4-mini", "run": {"requests": 1}, "flow": [{}]})
    for key, value in load.sets(1000, 0):
        config.set(key, value)
    raw = interpulse.run(config).cases[0].raw
    assert raw["host_requests"] == 2000
    assert load.targets[0].of(raw, 4096) == pytest.approx(raw["iops"] * raw["latency_us"]["write"]["count"] / 2000)


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        ({}, False),
        ({"direct": "0"}, True),
        ({"direct": "1"}, False),
        ({"buffered": "1"}, True),
        ({"buffered": "0"}, False),
    ],
)
def test_without_direct_the_page_cache_is_warned_of(options: dict[str, str], *, warned: bool, tmp_path: Path) -> None:
    load = one(tmp_path, READS | options, read=measured())
    assert any("page cache" in note for note in load.notes) == warned
