"""Does `interpulse trace` measure traces and write twins, and does it say what is wrong with a file or a row?"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import process
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

    Cli = Callable[..., Ended]

MSR = """\
0,h,0,Write,0,8192,0
20000,h,0,Write,4096,4096,0
30000,h,0,Read,0,512,0
70000,h,1,Write,0,4096,0
"""
"""Three writes and a read in 7 ms (times in 100 ns), one page written twice."""

ROW = """\
[twin]
requests = 5000
write-share = "40%"
read-sizes = ["4KiB", "16KiB"]
read-weights = [3, 1]
write-size = "12KiB"
rewritten-share = "80%"
update-skew = "70%"
mean-gap = "1ms"
squared-variation = 4
"""

ALIKE = [
    "requests",
    "write_share",
    "mean_read_bytes",
    "mean_write_bytes",
    "read_bytes",
    "written_bytes",
    "unique_written_bytes",
    "rewritten_share",
    "update_skew",
    "mean_gap_ms",
    "gap_scv",
]
"""What a row and the statistics of its twin both have."""


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_stats_are_exact(interpulse: Cli, tmp_path: Path) -> None:
    trace = written(tmp_path / "t.csv", MSR)
    found: dict[str, Any] = interpulse("trace", "stats", trace, "--json").json()
    variance = (2**2 + 1**2 + 4**2) / 3 - (7 / 3) ** 2
    assert found.pop("gap_scv") == pytest.approx(variance / (7 / 3) ** 2)
    assert found.pop("mean_gap_ms") == pytest.approx(7 / 3)
    assert found == {
        "trace": trace,
        "format": "msr",
        "time_unit": "100ns",
        "assumed": "times in 100ns: 429 requests per second (override: --time-unit ms)",
        "packing": "plain",
        "devices": 2,
        "bad_rows": 0,
        "first_bad_rows": [],
        "other_rows": 0,
        "late_rows": 0,
        "requests": 4,
        "reads": 1,
        "writes": 3,
        "write_share": 0.75,
        "mean_read_bytes": 512.0,
        "mean_write_bytes": 16384 / 3,
        "read_bytes": 512,
        "written_bytes": 16384,
        "unique_written_bytes": 12288,
        "rewritten_share": 0.25,
        "written_pages": 3,
        "page_updates": 1,
        "update_share": 0.25,
        "update_skew": 1.0,
        "discards": 0,
        "discarded_bytes": 0,
        "flushes": 0,
        "flushes_of_writes": 0,
        "span_s": 0.007,
        "burst_share": 1 / 3,
        "read_sizes": [{"bytes": 512, "requests": 1, "share": 1.0}],
        "write_sizes": [
            {"bytes": 4096, "requests": 2, "share": 2 / 3},
            {"bytes": 8192, "requests": 1, "share": 1 / 3},
        ],
    }


def test_what_a_trace_does_not_have_is_left_out(interpulse: Cli, tmp_path: Path) -> None:
    trace = written(tmp_path / "t.spc", "0,0,512,r,0.5\n")
    found = interpulse("trace", "stats", trace, "--json").json()
    missing = {"mean_write_bytes", "rewritten_share", "update_share", "update_skew", "mean_gap_ms", "gap_scv"}
    assert missing.isdisjoint(found)
    shown = interpulse("trace", "stats", trace).out
    assert "mean read" in shown
    assert "mean write" not in shown


def test_the_table_is_for_people(interpulse: Cli, tmp_path: Path) -> None:
    lines = interpulse("trace", "stats", written(tmp_path / "t.csv", MSR)).out.splitlines()
    # A long folder of the test has the line broken, anywhere, and the rest of it indented.
    assert "t.csv: msr, plain, 2 device(s)" in " ".join(" ".join(lines).split())
    rows = {" ".join(line.split()) for line in lines}
    for row in (
        "requests 4",
        "writes 75.00 %",
        "unique written (512 B) 12.0 KiB",
        "rewritten, of the written volume 25.00 %",
        "updates on the busiest 20 % of the written pages 100.00 %",
        "mean gap 2.333 ms",
        "writes of 4.0 KiB 66.67 %",
    ):
        assert row in rows


def test_formats_that_do_not_tell_themselves(interpulse: Cli, tmp_path: Path) -> None:
    trace = written(tmp_path / "t.txt", "0 0 0 8 1\n1.5 0 8 8 0\n")
    options = ("--format", "ascii", "--time-unit", "us", "--writes-are", "1", "--json")
    found = interpulse("trace", "stats", trace, *options).json()
    assert (found["writes"], found["span_s"]) == (1, 1.5e-6)
    # Decimals are those of DiskSim, in ms, as long as nothing else is said.
    found = interpulse("trace", trace, "--json").json()
    assert (found["format"], found["time_unit"], found["span_s"]) == ("disksim-ascii", "ms", 1.5e-3)
    assert "(override: --time-unit us)" in interpulse("trace", trace).out
    found = interpulse("trace", "--time-unit", "s", trace, "--json").json()
    assert (found["format"], found["time_unit"], found["span_s"]) == ("ascii", "s", 1.5)
    assert "--writes-are" in interpulse("trace", "stats", trace, "--format", "ascii").error()
    assert 'seen "hours"; expected one of ns, 100ns, us' in interpulse("trace", trace, "--time-unit", "hours").error()
    assert "--writes-are" in interpulse("trace", "stats", trace, "--format", "ascii", "--time-unit", "us").error()
    assert "belongs to --format ascii" in interpulse("trace", "stats", trace, "--writes-are", "1").error()
    assert '(did you mean "mqsim"?)' in interpulse("trace", "stats", trace, "--format", "mqsin").error()


OWN = "LBA,IO_SIZE,TIME\n1024,8,0.0001\n2048,16,0.0003\n1024,8,9e-4\n"
"""A trace that does not say which requests are reads."""


def test_columns_of_ones_own_are_read(interpulse: Cli, tmp_path: Path) -> None:
    trace = written(tmp_path / "own.csv", OWN)
    options = ("--columns", "offset,size,time", "--operation", "read", "--time-unit", "s", "--json")
    found = interpulse("trace", trace, *options).json()
    assert (found["format"], found["requests"], found["reads"], found["read_bytes"]) == ("columns", 3, 3, 32 * 512)
    assert found["span_s"] == pytest.approx(8e-4)
    text = written(tmp_path / "own.txt", "1 0 48 W\n200 80 8 W\n15000 80 8 R\n")
    options = ("--columns", "time,offset,size,op", "--address-unit", "512B", "--time-unit", "ns", "--json")
    found = interpulse("trace", text, *options).json()
    assert (found["writes"], found["written_bytes"], found["read_bytes"]) == (2, 28 * 1024, 4096)
    words = (
        "--format",
        "columns",
        "--read-words",
        "5",
        "--write-words",
        "7,8",
        "--separator",
        "pipe",
        "--header-rows",
        "1",
    )
    text = written(tmp_path / "words", "3 4 5\n1|5|0|512\n2|8|0|512\n")
    found = interpulse("trace", text, "--columns", "time,op,offset,size", *words, "--json").json()
    assert (found["reads"], found["writes"]) == (1, 1)


@pytest.mark.parametrize(
    "text", [OWN, "1 0 48 W\n200 80 8 W\n15000 80 8 R\n", "R;4096;8192;0.5\nW;1048576;4096;1.25e0\n"]
)
def test_what_a_refusal_says_to_try_works(interpulse: Cli, tmp_path: Path, text: str) -> None:
    trace = written(tmp_path / "t.csv", text)
    message = interpulse("trace", trace).error()
    assert "matches no known format" in message
    tried = message.split("; try ")[1].split("; specify")[0].removesuffix(" (or write)")
    found = interpulse("trace", trace, *shlex.split(tried), "--json").json()
    assert (found["format"], found["requests"]) == ("columns", text.count("\n") - text.startswith("LBA"))
    config = written(tmp_path / "replay.toml", 'drive = "a4-mini"\n[run]\nwarmup = "0s"\n[[flow]]\ntrace = "t.csv"\n')
    message = interpulse("run", config).error()
    tried = message.split("; try ")[1].split("; specify")[0].removesuffix(" (or write)")
    assert "--set flow.0.format=columns" in tried
    by_set = interpulse("run", config, *shlex.split(tried), "--json").seed()
    assert by_set["host_requests"] == found["requests"]


def test_the_options_of_run_are_keys_of_the_flow(interpulse: Cli, tmp_path: Path) -> None:
    trace = written(tmp_path / "own.csv", OWN)
    keys = 'columns = ["offset", "size", "time"]\noperation = "write"\naddress-unit = "4KiB"\ntime-unit = "s"\n'
    flow = f'drive = "a4-mini"\n[run]\nwarmup = "0s"\n[[flow]]\ntrace = "{trace}"\n'
    by_file = interpulse("run", written(tmp_path / "a.toml", f'{flow}format = "columns"\n{keys}'), "--json").seed()
    options = ("--columns", "offset,size,time", "--operation", "write", "--address-unit", "4KiB", "--time-unit", "s")
    plain = written(tmp_path / "b.toml", flow)
    by_option = interpulse("run", plain, *options, "--json").seed()
    assert by_file["host_requests"] == by_option["host_requests"] == 3
    assert by_file["latency_us"] == by_option["latency_us"]
    assert "flow.0.columns" in interpulse("show", plain, *options).out
    assert (
        "--address-unit was given, but no [[flow]] replays a trace"
        in interpulse(
            "run", written(tmp_path / "c.toml", 'drive = "a4-mini"\n[run]\nrequests = 1\n[[flow]]\n'), *options
        ).error()
    )


def test_a_flow_without_times_needs_closed_pacing(interpulse: Cli, tmp_path: Path) -> None:
    written(tmp_path / "own.csv", "R,0,4096\nW,4096,4096\n")
    flow = 'drive = "a4-mini"\n[[flow]]\ntrace = "own.csv"\nformat = "columns"\ncolumns = ["op", "offset", "size"]\n'
    refused = interpulse("run", written(tmp_path / "open.toml", flow)).error()
    assert "open.toml:5: flow.0.columns: " in refused
    assert 'pacing = "closed"' in refused
    closed = written(tmp_path / "closed.toml", f'{flow}pacing = "closed"\n')
    assert interpulse("run", closed, "--json").seed()["host_requests"] == 2


def test_names_that_said_the_wrong_unit_are_refused(interpulse: Cli, tmp_path: Path) -> None:
    trace = written(tmp_path / "t.txt", "0 0 0 8 1\n1.5 0 8 8 0\n")
    config = written(tmp_path / "replay.toml", 'drive = "a4-mini"\n[[flow]]\ntrace = "t.txt"\n')
    for name, instead in (
        ("disksim", "disksim-ascii for times in ms, "),
        ("ssdsim-ms", "disksim-ascii for times in ms, "),
    ):
        message = f'seen "{name}"; expected {instead}'
        assert message in interpulse("trace", trace, "--format", name).error()
        assert f"flow.0.format: {message}" in interpulse("run", config, "--set", f"flow.0.format={name}").error()


def test_a_word_that_is_no_file_is_no_trace(interpulse: Cli) -> None:
    assert "No such command 'stat'" in interpulse("trace", "stat").error()


def test_bad_rows_are_refused_or_counted(interpulse: Cli, tmp_path: Path) -> None:
    trace = written(tmp_path / "t.csv", MSR + "noon,h,0,Read,0,512,0\n60000,h,0,Read,0,512,0\n")
    refused = interpulse("trace", "stats", trace)
    assert refused.code == 2
    assert "t.csv: line 5: `time` is `noon`, which is not a number" in refused.error()
    found = interpulse("trace", "stats", trace, "--skip-bad-rows", "--reorder", "clamp", "--json").json()
    assert (found["requests"], found["bad_rows"], found["late_rows"]) == (5, 1, 1)
    assert found["first_bad_rows"][0].startswith("line 5: ")
    shown = interpulse("trace", "stats", trace, "--skip-bad-rows", "--reorder", "clamp").out
    assert "1 bad row(s) skipped: line 5: " in shown
    assert "1 row(s) with an earlier time" in shown


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "", "holds no rows"),
        ("t.csv", "hello\n", "line 1: `hello` matches no known format"),
        ("t.csv", MSR + "60000,h,0,Read,0,512,0\n", "line 5: `time` goes back by 1ms"),
        ("t.csv", MSR.replace("8192", "0"), "line 1: `size` is `0`"),
    ],
)
def test_a_trace_that_cannot_be_measured_names_its_line(
    interpulse: Cli, tmp_path: Path, name: str, text: str, message: str
) -> None:
    ended = interpulse("trace", "stats", written(tmp_path / name, text))
    assert ended.code == 2
    assert message in ended.error()


def test_a_file_that_is_not_there(interpulse: Cli, tmp_path: Path) -> None:
    assert interpulse("trace", "stats", str(tmp_path / "none")).error().endswith("none: does not exist")
    assert "is not a regular file" in interpulse("trace", "stats", str(tmp_path)).error()


@pytest.mark.parametrize("ending", ["csv", "spc", "mqsim.gz", "disksim-ascii.zst", "vscsi", "blkparse"])
def test_a_twin_has_the_statistics_of_its_row(interpulse: Cli, tmp_path: Path, ending: str) -> None:
    row, out = written(tmp_path / "row.toml", ROW), str(tmp_path / f"twin.{ending}")
    made = interpulse("trace", "twin", row, "--out", out, "--json").json()
    asked = interpulse("trace", "row", row, "--json").json()
    found = interpulse("trace", "stats", out, "--json").json()
    assert made["format"] == found["format"]
    for name in ALIKE:
        assert made[name] == asked[name]
        assert found[name] == pytest.approx(asked[name], rel=0.02), name
    shares = {each["bytes"]: each["share"] for each in found["read_sizes"]}
    assert shares == {4096: 0.75, 16384: 0.25}


def test_a_built_in_row_is_scaled_and_cites_its_sources(interpulse: Cli, tmp_path: Path) -> None:
    out = str(tmp_path / "twin.csv")
    interpulse("trace", "twin", "msr-prn-0", "--out", out, "--requests", "20000")
    asked = interpulse("trace", "row", "msr-prn-0", "--requests", "20000", "--json").json()
    found = interpulse("trace", "stats", out, "--json").json()
    for name in ALIKE:
        assert found[name] == pytest.approx(asked[name], rel=0.02), name
    shown = interpulse("trace", "row", "msr-prn-0").out
    assert "assumed: Gao et al., MICRO'19, Fig. 10" in shown
    listed = interpulse("list", "twins", "--json").json()["twins"]
    assert "msr-prn-0" in [row["name"] for row in listed]


def test_the_seed_decides_the_bytes(interpulse: Cli, tmp_path: Path) -> None:
    row = written(tmp_path / "row.toml", ROW)
    files = [tmp_path / name for name in ("a.csv", "b.csv", "c.csv")]
    for path, seed in zip(files, ("3", "3", "4"), strict=True):
        interpulse("trace", "twin", row, "--out", str(path), "--seed", seed)
    first, again, other = (path.read_bytes() for path in files)
    assert first == again
    assert first != other


def test_a_flow_issues_what_the_file_holds(interpulse: Cli, tmp_path: Path) -> None:
    written(tmp_path / "row.toml", ROW)
    out = tmp_path / "twin.mqsim"
    interpulse("trace", "twin", str(tmp_path / "row.toml"), "--out", str(out), "--seed", "5")
    # Twins are not preceded by a flow of their kind.
    head = 'drive = "a4-mini"\nseed = 5\n[run]\nwarmup = "0s"\n[[flow]]\n'
    results = []
    for name, key in (("twin.toml", 'twin = "row.toml"'), ("file.toml", 'trace = "twin.mqsim"')):
        config = written(tmp_path / name, f"{head}{key}\n")
        results.append(interpulse("run", config, "--json").seed())
    twin, file = results
    assert twin["host_requests"] == file["host_requests"] == 5000
    assert twin["latency_us"] == file["latency_us"]


@pytest.mark.parametrize("limit", ["", "requests = 40"])
def test_a_drive_comes_to_work_before_a_trace_whole_or_cut_short(interpulse: Cli, tmp_path: Path, limit: str) -> None:
    written(tmp_path / "small.spc", "".join(f"0,{at * 8},4096,{'rw'[at % 2]},{at / 1e3}\n" for at in range(100)))
    flow = f'trace = "small.spc"\nformat = "spc"\nfit = "fold"\n{limit}\n'
    config = written(tmp_path / "replay.toml", f'drive = "a4-mini"\n[[flow]]\n{flow}')
    result = interpulse("run", config, "--json").seed()
    assert result["warmup"]["by"] == "synthetic", result["warmup"]
    assert result["warmup"]["host_requests"] > 0
    assert result["host_requests"] == (40 if limit else 100), "what came before counts nowhere"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("12KiB", "12", 'row.toml:6: twin.write-size: seen "12"; expected a size (give a unit'),
        ("update-skew", "update-scew", "row.toml:8: twin.update-scew: unknown key; expected one of"),
        ("update-skew", "update-scew", '(did you mean "update-skew"?)'),
        ('"80%"', '"8%"', 'row.toml:8: twin.update-skew: seen "70%"; expected a share that these sizes'),
        ("[twin]", "[twins]", "twin"),
        ("[twin]", "[twin", "row.toml:1"),
        ("5000", "5000.5", "row.toml:2: twin.requests: seen 5000.5; expected a whole number"),
        ("4KiB", "4000B", 'row.toml:4: twin.read-sizes: seen ["4000B", "16KiB"]; expected multiples of 512B'),
    ],
)
def test_a_row_that_cannot_be_met_names_its_line(
    interpulse: Cli, tmp_path: Path, before: str, after: str, message: str
) -> None:
    assert before in ROW
    row = written(tmp_path / "row.toml", ROW.replace(before, after))
    ended = interpulse("trace", "twin", row, "--out", str(tmp_path / "out.csv"))
    assert ended.code == 2
    assert message in ended.error()
    assert not (tmp_path / "out.csv").exists()


def test_a_row_that_is_not_there(interpulse: Cli, tmp_path: Path) -> None:
    out = str(tmp_path / "out.csv")
    assert '(did you mean "msr-hm-0"?)' in interpulse("trace", "twin", "msr-hm-2", "--out", out).error()
    assert "none.toml: cannot be opened" in interpulse("trace", "twin", "none.toml", "--out", out).error()
    assert "1 MiB" in interpulse("trace", "row", written_folder(tmp_path)).error()
    missing = str(tmp_path / "no" / "out.csv")
    assert f"{missing}: cannot be written" in interpulse("trace", "twin", "msn", "--out", missing).error()


def written_folder(tmp_path: Path) -> str:
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    return str(folder)


def test_ctrl_c_ends_it_and_leaves_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "twin.csv"
    out.write_text("precious\n")
    command = ("-m", "interpulse", "trace", "twin", "financial-1", "--out", str(out), "--requests", "50000000")
    with process(*command) as running:
        deadline = time.monotonic() + 60
        while not any(file.stat().st_size for file in tmp_path.iterdir() if file != out):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert [file.read_text() for file in tmp_path.iterdir()] == ["precious\n"]
    assert "Traceback" not in err


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    trace = written(tmp_path / "t.csv", MSR)
    command = f"{sys.executable} -m interpulse trace stats {trace} | head -n 1"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    ended = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_json_is_one_object_on_one_line(interpulse: Cli, tmp_path: Path) -> None:
    out = interpulse("trace", "stats", written(tmp_path / "t.csv", MSR), "--json").out
    assert out.count("\n") == 1
    assert json.loads(out)["requests"] == 4


def test_a_twin_never_replaces_its_own_row(interpulse: Cli, tmp_path: Path) -> None:
    row = written(tmp_path / "row.toml", ROW)
    ended = interpulse("trace", "twin", row, "--out", row)
    assert ended.code == 2
    assert "is the row itself" in ended.error()
    assert (tmp_path / "row.toml").read_text() == ROW
