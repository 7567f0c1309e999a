"""Does `interpulse bench` run the rows that it is asked for, say how long that takes, and count the fastest of each?"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from interpulse.runs import bench
from tests.conftest import process

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Ended

    Command = Callable[..., Ended]

PROGRAM = """\
#!{python} -S
import json, os, sys
what, name, folder, *amount = sys.argv[1:]
with open(os.path.join("{log}"), "a") as log:
    log.write(" ".join([what, name, *amount]) + "\\n")
runs = open("{log}").read().count("run " + name)
if what == "prepare":
    told = {{"precondition_s": 1.5, "bytes": 7}}
else:
    # The second run is the fastest.
    told = {{"name": name, "cpu_s": 1.0 if runs == 2 else 2.0, "requests": 9, "programs": 3, "waf": 2.386}}
    told |= {{"requests_per_cpu_s": 1.23e6, "bytes_per_4k": 9.4, "peak_rss_mb": 1941.2, "restore_s": 4.0}}
    if name.startswith(("one", "raid")):
        told = {{"name": name, "cpu_s": 1.0, "flash_operations": 2 * int((amount or ["5"])[0])}}
        told |= {{"cpu_ns_per_flash_operation": 600.0 if name.startswith("raid") else 500.0}}
    if name == "cell-pulses":
        told = {{"name": name, "cpu_s": 1.0, "cell_pulses_per_cpu_s": 749.6e6}}
    if "{problem}" == name:
        told["problem"] = name + ": too slow"
print(json.dumps(told))
"""
"""Steps that take no time."""

VALGRIND = """\
#!{python} -S
import subprocess, sys
log = next(word.partition("=")[2] for word in sys.argv if word.startswith("--log-file="))
command = [word for word in sys.argv[1:] if not word.startswith("--") or word == "--quick"]
amount = int(command[4])
with open(log, "w") as file:
    file.write("==1== Events    : Ir\\n==1== Collected : " + str(77_000_000 + {each} * amount) + "\\n")
sys.exit(subprocess.run(command).returncode)
"""
"""Counts this many instructions for each request."""


def script(path: Path, text: str, **values: object) -> Path:
    path.write_text(text.format(python=sys.executable, **values))
    path.chmod(0o755)
    return path


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """A program that takes the steps in no time; what it was asked."""
    log = tmp_path / "log"
    monkeypatch.setenv("INTERPULSE_BENCH", str(script(tmp_path / "program", PROGRAM, log=log, problem="")))
    return lambda: log.read_text().splitlines() if log.exists() else []


def test_the_real_benchmark_works() -> None:
    """From the extension module alone: there is no other program in a wheel."""
    with process("-m", "interpulse", "bench", "--quick", "--json") as running:
        out, err = running.communicate(timeout=180)
    assert running.returncode == 0, err
    everything = json.loads(out)
    rows, cells, arrays = everything[:5], everything[5], everything[6:]
    assert [row["name"] for row in rows] == [
        "randread-qd64",
        "mixed-suspend-qd64",
        "randwrite-steady",
        "open-none",
        "open-suspend",
    ]
    promised = ("requests_per_cpu_s", "requests", "programs", "waf", "bytes_per_4k", "precondition_s", "peak_rss_mb")
    for row in rows:
        assert all(isinstance(row[key], int | float) for key in promised)
    assert rows[0]["programs"] == rows[0]["erases"] == 0
    assert cells["name"] == "cell-pulses"
    assert cells["cell_pulses"] > 0
    assert cells["cell_pulses_per_cpu_s"] > 0
    drives = ("one", "raid0", "raid5")
    assert [row["name"] for row in arrays] == [f"{d}-{load}" for load in ("read", "mixed", "write") for d in drives]
    assert all(row["flash_operations"] > 0 and row["cpu_ns_per_flash_operation"] > 0 for row in arrays)


def test_a_row_is_a_process_of_its_own_with_the_memory_of_its_drive() -> None:
    """What the interpreter takes does not count: the miniature drive has 16,384 units and more per cent than bytes."""
    with process("-m", "interpulse", "bench", "randread-qd64", "--quick", "--json") as running:
        out, err = running.communicate(timeout=180)
    assert running.returncode == 0, err
    (row,) = json.loads(out)
    assert 0 < row["peak_rss_mb"] < 30


def test_the_rows_asked_for_run_in_their_order_and_the_fastest_of_each_counts(
    interpulse: Command, steps: Callable[[], list[str]]
) -> None:
    ended = interpulse("bench", "open-none", "randread-qd64", "cell-pulses", "open-none", "--rounds", "3", "--json")
    assert steps() == [
        "prepare randread-qd64",
        *["run randread-qd64", "run open-none", "run cell-pulses"] * 3,
    ], "both rows of drives share a state"
    found = ended.json()
    assert [row["name"] for row in found] == ["randread-qd64", "open-none", "cell-pulses"]
    assert [row["cpu_s"] for row in found] == [1.0, 1.0, 1.0]
    assert [row["rounds"] for row in found] == [3, 3, 3]
    assert [row.get("precondition_s") for row in found] == [1.5, 1.5, None]


def test_it_says_first_how_long_it_takes_and_then_what_is_left(
    interpulse: Command, steps: Callable[[], list[str]]
) -> None:
    said = interpulse("bench", "randread-qd64", "--rounds", "2").err.splitlines()
    assert said[0] == "rows: 1, rounds: 2; about 88 s on the machine of docs/VERIFY.md"
    assert said[1] == "preconditioning for randread-qd64; about 88 s left"
    # Hardly any time has passed, so that little is left.
    for line, number in zip(said[2:], (1, 2), strict=True):
        assert re.fullmatch(rf"randread-qd64, round {number} of 2; about \d s left", line)
    assert len(steps()) == 3


def test_the_estimate_of_everything_is_what_the_last_long_check_took() -> None:
    """630 s on the machine of docs/VERIFY.md; the single drive of the arrays is the drive of the other rows."""
    every = bench.rows()
    assert 0.75 < bench.seconds(every, 3) / 630 < 1.1
    assert bench.seconds(every[:1], 100) > 20 * bench.seconds(every[:1], 1) > 0
    assert len(bench.states(every)) < len([row for row in every if row.state]) / 4
    cells = bench.rows(["cell-pulses"])
    assert bench.states(cells) == {}
    assert bench.seconds(cells, 2) == 2 * cells[0].round_s


@pytest.mark.usefixtures("steps")
def test_the_tables_have_the_rows_asked_for(interpulse: Command) -> None:
    out = interpulse("bench", "open-none", "open-suspend", "cell-pulses", "raid5-read", "one-read", "--rounds", "1").out
    assert out == (
        "                   million\n"
        "                requests /                               bytes / 4           precondition\n"
        "workload             CPU s  requests  programs   WAF           KiB  peak MB             s  restore s\n"
        f"{'─' * 100}\n"
        "open-none             1.23         9         3  2.39          9.40     1941           1.5        4.0\n"
        "open-suspend          1.23         9         3  2.39          9.40     1941           1.5        4.0\n\n"
        "Cells: 750 million cell pulses per CPU second of one core, verifies included.\n\n"
        "four drives and one  CPU ns per flash operation  of one drive\n"
        f"{'─' * 61}\n"
        "one-read                                    500\n"
        "raid5-read                                  600          1.20\n\n"
        "Suspension costs 0 % CPU time per request at the same arrivals.\n"
    )
    alone = interpulse("bench", "raid5-read", "--rounds", "1").out
    assert alone.splitlines()[-1].split() == ["raid5-read", "600"], "a ratio needs both rows"


def test_a_row_that_is_not_what_it_claims_to_be_fails_after_the_figures(
    interpulse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = script(tmp_path / "program", PROGRAM, log=tmp_path / "log", problem="cell-pulses")
    monkeypatch.setenv("INTERPULSE_BENCH", str(program))
    ended = interpulse("bench", "cell-pulses", "randread-qd64", "--rounds", "1", "--json")
    assert ended.code == 1
    assert ended.error() == "cell-pulses: too slow"
    assert [set(row) & {"problem"} for row in ended.json()] == [set(), set()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["randread-qd46"],
            "no row 'randread-qd46': did you mean randread-qd64? There are randread-qd64, ",
        ),
        (["nonsense"], "no row 'nonsense': there are randread-qd64, "),
        (["--rounds", "0"], "Invalid value for '--rounds': 0 is not in the range 1<=x<=100."),
        (["--rounds", "1000000000000"], "Invalid value for '--rounds': 1000000000000 is not in the range 1<=x<=100."),
        (["--rounds", "many"], "Invalid value for '--rounds'"),
        (["--against", "x.json"], "--against goes with --instructions"),
        (["--instructions", "--rounds", "2"], "--rounds does not go with --instructions"),
        (["--instructions", "--against", "nowhere.json"], "--against nowhere.json: No such file or directory"),
    ],
)
def test_a_mistake_is_one_line_before_anything_runs(
    interpulse: Command, steps: Callable[[], list[str]], arguments: list[str], message: str
) -> None:
    ended = interpulse("bench", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.error()
    assert steps() == []


def test_a_missing_benchmark_program_is_explained(
    interpulse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = tmp_path / "nowhere"
    monkeypatch.setenv("INTERPULSE_BENCH", str(missing))
    ended = interpulse("bench", "cell-pulses")
    assert (ended.code, ended.error()) == (2, f"INTERPULSE_BENCH names {missing}, which is not a file")


def test_a_benchmark_program_that_cannot_run_is_explained(
    interpulse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bench"
    program.write_text("not a program")
    monkeypatch.setenv("INTERPULSE_BENCH", str(program))
    ended = interpulse("bench", "cell-pulses")
    assert ended.code == 2
    assert ended.error() == f"cannot run the benchmark program {program}: Permission denied"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("exit 3", "row cell-pulses failed: run ended with 3"),
        ("echo soon", "row cell-pulses: run printed no JSON: Expecting value"),
        ("printf '\\377'", "row cell-pulses: run printed no JSON: "),
        ("echo 3", "row cell-pulses: what run printed has no number called cpu_s or cell_pulses_per_cpu_s"),
        ('echo \'{{"cpu_s": "1"}}\'', "what run printed has no number called cpu_s or cell_pulses_per_cpu_s"),
        ("kill -9 $$", "row cell-pulses failed: run was ended by signal 9"),
    ],
)
def test_a_step_that_fails_is_named(
    interpulse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    monkeypatch.setenv("INTERPULSE_BENCH", str(script(tmp_path / "program", f"#!/bin/sh\n{body}\n")))
    ended = interpulse("bench", "cell-pulses")
    assert ended.code == 2
    assert message in ended.error()


def test_ctrl_c_ends_the_row_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = script(tmp_path / "program", f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    monkeypatch.setenv("INTERPULSE_BENCH", str(program))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    running = process("-m", "interpulse", "bench", "cell-pulses")
    pid = tmp_path / "pid"
    until = time.monotonic() + 20
    while not (pid.exists() and pid.read_text()):
        assert time.monotonic() < until, "the row never began"
        time.sleep(0.02)
    # The row has begun; whoever began it is waiting a moment later.
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=20)
    assert (running.returncode, out) == (130, "")
    assert "Traceback" not in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert not list(tmp_path.glob("interpulse-bench-*")), "the states are deleted"


@pytest.mark.usefixtures("steps")
def test_instructions_are_those_of_what_a_longer_run_has_more(
    interpulse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "valgrind", VALGRIND, each=3000)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    chosen = ("randread-qd64", "cell-pulses", "one-read", "raid5-read")
    counted = interpulse("bench", "--instructions", "--json", *chosen)
    # The stand-in has two flash operations to a request.
    figures = {"randread-qd64": 3000, "cell-pulses": 3000, "one-read": 1500, "raid5-read": 1500}
    assert counted.json() == figures
    said = interpulse("bench", "--instructions", *chosen).out
    assert said.startswith("randread-qd64: 3000 instructions per request\n")
    assert said.splitlines()[-1].split() == ["raid5-read", "1500", "1.00"]
    against = tmp_path / "recorded.json"
    for recorded, code, message in (
        (figures | {"randread-qd64": 2900}, 0, ""),
        (figures | {"randread-qd64": 2800}, 1, f"randread-qd64: 3000 instructions, 2800 are recorded in {against}"),
        ({"randread-qd64": 3000}, 1, "cell-pulses: 3000 instructions, none are recorded"),
        ({"randread-qd64": "3000"}, 2, "an object with a number for each row"),
    ):
        against.write_text(json.dumps(recorded))
        ended = interpulse("bench", "--instructions", *chosen, "--against", str(against))
        assert ended.code == code
        assert message in (ended.error() if code else "")


def test_instructions_need_valgrind(interpulse: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    ended = interpulse("bench", "--instructions", "cell-pulses")
    assert ended.code == 2
    assert ended.error() == "valgrind cannot be run (No such file or directory); install it to count instructions"
