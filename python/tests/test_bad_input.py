"""Is every mistake in a configuration, an option or a trace one line that names place and remedy, with exit code 2?

All of it on the real core, from the command line: this is what a user sees.
"""

from __future__ import annotations

import gzip
import os
from typing import TYPE_CHECKING

import pytest

from tests import sample
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

    Cli = Callable[..., Ended]

SMALL = str(ROOT / "examples" / "small.toml")
REPLAY = """\
drive = "a4-mini"
[[flow]]
name = "replay"
trace = ""
"""
ROWS = [f"{100_000 * i} 0 {8 * i} 8 {i % 2}" for i in range(100)]
"""A good trace in the format of MQSim: time in ns, device, LBA, sectors, type (0 writes)."""


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        # Unknown and misspelt names.
        ("bogus=1", "--set: bogus: unknown key; expected one of config_version, title, drive,"),
        ("workload.depth=1", "--set: workload: unknown section; expected one of "),
        ("flow.0.dpeth=1", "flow.0.dpeth: unknown key; expected one of name, pacing, depth,"),
        ("flow.0.dpeth=1", '(did you mean "depth"?)'),
        ("flow.7.depth=1", "flow.7: seen entry 7; expected an entry from 0 to 0"),
        ("drive=a5", 'drive.preset: seen "a5"; expected one of a4, a4-mini'),
        ("part.preset=a4-tcl", 'part.preset: seen "a4-tcl"; expected one of a4-tlc, atc19-ll,'),
        ("part.preset=a4-tcl", '(did you mean "a4-tlc"?)'),
        (
            "ftl.gc=greddy",
            'ftl.gc: seen "greddy"; expected one of greedy, d-choices, random, fifo, windowed-greedy, cost-benefit,',
        ),
        (
            "suspend.program.scheme=loop-bound",
            'suspend.program.scheme: seen "loop-bound"; expected one of none, ideal,',
        ),
        ("schedule.policy=lifo", 'schedule.policy: seen "lifo"; expected one of fifo, read-priority, host-first'),
        # Impossible drives.
        ("ftl.over-provisioning=0", "ftl.over-provisioning: seen 0; expected a fraction greater than 0"),
        ("ftl.over-provisioning=-10%", 'ftl.over-provisioning: seen "-10%"; expected a fraction that is not negative'),
        ("ftl.over-provisioning=0.1%", "keeping 3 free (gc-soft) and 2 open leaves garbage collection nothing to work"),
        ("part.planes=64 part.blocks-per-plane=32", "a die has more planes than a plane has blocks"),
        ("part.planes=200", "part.planes: seen 200; expected a whole number from 1 to 64"),
        ("part.blocks-per-plane=0", "part.blocks-per-plane: seen 0; expected a whole number from 1 to"),
        ("part.blocks-per-plane=2", "a plane of 2 blocks less 0 in reserve leaves fewer than 4"),
        ("geometry.channels=0", "geometry.channels: seen 0; expected a whole number from 1 to 256"),
        ("geometry.channels=256 geometry.chips-per-channel=64 geometry.dies-per-chip=64", "at most 65536 dies"),
        ("geometry.channels=256 part.blocks-per-plane=65536", "GiB that the map's 2147483648 units address"),
        ("part.page-size=1KiB", 'part.page-size: seen "1KiB"; expected a multiple of 4KiB'),
        ("ftl.multi-plane=2", "ftl.multi-plane = 2 and part.planes = 1: 2 planes together do not divide the 1"),
        ("cache.size=64KiB", "cache.size = 64KiB: 64KiB holds 16 units of 4KiB; programs of 12 units"),
        # Times, numbers and units.
        ("part.read-lsb=0us", 'part.read-lsb: seen "0us"; expected a duration greater than 0ns'),
        ("part.program-pulse=0us", 'part.program-pulse: seen "0us"; expected a duration greater than 0ns'),
        ("host.firmware=-1us", 'host.firmware: seen "-1us"; expected a duration that is not negative'),
        ("run.time=0s", 'run.time: seen "0s"; expected a duration greater than 0ns'),
        ("run.warmup=5", 'run.warmup: seen 5; expected a duration (give a unit, such as "80us")'),
        ("run.requests=0", "run.requests: seen 0; expected a whole number of at least 1"),
        ("flow.0.read=120%", 'flow.0.read: seen "120%"; expected a fraction of at most 1'),
        ("flow.0.read=much", 'flow.0.read: seen "much"; expected a fraction (such as 0.3 or "30%")'),
        ("seed=text", '--set: seed: seen "text"; expected a whole number'),
        ("flow.0.trace=x.csv", "flow.0.read: does not apply; it belongs to a flow made up from distributions"),
    ],
)
def test_a_setting_that_cannot_be(interpulse: Cli, setting: str, message: str) -> None:
    options = [option for each in setting.split() for option in ("--set", each)]
    for command in (["run", "--json", "--no-cache"], ["show"]):
        ended = interpulse(*command, SMALL, *options)
        assert (ended.code, ended.out) == (2, "")
        assert message in ended.error()
        assert "case" not in ended.error().split(":")[0], "it is no case's fault"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[drvie]\n", 'mine.toml: nothing says which drive: give drive = "..." (one of a4, a4-mini, '),
        ("drive = [", "mine.toml:1: "),
        ('[drvie]\n[part]\npreset = "a4-tlc"\n', "mine.toml: 3 keys are missing:"),
        ('drive = "a4"\ndrive = "a4"\n', "mine.toml:2: "),
        ('drive = "a4-mini"\n', "flow: seen nothing (the default); expected at least one [[flow]] table"),
        ('drive = "a4-mini"\n[[flow]]\ndepth = -1\n', "mine.toml:3: flow.0.depth: seen -1; expected a whole number"),
        (REPLAY, 'mine.toml:4: flow.0.trace: seen ""; expected the path of a block trace (or give --trace FILE)'),
        (
            'drive = "a4-mini"\n[[flow]]\n[[case]]\nname = "a"\nset = ["flow.0.dpeth=1"]\n',
            'mine.toml:5: case "a": flow.0.dpeth: unknown key',
        ),
    ],
)
def test_a_line_that_cannot_be(interpulse: Cli, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    ended = interpulse("run", str(path))
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.error()


@pytest.mark.parametrize("command", [["run"], ["show"]])
def test_what_is_no_file_is_no_configuration(interpulse: Cli, tmp_path: Path, command: list[str]) -> None:
    """None of them may be waited for, or read to an end that it does not have."""
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as large:
        large.truncate(2**40)
    for place, what in (
        ("/dev/zero", "it is a device; expected a regular file"),
        (str(tmp_path / "pipe"), "it is a pipe; expected a regular file"),
        (str(tmp_path), "it is a folder; expected a regular file"),
        (str(tmp_path / "large"), "it is larger than 16 MiB"),
    ):
        ended = interpulse(*command, place)
        assert (ended.code, ended.out) == (2, "")
        assert ended.error() == f"cannot read the configuration {place}: {what}"


@pytest.mark.parametrize(
    "words",
    [
        ["run", SMALL, "--out"],
        ["run", SMALL, "--cache-dir"],
        ["run", SMALL, "--trace"],
        ["run"],
        ["show"],
        ["cache", "--clear", "--cache-dir"],
        ["scheme", "exact", "--out"],
        ["trace", "twin", "msn", "--out"],
        ["experiment", "fast12", "--out"],
        ["characterize", "suspend", "--out"],
        ["bench", "--instructions", "--against"],
    ],
)
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_path_is_not_the_working_folder(
    interpulse: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], empty: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = interpulse(*words, empty)
    assert (ended.code, ended.out) == (2, "")
    assert "seen an empty name; expected a path (. is the working folder)" in ended.error()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sets", "note"),
    [
        (["run.requests=500", "flow.0.stop=1ms"], 'note: case "no-suspend": run.requests asks for 500 requests, but '),
        (["run.requests=500", "flow.0.stop=1ms"], "flow.0.stop = 1ms leaves "),
        (["run.requests=500", "power-loss.at=10s"], "power-loss.at = 10s: the run ended after "),
        (["run.requests=500", "power-loss.at=10s"], ", so power was never cut"),
    ],
)
def test_what_a_result_does_not_show_is_told(interpulse: Cli, sets: list[str], note: str) -> None:
    ended = interpulse("run", SMALL, "--json", *(option for each in sets for option in ("--set", each)))
    assert ended.code == 0
    assert note in ended.err
    assert "note: case" not in interpulse("run", SMALL, "--json", "--set", "run.requests=500").err


def test_what_is_set_after_the_end_of_the_run_is_refused(interpulse: Cli) -> None:
    for key in ("power-loss.at", "flow.0.start"):
        ended = interpulse("run", SMALL, "--set", "run.time=5ms", "--set", f"{key}=5ms")
        assert (ended.code, ended.out) == (2, "")
        assert "the run is over after 5ms: give an earlier time, or run.time more" in ended.error()


def test_a_trace_without_a_flow_that_replays_one(interpulse: Cli) -> None:
    for option in (["--trace", "x.csv"], ["--skip-bad-rows"]):
        ended = interpulse("run", SMALL, *option)
        assert ended.code == 2
        assert f"{option[0]} was given, but no [[flow]] replays a trace" in ended.error()


def bad_traces() -> dict[str, tuple[bytes, str]]:
    """File name, content and what the message says."""

    def with_row(row: str) -> bytes:
        return "\n".join([*ROWS[:50], row, *ROWS[50:]]).encode()

    # Random rows: what is regular would be packed so small that half of it is nothing.
    packed = gzip.compress("\n".join(f"{97 * i} 0 {(i * 7919 * 7919) % 4000} 8 1" for i in range(5000)).encode())
    zstd_header = bytes.fromhex("28b52ffd0458")
    return {
        "text.mqsim": (with_row("hello world"), "line 51: has 2 columns; legal: 5 columns between blanks"),
        "word.mqsim": (with_row("soon 0 8 8 1"), "line 51: `time` is `soon`, which is not a number"),
        "back.mqsim": (with_row("5 0 8 8 1"), "line 51: `time` goes back by 4.899995ms"),
        "negative.mqsim": (with_row("-5 0 8 8 1"), "line 51: `time` is `-5`, which is negative"),
        "beyond.mqsim": (with_row("5000000 0 99999999999 8 1"), "line 51: device 0 reaches sector 100000000007, but"),
        "nothing.mqsim": (with_row("5000000 0 8 0 1"), "line 51: `sectors` is `0`, which is too small"),
        "type.mqsim": (with_row("5000000 0 8 8 7"), "line 51: `type` is `7`, which is not an operation"),
        "huge.mqsim": (with_row(f"{10**30} 0 8 8 1"), "which is too large"),
        "packed.csv.bz2": (b"BZh91AY&SY", "is bzip2 data; unpack it with `bunzip2`"),
        "prose.txt": (b"The quick brown fox\n", "line 1: `The quick brown fox` matches no known format"),
        "binary.csv": (b"\x00\xff\xfe" * 100, "is not UTF-8 text"),
        "empty.csv": (b"", "holds no rows"),
        "empty.csv.zst": (b"", "holds no rows"),
        "truncated.mqsim.gz": (packed[: len(packed) // 2], "the gzip data is truncated"),
        "truncated.mqsim.zst": (zstd_header, "the zstd data is truncated"),
    }


@pytest.mark.parametrize("name", bad_traces())
def test_a_trace_that_cannot_be_replayed(interpulse: Cli, tmp_path: Path, name: str) -> None:
    content, message = bad_traces()[name]
    config, trace = tmp_path / "replay.toml", tmp_path / name
    config.write_text(REPLAY)
    trace.write_bytes(content)
    ended = interpulse("run", str(config), "--trace", str(trace))
    assert (ended.code, ended.out) == (2, "")
    assert ended.error().startswith(f"trace {trace}: ")
    assert message in ended.error()
    assert "precondition" not in ended.err, "it is said before the drive is prepared"


def test_a_place_that_is_no_trace(interpulse: Cli, tmp_path: Path) -> None:
    config = tmp_path / "replay.toml"
    config.write_text(REPLAY)
    for trace, message in ((tmp_path, "is not a regular file"), (tmp_path / "none.csv", "does not exist")):
        ended = interpulse("run", str(config), "--trace", str(trace))
        assert (ended.code, ended.error().startswith(f"trace {trace}: {message}")) == (2, True)


def test_bad_rows_are_skipped_on_demand_and_reported(interpulse: Cli, tmp_path: Path) -> None:
    config, trace = tmp_path / "replay.toml", tmp_path / "text.mqsim"
    config.write_text(REPLAY)
    trace.write_text("\n".join([*ROWS[:50], "hello world", *ROWS[50:]]))
    ended = interpulse("run", str(config), "--trace", str(trace), "--skip-bad-rows")
    assert ended.code == 0
    assert "read as mqsim, 100 rows; 1 bad row(s) skipped: line 51: has 2 columns" in ended.err
    assert "run: 1 bad rows of the trace were skipped" in ended.out
    counted = interpulse("run", str(config), "--trace", str(trace), "--skip-bad-rows", "--json").seed()
    rows = {"rows": 100, "bad_rows": 1, "late_rows": 0, "replayed": 100, "beyond": 0, "end_bytes": 409_600}
    assert counted["counters"]["trace"] == rows
    assert counted["host_requests"] == 100


def test_what_a_trace_may_be_made_to_fit(interpulse: Cli, tmp_path: Path) -> None:
    """The remedies that the messages name."""
    config, trace = tmp_path / "replay.toml", tmp_path / "rows.mqsim"
    config.write_text(REPLAY)
    trace.write_text("\n".join([*ROWS, "5 0 8 8 1", "99000000 0 99999999999 8 1"]))
    options = ["--set", "flow.0.reorder=clamp", "--set", "flow.0.fit=fold"]
    ended = interpulse("run", str(config), "--trace", str(trace), *options, "--json")
    assert ended.code == 0
    assert ended.seed()["host_requests"] == 102


def test_a_trace_named_in_a_file_lies_beside_it(
    interpulse: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "replay.toml").write_text(REPLAY.replace('""', '"rows.mqsim"'))
    (tmp_path / "here" / "rows.mqsim").write_text("\n".join(ROWS))
    monkeypatch.chdir(tmp_path)
    assert interpulse("run", "here/replay.toml", "--json").seed()["host_requests"] == 100
    (tmp_path / "mine.mqsim").write_text("\n".join(ROWS[:60]))
    assert interpulse("run", "here/replay.toml", "--trace", "mine.mqsim", "--json").seed()["host_requests"] == 60


def test_a_case_that_fails_costs_the_others_nothing(interpulse: Cli, tmp_path: Path) -> None:
    config, out = tmp_path / "cases.toml", tmp_path / "out"
    config.write_text(
        'drive = "a4-mini"\n[run]\nrequests = 1000\n[[flow]]\n'
        '[[case]]\nname = "good"\n[[case]]\nname = "none left"\nset = ["flow.0.requests=5", "run.warmup=1s"]\n'
    )
    ended = interpulse("run", str(config), "--out", str(out))
    assert ended.code == 2
    assert ended.error().startswith('case "none left": no request completed in the ')
    assert "good: read p99.9 " in ended.out
    assert "none left: failed: no request completed" in ended.out
    assert (out / "result.json").is_file()
    ended = interpulse("run", str(config), "--json")
    assert ended.code == 2
    assert [seed.get("host_requests", seed.get("error", "?")[:10]) for seed in sample.seeds(ended.json())] == [
        1000,
        "no request",
    ]


@pytest.mark.parametrize("place", ["/proc/nowhere", "file"])
def test_a_cache_that_cannot_be_written_costs_only_the_snapshot(interpulse: Cli, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    ended = interpulse("run", SMALL, "--json", "--set", "run.requests=1000", "--cache-dir", str(tmp_path / place))
    assert ended.code == 0
    assert "note: the preconditioned state could not be kept: " in ended.err


def test_a_damaged_snapshot_is_refused_and_made_anew(interpulse: Cli, tmp_path: Path) -> None:
    arguments = ["run", SMALL, "--json", "--set", "run.requests=1000", "--cache-dir", str(tmp_path)]
    first = interpulse(*arguments)
    (snapshot,) = tmp_path.glob("*.snapshot")
    content = bytearray(snapshot.read_bytes())
    content[len(content) // 2] ^= 1
    snapshot.write_bytes(content)
    again = interpulse(*arguments)
    assert again.code == 0
    assert f"note: snapshot not used: {snapshot} does not fit: " in again.err
    assert again.seed()["latency_us"] == first.seed()["latency_us"]
