"""Does `bench/compare.py` run all programs on the same files, and read what they print? With programs of our own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import import_files_others as made

SCRIPT = Path(__file__).parents[2] / "bench" / "compare.py"

MQSIM = """
import sys
import xml.etree.ElementTree as ElementTree
drive, workload = (ElementTree.parse(sys.argv[place]).getroot() for place in (2, 4))
assert drive.findtext(".//Transaction_Scheduling_Policy") == "OUT_OF_ORDER"
(flow,) = workload.findall(".//IO_Scenario/*")
with open(__file__ + ".seen", "a") as seen:
    seen.write((flow.findtext("Total_Requests_To_Generate") or flow.findtext("File_Path")) + "\\n")
for _ in range(10**6):
    pass
assert sys.stdin.readline() == "\\n"
writes = flow.findtext("Total_Requests_To_Generate") if flow.findtext("Read_Percentage") == "0" else "0"
open(sys.argv[4].replace(".xml", "_scenario_1.xml"), "w").write(
    f"<Results><Flow><Write_Request_Count>{writes}</Write_Request_Count>"
    "<Device_Response_Time>9538</Device_Response_Time></Flow>"
    '<SSD.FTL Total_GC_Executions="100" Average_Page_Movement_For_GC="32.0"/></Results>'
)
"""

SSDSIM = """
assert input() == "trace.ascii"
rows = [line.split() for line in open("trace.ascii")]
with open("ex.out", "w") as out:
    out.write("parameter file: page.parameters\\n      arrive           lsn     size ope     begin time\\n")
    for row, (time, _, lsn, size, operation) in enumerate(rows):
        took = 1000 * (row + 1)
        out.write(f"{time:>16} {lsn:>10} {size:>6} {operation:>2} {time:>16} {int(time) + took:>16} {took:>10}\\n")
open("statistic10.dat", "w").write("erase count:             7\\ndirect erase count:             3\\n")
raise SystemExit(1)
"""

SIMPLESSD = """
import configparser, sys
simulation, drive, output = sys.argv[1:]
keys = configparser.ConfigParser(inline_comment_prefixes="#")
keys.read([simulation, drive])
load = keys["generator"]
count = int(load["io_size"]) // int(load["blocksize"])
if log := keys["global"]["LatencyLogFile"]:
    with open(output + "/" + log, "w") as file:
        file.writelines(f"{row}, 4096, 4096, {(row + 1) * 1000000}\\n" for row in range(count))
open(output + "/log.txt", "w").write("ftl.page_mapping.gc.count \\t5.000000 \\tTotal GC count\\n")
print(f"Time (ps): 0 - {count}000000000 ({count}000000000)")
"""


def program(folder: Path, name: str, text: str) -> Path:
    """A program that stands in for another simulator."""
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return path


@pytest.fixture
def mqsim(tmp_path: Path) -> Path:
    return program(tmp_path, "stand-in", MQSIM)


def compare(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


def rows(*arguments: str | Path) -> list[dict[str, Any]]:
    done = compare(*arguments, "--json")
    assert not done.returncode, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["rows"]
    return found


def test_both_run_the_rows_in_turns(mqsim: Path) -> None:
    (mqsim.parent / "traces").mkdir()
    trace = mqsim.parent / "traces" / "tpcc-small.trace"
    # Arrival in ns, device, sector, sectors, 0 for a write.
    trace.write_text("".join(f"{10_000 * row} 0 {8 * row} 8 {row % 2}\n" for row in range(2000)))
    found = rows("--mqsim", mqsim, "128 KiB writes", "tpcc-small", "--rounds", "2", "--requests", "3000")
    assert [row["row"] for row in found] == ["MQSim: 128 KiB writes", "MQSim: tpcc-small"]
    for row in found:
        theirs, ours = row["programs"]["MQSim"], row["programs"]["interpulse"]
        assert row["cpu_ratio"] == pytest.approx(theirs["cpu_s"] / ours["cpu_s"], rel=0.1)
        assert ours["peak_mb"] > 10
        # MQSim rounds down to whole microseconds.
        assert theirs["mean_us"] == 9538.5
        assert row["differences_percent"]["mean_us"] == pytest.approx((ours["mean_us"] / 9538.5 - 1) * 100, abs=0.01)
        assert theirs["p99_us"] is None
        assert ours["p99_us"] > 0
    # 100 collections of 32 pages after 3,000 writes of 32 pages.
    assert found[0]["programs"]["MQSim"]["waf"] == pytest.approx(1 + 3200 / 96_000)
    assert mqsim.with_name("stand-in.seen").read_text().splitlines() == ["3000"] * 2 + [str(trace)] * 2


def test_every_request_of_ssdsim_and_simplessd_counts(tmp_path: Path) -> None:
    (tmp_path / "page.parameters").write_bytes(made.SSDSIM.encode())
    (tmp_path / "example.ascii").write_text("0 0 16 8 1\n500000 0 64 8 0\n1000000 0 16 8 1\n")
    (tmp_path / "simplessd" / "config").mkdir(parents=True)
    (tmp_path / "simplessd" / "config" / "sample.cfg").write_text(made.SIMPLESSD)
    peers: list[str | Path] = [
        "--ssdsim",
        program(tmp_path, "ssd", SSDSIM),
        "--simplessd",
        program(tmp_path, "standalone", SIMPLESSD),
    ]
    chosen = ["100 times", "SimpleSSD: 4 KiB reads, depth 16"]
    simplessd, ssdsim = rows(*peers, *chosen, "--rounds", "1", "--requests", "200")
    assert (simplessd["requests"], ssdsim["requests"]) == (200, 200)
    for row, name, collections in ((simplessd, "SimpleSSD-Standalone", 5), (ssdsim, "SSDSim", 7)):
        theirs = row["programs"][name]
        # Latencies of 1, 2, ... 200 us.
        assert [theirs[key] for key in ("mean_us", "p99_us", "p999_us")] == [100.5, 199, 200]
        assert theirs["collections"] == collections
        assert set(row["differences_percent"]) >= {"mean_us", "p99_us", "p999_us", "iops"}
    assert simplessd["programs"]["SimpleSSD-Standalone"]["iops"] == pytest.approx(1000)


def test_another_version_runs_in_turns(mqsim: Path, tmp_path: Path) -> None:
    before = program(
        tmp_path,
        "before",
        "import json, sys\n"
        "assert [sys.argv[1], *sys.argv[3:5]] == ['run', '--no-cache', '--json']\n"
        "latency = {'mean': 1.0, 'p99': 2.0, 'p99.9': 3.0}\n"
        "ftl = {'host_pages': 4, 'programmed_pages': 6, 'gc_runs': 1}\n"
        "seed = {'latency_us': {'all': latency}, 'iops': 5.0, 'ftl': ftl}\n"
        "print(json.dumps({'cases': [{'seeds': [seed]}]}))\n"
        "for _ in range(5 * 10**6):\n"
        "    pass\n",
    )
    words: list[str | Path] = [
        "--mqsim",
        mqsim,
        "MQSim: 128 KiB writes",
        "--before",
        before,
        "--rounds",
        "1",
        "--requests",
        "1000",
    ]
    [found] = rows(*words)
    # It counts five times as far as what stands in for MQSim.
    assert found["programs"]["before"]["cpu_s"] > found["programs"]["MQSim"]["cpu_s"]
    assert found["programs"]["before"]["waf"] == 1.5
    printed = compare(*words).stdout.splitlines()
    assert [line.split()[0] for line in printed[:4]] == ["MQSim:", "MQSim", "interpulse", "before"]
    assert "mean us -" in printed[-1] or "mean us +" in printed[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "no row 'nonsense'; rows are MQSim: 4 KiB reads, depth 1, "),
        (["--rounds", "0"], "--rounds 0: at least 1"),
        (["--requests", "0"], "--requests 0: at least 1"),
        (["--before", "nothing"], "nothing is no program; expected the command interpulse of another version"),
        (["SSDSim"], "no program of these rows is named; expected --mqsim, --simplessd or --ssdsim"),
    ],
)
def test_wrong_arguments_are_reported(
    mqsim: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for peer in ("SIMPLESSD", "SSDSIM"):
        monkeypatch.delenv(f"INTERPULSE_{peer}", raising=False)
    done = compare("--mqsim", mqsim, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert not mqsim.with_name("stand-in.seen").exists()


def test_a_rival_that_is_none_and_one_that_fails(mqsim: Path, tmp_path: Path) -> None:
    assert "is no program; expected a built MQSim" in compare("--mqsim", tmp_path).stderr
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\nexec <&-\necho out of pages\nexit 3\n")
    failing.chmod(0o755)
    done = compare("--mqsim", failing, "MQSim: 4 KiB reads, depth 1")
    assert done.returncode == 1
    assert "ended with 3:\nout of pages" in done.stderr
    done = compare("--mqsim", mqsim, "tpcc-small")
    assert done.returncode == 1
    assert "tpcc-small.trace" in done.stderr
