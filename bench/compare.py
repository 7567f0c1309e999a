"""The same small drive under the same loads in MQSim and in interpulse: CPU time and memory of whole processes.

    python bench/compare.py path/to/MQSim [--before PATH] [--traces FOLDER] [--rounds N] [--json] [ROW ...]

MQSim (github.com/CMU-SAFARI/MQSim) is built elsewhere; nothing of it is part of this repository. Both programs get the
drive that `small_drive.py` writes down once. MQSim schedules `OUT_OF_ORDER`, the faster of its schedulers; its dies
start with pages that hold data, ours with a filled drive. Runs alternate, and the fastest of each counts. A row
`NAME loop` is what the requests of a long run cost beyond those of a short one: neither start nor fill is in it.
`--before` takes the command `interpulse` of another version into the turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NotRequired, TypedDict

from small_drive import Load, interpulse_case, interpulse_part, mqsim_drive, mqsim_workload, write_xml

LOADS = [
    Load("random reads QD16", loop=True),
    Load("random reads QD64", depth=64, loop=True),
    Load("random reads QD1", depth=1, requests=200_000),
    Load("sequential 128 KiB writes", read=0, block=128 << 10, sequential=True, requests=30_000),
    Load("tpcc-small", trace="tpcc-small.trace"),
    Load("wsrch-small", trace="wsrch-small.trace"),
]


@dataclass(frozen=True)
class Programs:
    """What runs the loads: MQSim, and versions of ours, this one first."""

    mqsim: Path
    versions: list[Path]


@dataclass(frozen=True)
class Cost:
    """What a process cost."""

    cpu_s: float
    peak_mb: float


class Row(TypedDict):
    """One line of the table: CPU seconds of whole processes, and the most memory that they held, in MB."""

    row: str
    mqsim_cpu_s: float
    cpu_s: float
    ratio: float
    mqsim_peak_mb: float
    peak_mb: float
    before_cpu_s: NotRequired[float]
    before_ratio: NotRequired[float]
    before_peak_mb: NotRequired[float]


def main() -> int:
    """Runs the rows and prints them."""
    chosen = arguments()
    found = []
    if not chosen.json:
        before = (
            (f"{'CPU s':>10}{'':>8}{'MB':>8}", f"{'before':>10}{'ratio':>8}{'before':>8}")
            if chosen.before
            else ("", "")
        )
        print(f"{'':30}{'CPU s':>10}{'':>12}{'':>8}{'MB':>10}{'':>12}{before[0]}")
        print(f"{'':30}{'MQSim':>10}{'interpulse':>12}{'ratio':>8}{'MQSim':>10}{'interpulse':>12}{before[1]}")
    with tempfile.TemporaryDirectory() as folder:
        for load in chosen.loads:
            for row in rows_of(load, chosen.programs, Path(folder), chosen.rounds):
                found.append(row)
                if not chosen.json:
                    print(line(row), flush=True)
    if chosen.json:
        print(json.dumps({"rounds": chosen.rounds, "rows": found}, indent=2))
    return 0


def arguments() -> argparse.Namespace:
    """What was asked for, with `loads`, the loads of its rows, and `programs`, what runs them."""
    names = [load.name for load in LOADS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("mqsim", type=Path, help="a built MQSim")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"rows to run (all: {', '.join(names)})")
    parser.add_argument(
        "--before", type=Path, help="the command interpulse of another version, to run in turns as well"
    )
    parser.add_argument("--traces", type=Path, help="where MQSim's traces are (the folder `traces` beside it)")
    parser.add_argument("--rounds", type=int, default=3, help="times that each program runs (3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.rows if name not in names]:
        parser.error(f"no row {unknown[0]!r}; rows are {', '.join(names)}")
    if chosen.rounds < 1:
        parser.error(f"--rounds {chosen.rounds}: at least 1")
    for path, what in ((chosen.mqsim, "a built MQSim"), (chosen.before, "the command interpulse of another version")):
        if path and not (path.is_file() and os.access(path, os.X_OK)):
            parser.error(f"{path} is no program; expected {what}")
    chosen.programs = Programs(
        chosen.mqsim.resolve(),
        [Path(sys.executable).with_name("interpulse"), *([chosen.before.absolute()] if chosen.before else [])],
    )
    traces = (chosen.traces or chosen.mqsim.resolve().parent / "traces").resolve()
    chosen.loads = [
        replace(load, trace=str(traces / load.trace)) if load.trace else load
        for load in LOADS
        if load.name in (chosen.rows or names)
    ]
    if missing := [load.trace for load in chosen.loads if load.trace and not Path(load.trace).is_file()]:
        parser.error(f"{missing[0]} is not there; --traces names the folder of MQSim's traces")
    return chosen


def line(row: Row) -> str:
    """A row of the table."""
    text = (
        f"{row['row']:30}{row['mqsim_cpu_s']:10.3f}{row['cpu_s']:12.3f}{row['ratio']:8.1f}"
        f"{row['mqsim_peak_mb']:10.0f}{row['peak_mb']:12.0f}"
    )
    if "before_cpu_s" in row:
        text += f"{row['before_cpu_s']:10.3f}{row['before_ratio']:8.1f}{row['before_peak_mb']:8.0f}"
    return text


def rows_of(load: Load, programs: Programs, work: Path, rounds: int) -> list[Row]:
    """The whole process, and of some loads the loop alone."""
    whole = race(load, programs, work, rounds)
    rows = [row_of(load.name, *whole)]
    if load.loop:
        less = race(replace(load, requests=load.requests // 10), programs, work, rounds)
        loop = [Cost(long.cpu_s - short.cpu_s, long.peak_mb) for long, short in zip(whole, less, strict=True)]
        rows.append(row_of(f"{load.name} loop", *loop))
    return rows


def row_of(name: str, theirs: Cost, ours: Cost, before: Cost | None = None) -> Row:
    """One line of the table."""
    row: Row = {
        "row": name,
        "mqsim_cpu_s": round(theirs.cpu_s, 4),
        "cpu_s": round(ours.cpu_s, 4),
        "ratio": round(theirs.cpu_s / ours.cpu_s, 2),
        "mqsim_peak_mb": round(theirs.peak_mb, 1),
        "peak_mb": round(ours.peak_mb, 1),
    }
    if before:
        row["before_cpu_s"] = round(before.cpu_s, 4)
        row["before_ratio"] = round(theirs.cpu_s / before.cpu_s, 2)
        row["before_peak_mb"] = round(before.peak_mb, 1)
    return row


def race(load: Load, programs: Programs, work: Path, rounds: int) -> list[Cost]:
    """All programs under a load, in turns; the cheapest run of each, MQSim's first."""
    drive, workload, case = work / "drive.xml", work / "workload.xml", work / "case.toml"
    write_xml(drive, mqsim_drive())
    write_xml(workload, mqsim_workload(load))
    (work / "part.toml").write_text(interpulse_part())
    case.write_text(interpulse_case(load))
    commands = [[str(programs.mqsim), "-i", str(drive), "-w", str(workload)]]
    commands += [[str(version), "run", str(case), "--no-cache"] for version in programs.versions]
    costs = [[cost_of(command, work) for command in commands] for _ in range(rounds)]
    return [min(each, key=lambda cost: cost.cpu_s) for each in zip(*costs, strict=True)]


def cost_of(command: list[str], work: Path) -> Cost:
    """Runs a program to its end.

    MQSim waits for a line before it ends: a file holds it, since a pipe breaks under a program that ends without
    reading.
    """
    (work / "line").write_text("\n")
    with (work / "told").open("w+") as told, (work / "line").open() as typed:
        process = subprocess.Popen(command, cwd=work, stdin=typed, stdout=told, stderr=told)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            told.seek(0)
            sys.exit(f"error: {command[0]} ended with {process.returncode}:\n{told.read()[-2000:]}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


if __name__ == "__main__":
    sys.exit(main())
