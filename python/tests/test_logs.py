"""Do logs, series and timelines say what the summary of their run says, to the nanosecond?"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import interpulse
from interpulse import _core
from interpulse.configuration.installation import command
from interpulse.logs import trace
from interpulse.logs.options import LogOptions, timeline_record
from interpulse.logs.recording import file_names
from tests import sample
from tests.conftest import process
from tests.sample import ROOT, TIMING

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow

    from interpulse import Result
    from tests.conftest import Ended

parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("perfetto")

SMALL = str(ROOT / "examples" / "small.toml")
REQUESTS = 8_000
CASE = "suspend-10"
STRETCH = (100_000_000, 130_000_000)
"""From and to of the timeline of `run_once`, in ns."""


def plain(result: Result) -> list[dict[str, Any]]:
    """The cases without the fields that two equal runs differ in."""
    return [{key: value for key, value in case.raw.items() if key not in TIMING} for case in result.cases]


def small(**more: str) -> interpulse.Config:
    """The example in miniature, with fewer requests."""
    config = interpulse.Config.load(SMALL)
    config.set("run.requests", REQUESTS)
    config.set("precondition.overwrite", "none")
    for key, value in more.items():
        config.set(key, value)
    return config


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("snapshots")


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> tuple[Path, Result]:
    """A run of two cases that writes everything down."""
    out = tmp_path_factory.mktemp("out")
    result = interpulse.run(
        small(), out=out, log=["requests", "fio"], series="10ms", timeline="100ms..130ms", cache_dir=cache
    )
    return out, result


def table(out: Path, name: str, case: str = CASE) -> pyarrow.Table:
    return parquet.read_table(out / f"{case}.{name}.parquet")


def total(of: pyarrow.Table, column: str) -> int:
    return int(sum(of[column].to_pylist()))


def causes(of: pyarrow.Table) -> list[str]:
    names: list[str] = of.column_names
    return names[names.index("status") + 1 :]


def test_writing_down_changes_no_result(run_once: tuple[Path, Result], cache: Path) -> None:
    _, recorded = run_once
    assert plain(recorded) == plain(interpulse.run(small(), cache_dir=cache))


def test_the_causes_of_each_request_add_up_to_its_latency(run_once: tuple[Path, Result]) -> None:
    out, result = run_once
    for case in result.cases:
        log = table(out, "requests", case.case)
        assert log.num_rows == REQUESTS == case.raw["host_requests"]
        assert log["number"].to_pylist() == list(range(REQUESTS))
        names = causes(log)
        assert len(names) == 18
        sums = [sum(row.values()) for row in log.select(names).to_pylist()]
        assert sums == log["latency_ns"].to_pylist()


def test_the_log_of_requests_agrees_with_the_summary(run_once: tuple[Path, Result]) -> None:
    out, result = run_once
    for case in result.cases:
        log = table(out, "requests", case.case)
        for kind, waits in (("read", "read_wait_us"), ("write", "write_wait_us")):
            rows = [row for row in log.to_pylist() if row["kind"] == kind]
            latency = case.latency_us[kind]
            assert len(rows) == latency["count"]
            assert max(row["latency_ns"] for row in rows) == round(latency["max"] * 1000)
            assert sum(row["latency_ns"] for row in rows) / len(rows) / 1000 == pytest.approx(latency["mean"], abs=1e-3)
            for cause, mean in case.raw[waits].items():
                assert sum(row[f"{cause}_ns"] for row in rows) / len(rows) / 1000 == pytest.approx(mean, abs=1e-3)
        written = sum(row["size_bytes"] for row in log.to_pylist() if row["kind"] == "write")
        assert written == case.counters["host"]["written_bytes"]
        assert {row["flow"] for row in log.to_pylist()} == {"mixed"}
        assert all(row["address_bytes"] % 4096 == 0 for row in log.to_pylist())


def test_windows_add_up_to_the_summary(run_once: tuple[Path, Result]) -> None:
    out, result = run_once
    for case in result.cases:
        series, log = table(out, "series", case.case), table(out, "requests", case.case)
        assert total(series, "requests") == REQUESTS
        assert total(series, "length_ns") == round(case.raw["simulated_s"] * 1e9)
        starts, lengths = series["start_ns"].to_pylist(), series["length_ns"].to_pylist()
        assert starts == [10_000_000 * k for k in range(len(starts))]
        assert all(length == 10_000_000 for length in lengths[:-1])
        for kind in ("read", "write"):
            latencies = [row["latency_ns"] for row in log.to_pylist() if row["kind"] == kind]
            assert total(series, f"{kind}_latency_sum_ns") == sum(latencies)
            assert max(series[f"{kind}_max_ns"].drop_null().to_pylist()) == max(latencies)
        nand = case.raw["nand"]
        assert total(series, "program_suspends") == nand["suspends"]["program"]
        assert total(series, "erases") == nand["erases"]
        assert total(series, "host_units") == case.raw["ftl"]["host_pages"]
        assert total(series, "programmed_units") == case.raw["ftl"]["programmed_pages"]
        uses = {name: total(series, name) for name in series.column_names if name.startswith("die_")}
        assert sum(uses.values()) == 8 * total(series, "length_ns"), "8 dies are always put to some use"
        assert uses["die_idle_ns"] / sum(uses.values()) == pytest.approx(case.raw["time_share"]["idle"], abs=1e-9)


def test_the_mean_queue_depth_is_latency_over_time(run_once: tuple[Path, Result]) -> None:
    """The depth is closed at 8: a request is asked for as soon as one has ended."""
    out, _ = run_once
    series = table(out, "series")
    assert set(series["queue_depth_end"].to_pylist()) == {8}
    assert series["queue_depth_mean"].to_pylist() == pytest.approx([8.0] * series.num_rows, rel=1e-12)


def test_fio_lines_are_the_rows_of_the_log(run_once: tuple[Path, Result]) -> None:
    out, _ = run_once
    lines = [[int(each) for each in line.split(", ")] for line in (out / f"{CASE}_lat.1.log").read_text().splitlines()]
    rows = table(out, "requests").to_pylist()
    expected = [
        [
            (row["arrival_ns"] + row["latency_ns"]) // 10**6,
            row["latency_ns"],
            int(row["kind"] == "write"),
            row["size_bytes"],
            row["address_bytes"],
            0,
        ]
        for row in rows
    ]
    assert lines == expected


def test_a_timeline_agrees_with_the_series(run_once: tuple[Path, Result]) -> None:
    """Its stretch is three windows long: what each use of the dies took is the same in both."""
    out, _ = run_once
    slices = trace.read((out / f"{CASE}.timeline.pftrace").read_bytes())
    begin, end = STRETCH
    assert all(begin <= each.from_ns < each.to_ns <= end for each in slices)
    spent: dict[str, int] = defaultdict(int)
    for each in slices:
        if each.track.startswith(f"{CASE} / dies / "):
            spent[each.args["use"]] += each.to_ns - each.from_ns
    windows = [row for row in table(out, "series").to_pylist() if begin <= row["start_ns"] < end]
    assert len(windows) == 3
    counted = {
        name.removeprefix("die_").removesuffix("_ns"): sum(row[name] for row in windows)
        for name in windows[0]
        if name.startswith("die_") and name != "die_idle_ns"
    }
    assert dict(spent) == {use: ns for use, ns in counted.items() if ns}
    buses = sum(each.to_ns - each.from_ns for each in slices if each.track.startswith(f"{CASE} / channels / "))
    # The counters book a transfer when it begins; what runs over either end of the stretch is at most one a channel.
    assert buses == pytest.approx(sum(row["bus_busy_ns"] for row in windows), abs=16 * 60_000)


def test_slices_of_a_track_do_not_overlap(run_once: tuple[Path, Result]) -> None:
    out, _ = run_once
    ends: dict[str, int] = defaultdict(int)
    tracks = set()
    for each in sorted(trace.read((out / f"{CASE}.timeline.pftrace").read_bytes()), key=lambda each: each.from_ns):
        tracks.add(each.track.split(" / ")[1])
        assert each.from_ns >= ends[each.track], each
        ends[each.track] = each.to_ns
    assert tracks == {"requests", "dies", "channels"}


def test_a_suspended_program_is_its_pulses_with_the_read_in_between(run_once: tuple[Path, Result]) -> None:
    out, _ = run_once
    dies: dict[str, list[trace.Slice]] = defaultdict(list)
    for each in trace.read((out / f"{CASE}.timeline.pftrace").read_bytes()):
        if each.track.startswith(f"{CASE} / dies / "):
            dies[each.track].append(each)
    seen = 0
    for of in dies.values():
        of.sort(key=lambda each: each.from_ns)
        for k, each in enumerate(of):
            if each.name == "sensing" and each.args.get("operation") in ("program", "gc-program"):
                assert each.args["suspended so often"] > 0
                operation, pulses = each.args["operation"], ("pulse", "verify")
                before = [other.args["operation"] for other in of[:k] if other.name in pulses]
                after = [other.args["operation"] for other in of[k:] if other.name in pulses]
                seen += before[-1:] == after[:1] == [operation]
    assert seen > 10


def test_one_in_n_is_every_nth(run_once: tuple[Path, Result], cache: Path, tmp_path: Path) -> None:
    out, _ = run_once
    interpulse.run(small(), out=tmp_path, log=["requests:1/7", "fio:1/7"], cache_dir=cache)
    assert table(tmp_path, "requests").to_pylist() == table(out, "requests").to_pylist()[::7]
    lines = (out / f"{CASE}_lat.1.log").read_text().splitlines()
    assert (tmp_path / f"{CASE}_lat.1.log").read_text().splitlines() == lines[::7]
    assert parquet.read_metadata(tmp_path / f"{CASE}.requests.parquet").metadata[b"interpulse.one_in"] == b"7"


def test_the_slowest_requests_are_followed(run_once: tuple[Path, Result], cache: Path, tmp_path: Path) -> None:
    out, _ = run_once
    result = interpulse.run(small(), out=tmp_path, timeline="worst:5:read", cache_dir=cache)
    reads = [row for row in table(out, "requests").to_pylist() if row["kind"] == "read"]
    expected = sorted(reads, key=lambda row: (-row["latency_ns"], row["number"]))[:5]
    assert json.loads((tmp_path / f"{CASE}.slowest.json").read_text()) == expected
    assert max(row["latency_ns"] for row in expected) == round(
        next(case for case in result.cases if case.case == CASE).latency_us["read"]["max"] * 1000
    )
    slices = trace.read((tmp_path / f"{CASE}.timeline.pftrace").read_bytes())
    slowest = {each.track: each for each in slices if "slowest" in each.track}
    for place, row in enumerate(expected, 1):
        found = slowest[f"{CASE} / requests / slowest / slowest {place}"]
        assert (found.args["number"], found.args["latency_ns"]) == (row["number"], row["latency_ns"])
        assert (found.from_ns, found.to_ns) == (row["arrival_ns"], row["arrival_ns"] + row["latency_ns"])


def test_an_array_is_written_down_without_causes(cache: Path, tmp_path: Path) -> None:
    config = interpulse.Config.load(str(ROOT / "examples" / "raid5.toml"))
    config.set("run.requests", 3000)
    config.set("precondition.overwrite", "none")
    result = interpulse.run(config, out=tmp_path, log="requests", series="10ms", timeline="1ms..3ms", cache_dir=cache)
    for case in result.cases:
        log, series = table(tmp_path, "requests", case.case), table(tmp_path, "series", case.case)
        assert causes(log) == []
        assert log.num_rows == case.raw["host_requests"] == total(series, "requests")
        assert total(series, "program_suspends") == case.raw["nand"]["suspends"]["program"]
    slices = trace.read((tmp_path / "healthy.timeline.pftrace").read_bytes())
    drives = {each.track.split(" / ")[1] for each in slices if "dies" in each.track}
    assert drives == {f"drive {k}: dies" for k in range(4)}


def test_other_libraries_read_the_files(run_once: tuple[Path, Result]) -> None:
    import polars

    out, _ = run_once
    frame = polars.read_parquet(out / f"{CASE}.requests.parquet")
    assert frame.height == REQUESTS
    assert frame.select(
        (polars.sum_horizontal(causes(table(out, "requests"))) == polars.col("latency_ns")).all()
    ).item()


@pytest.mark.parametrize(
    ("log", "series", "timeline", "wrong"),
    [
        ("requests:1/0", None, None, "--log: seen 'requests:1/0'"),
        ("requests:10", None, None, "requests:1/100"),
        ("parquet", None, None, "expected requests or fio"),
        (["fio", "fio:1/2"], None, None, "--log fio: seen twice"),
        (None, "10", None, "--series: seen '10'; expected a time such as 10ms"),
        (None, "0ms", None, "--series 0ms: expected a window of 1us or longer"),
        (None, "0.5ns", None, "a whole number of ns"),
        (None, "9999999999999h", None, "at most 146 years"),
        (None, None, "worst", "expected worst:K"),
        (None, None, "worst:0", "K from 1 to 1000"),
        (None, None, "worst:5:trim", "worst:K:read"),
        (None, None, "5ms", "expected START..END"),
        (None, None, "5ms..5ms", "expected an end after the start"),
        (None, None, "-1ms..5ms", "--timeline: seen '-1ms'"),
    ],
)
def test_what_cannot_be_written_down_is_refused(
    log: str | list[str] | None, series: str | None, timeline: str | None, wrong: str
) -> None:
    with pytest.raises(interpulse.ConfigError) as error:
        LogOptions.of(log, series, timeline, dashes="--")
    assert wrong in str(error.value)


def test_stretches_around_requests_are_joined_where_they_meet() -> None:
    told = json.loads(timeline_record([(500_000, 600_000), (0, 100_000), (105_000, 200_000)]))
    assert told == {"timeline": [[0, 209_500], [490_000, 610_000]], "only_timeline": True}


def test_files_have_names_of_their_own() -> None:
    assert file_names(["a/b", "a:b", "../x", "", "é 1"]) == ["a-b", "a-b-2", "-x", "case", "é-1"]


@pytest.fixture
def fast(interpulse: Callable[..., Ended], cache: Path) -> Callable[..., Ended]:
    """The command line on a short run."""
    sets = ["--set", "run.requests=2000", "--set", "precondition.overwrite=none"]

    def call(*arguments: str) -> Ended:
        return interpulse("run", SMALL, *sets, "--cache-dir", str(cache), *arguments)

    return call


def test_without_a_folder_there_is_nowhere_to_write(fast: Callable[..., Ended]) -> None:
    ended = fast("--log", "requests")
    assert ended.code == 2
    assert ended.error() == "--log, --series and --timeline need --out DIR, the folder for their files"


def test_a_timeline_after_the_end_costs_no_result(fast: Callable[..., Ended], tmp_path: Path) -> None:
    ended = fast("--out", str(tmp_path), "--timeline", "100s..101s")
    assert ended.code == 2
    assert "no-suspend: the run ended before 100 s, so that there is no timeline" in ended.error()
    assert (tmp_path / "result.json").exists()
    assert "read latency, us" in ended.out


def test_a_timeline_that_is_cut_short_says_so(fast: Callable[..., Ended], tmp_path: Path) -> None:
    ended = fast("--out", str(tmp_path), "--timeline", "1ms..100s", "--set", "run.requests=500")
    assert ended.code == 0, ended.err
    assert "note: no-suspend: the timeline from 1,000,000 ns ends at " in ended.err
    assert (tmp_path / "no-suspend.timeline.pftrace").stat().st_size > 1000


def test_a_timeline_beyond_run_time_is_refused_before_the_run(fast: Callable[..., Ended], tmp_path: Path) -> None:
    ended = fast("--out", str(tmp_path), "--timeline", "1ms..2s", "--set", "run.time=1s")
    assert ended.code == 2
    assert "the run measures 1s (run.time), from 0 to 1,000,000,000 ns" in ended.error()


def test_a_log_larger_than_the_disk_is_refused_before_the_run(fast: Callable[..., Ended], tmp_path: Path) -> None:
    ended = fast("--out", str(tmp_path), "--log", "requests", "--set", f"run.requests={10**17}")
    assert ended.code == 2
    assert "log one in N of them (--log requests:1/N)" in ended.error()


def test_a_missing_library_is_named(
    fast: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    ended = fast("--out", str(tmp_path), "--series", "1ms")
    assert ended.code == 2
    assert ended.error().endswith(f"pyarrow, which is not installed: {command('frames')}")


def test_the_files_are_named_beside_the_result(fast: Callable[..., Ended], tmp_path: Path) -> None:
    ended = fast("--out", str(tmp_path), "--log", "requests", "--series", "1ms")
    assert ended.code == 0, ended.err
    for name in ("no-suspend.requests.parquet", "suspend-10.series.parquet"):
        assert (tmp_path / name).is_file()
        assert name in ended.err
    assert not list(tmp_path.glob(".interpulse-*")), "nothing half done is left"
    about = parquet.read_metadata(tmp_path / "no-suspend.requests.parquet").metadata
    assert about[b"interpulse.whole"] == b"true"
    assert about[b"interpulse.requests"] == b"2000"


def test_a_disk_that_fills_keeps_what_was_written(
    fast: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = iter([10**12] * 4)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=next(asked, 0)))
    cases = ["--set", "run.requests=200000", "--set", "run.warmup=1ms"]
    ended = fast("--out", str(tmp_path), "--log", "requests", "--jobs", "1", *cases)
    assert ended.code == 2
    assert f"no-suspend.requests.parquet ends after 196,608 rows: the disk of {tmp_path} is full" in ended.error()
    log = parquet.ParquetFile(tmp_path / "no-suspend.requests.parquet")
    assert log.read()["number"].to_pylist() == list(range(196_608))
    assert log.metadata.metadata[b"interpulse.whole"] == b"false"
    assert sample.seed(json.loads((tmp_path / "result.json").read_text()))["host_requests"] == 200_000


ON_A_SMALL_DISK = """
mount -t tmpfs -o size=4m interpulse-test "$1" || exit 77
"$2" -m interpulse run "$3" --set precondition.overwrite=none --jobs 1 --out "$1" --log fio > "$4/out" 2> "$4/err"
code=$?
cp "$1"/* "$4" && exit $code
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no unshare on this machine")
def test_a_disk_that_is_really_full_keeps_what_was_written(cache: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    # Without a number of requests nobody can tell before the run how long a log will be.
    config = tmp_path / "timed.toml"
    text = Path(SMALL).read_text(encoding="utf-8")
    config.write_text(text.replace("requests = 200000", 'time = "4s"\nwarmup = "1ms"'), encoding="utf-8")
    ended = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", ON_A_SMALL_DISK, "sh"]
        + [str(each) for each in (disk, sys.executable, config, tmp_path)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "python"), "INTERPULSE_CACHE_DIR": str(cache)},
        capture_output=True,
        check=False,
        timeout=120,
    )
    if not (tmp_path / "err").exists():
        pytest.skip(f"this machine does not allow a mount: {ended.stderr.decode().strip()}")
    assert ended.returncode == 2, (tmp_path / "err").read_text()
    assert "is full" in (tmp_path / "err").read_text()
    result = sample.seed(json.loads((tmp_path / "result.json").read_text()))
    lines = (tmp_path / "no-suspend_lat.1.log").read_bytes().splitlines()
    assert 1000 < len(lines) <= result["host_requests"]
    assert all(line.count(b", ") == 5 for line in lines)


def test_ctrl_c_keeps_a_log_that_can_be_read(cache: Path, tmp_path: Path) -> None:
    arguments = [
        "run",
        SMALL,
        "--out",
        str(tmp_path),
        "--log",
        "requests",
        "--series",
        "10ms",
        "--cache-dir",
        str(cache),
    ]
    sets = ["--set", "run.requests=50000000", "--set", "precondition.overwrite=none", "--log", "fio:1/1000"]
    with process("-m", "interpulse", *arguments, *sets) as running:
        deadline = time.monotonic() + 120
        while not any(path.stat().st_size > 10**6 for path in tmp_path.glob(".interpulse-*")):
            assert time.monotonic() < deadline
            assert running.poll() is None
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    result = json.loads((tmp_path / "result.json").read_text())
    for case in result["cases"]:
        (seed,) = case["seeds"]
        if "host_requests" not in seed:
            continue
        log, series = table(tmp_path, "requests", case["case"]), table(tmp_path, "series", case["case"])
        assert log.num_rows == seed["host_requests"] == total(series, "requests") > 0
        about = parquet.read_metadata(tmp_path / f"{case['case']}.requests.parquet").metadata
        assert about[b"interpulse.whole"] == b"false"
    assert not list(tmp_path.glob(".interpulse-*"))


def test_a_fault_of_the_writer_costs_no_result(
    fast: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise ValueError("made up")

    monkeypatch.setattr(trace, "to_bytes", fail)
    ended = fast("--out", str(tmp_path), "--timeline", "1ms..2ms", "--log", "requests")
    assert ended.code == 2
    assert "rows could not be stored: ValueError: made up" in ended.error()
    assert (tmp_path / "result.json").exists()
    assert table(tmp_path, "requests").num_rows == 2000


def test_a_second_run_that_fails_costs_no_result(
    fast: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = _core.start

    def once(*arguments: Any) -> Any:  # noqa: ANN401 - passed on
        if "only_timeline" in str(arguments[-1]):
            raise interpulse.RunError("no memory")
        return start(*arguments)

    monkeypatch.setattr(_core, "start", once)
    ended = fast("--out", str(tmp_path), "--timeline", "worst:2")
    assert ended.code == 2
    assert ended.error() == "no timeline of the slowest requests: no memory"
    assert len(json.loads((tmp_path / f"{CASE}.slowest.json").read_text())) == 2
    assert (tmp_path / "result.json").exists()
