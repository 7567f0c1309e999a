"""`bench/compare.py` runs both programs on its drive and loads, whatever stands in for MQSim."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "compare.py"

STAND_IN = f"""#!{sys.executable}
import sys
import xml.etree.ElementTree as ElementTree
drive, workload = (ElementTree.parse(sys.argv[place]).getroot() for place in (2, 4))
assert drive.findtext(".//Transaction_Scheduling_Policy") == "OUT_OF_ORDER"
assert len(workload.findall(".//IO_Scenario/*")) == 1
with open(__file__ + ".seen", "a") as seen:
    seen.write((workload.findtext(".//Total_Requests_To_Generate") or workload.findtext(".//File_Path")) + "\\n")
for _ in range(10**6):
    pass
assert sys.stdin.readline() == "\\n"
"""


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    program = tmp_path / "stand-in"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    return program


def compare(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


def test_both_run_the_rows_asked_for(stand_in: Path) -> None:
    (stand_in.parent / "traces").mkdir()
    trace = stand_in.parent / "traces" / "tpcc-small.trace"
    # Arrival in ns, device, sector, sectors, 0 for a write.
    trace.write_text("".join(f"{10_000 * row} 0 {8 * row} 8 {row % 2}\n" for row in range(2000)))
    done = compare(stand_in, "sequential 128 KiB writes", "tpcc-small", "--rounds", "2", "--json")
    assert not done.returncode, done.stderr
    told = json.loads(done.stdout)
    assert told["rounds"] == 2
    assert [row["row"] for row in told["rows"]] == ["sequential 128 KiB writes", "tpcc-small"]
    for row in told["rows"]:
        assert row["ratio"] == pytest.approx(row["mqsim_cpu_s"] / row["cpu_s"], rel=0.1)
        assert row["peak_mb"] > 10
    assert stand_in.with_name("stand-in.seen").read_text().splitlines() == ["30000"] * 2 + [str(trace)] * 2


def test_another_version_runs_in_turns(stand_in: Path, tmp_path: Path) -> None:
    seen = stand_in.with_name("stand-in.seen")
    before = tmp_path / "before"
    before.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        "command, case, snapshots = sys.argv[1:]\n"
        "assert (command, snapshots) == ('run', '--no-cache')\n"
        "text = open(case).read()\n"
        f"with open({str(seen)!r}, 'a') as seen:\n"
        "    seen.write(next(line for line in text.splitlines() if line.startswith('requests')) + '\\n')\n"
        "for _ in range(5 * 10**6):\n"
        "    pass\n"
    )
    before.chmod(0o755)
    row = "sequential 128 KiB writes"
    done = compare(stand_in, row, "--before", before, "--rounds", "2", "--json")
    assert not done.returncode, done.stderr
    [told] = json.loads(done.stdout)["rows"]
    assert seen.read_text().splitlines() == ["30000", "requests = 30000"] * 2
    # It counts five times as far as what stands in for MQSim.
    assert told["before_cpu_s"] > told["mqsim_cpu_s"]
    assert told["before_ratio"] == pytest.approx(told["mqsim_cpu_s"] / told["before_cpu_s"], abs=0.02)
    assert told["before_peak_mb"] > 5
    printed = compare(stand_in, row, "--before", before, "--rounds", "1").stdout.splitlines()
    assert printed[1].split()[-3:] == ["before", "ratio", "before"]
    assert [len(line.removeprefix(row).split()) for line in printed[2:]] == [8]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "no row 'nonsense'; rows are random reads QD16, "),
        (["--rounds", "0"], "--rounds 0: at least 1"),
        (["--before", "nothing"], "nothing is no program; expected the command interpulse of another version"),
        (["tpcc-small", "--traces", "nowhere"], "tpcc-small.trace is not there; --traces names the folder"),
    ],
)
def test_wrong_arguments_are_told(stand_in: Path, arguments: list[str], message: str) -> None:
    done = compare(stand_in, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert not stand_in.with_name("stand-in.seen").exists()


def test_a_rival_that_is_none_and_one_that_fails(tmp_path: Path) -> None:
    assert "is no program; expected a built MQSim" in compare(tmp_path).stderr
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\nexec <&-\necho out of pages\nexit 3\n")
    failing.chmod(0o755)
    done = compare(failing, "random reads QD1")
    assert done.returncode == 1
    assert "ended with 3:\nout of pages" in done.stderr
