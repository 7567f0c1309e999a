"""SSDSim: its sample trace on its sample drive, and its record of requests."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from peers.figures import Figures, of_latencies
from peers.process import Command
from peers.rows import Ready, Row

_RECORD = re.compile(r"\s*(\d+)\s+(\d+)\s+(\d+)\s+([01])\s+(\d+)\s+(\d+)\s+(\d+)\s*")


def result(work: Path, _told: str) -> Figures:
    """Figures of the record of requests (`ex.out`), in ns, and of the statistics."""
    rows = [_RECORD.fullmatch(line) for line in (work / "ex.out").read_text(errors="replace").splitlines()]
    found = [[int(word) for word in row.groups()] for row in rows if row]
    statistics = (work / "statistic10.dat").read_text(errors="replace")
    erases = re.search(r"^erase count:\s*(\d+)", statistics, re.MULTILINE)
    span = max((row[5] for row in found), default=0) - min((row[0] for row in found), default=0)
    return of_latencies(
        [row[6] / 1e3 for row in found],
        iops=len(found) * 1e9 / span if span else None,
        collections=float(erases[1]) if erases else None,
    )


def _prepare(work: Path, program: Path, requests: int) -> Ready:
    (work / "page.parameters").write_bytes((program.parent / "page.parameters").read_bytes())
    rows = [line.split() for line in (program.parent / "example.ascii").read_text().splitlines() if line.strip()]
    # Each copy begins where the last row of the one before it is.
    span = int(rows[-1][0]) - int(rows[0][0])
    trace = work / "trace.ascii"
    with trace.open("w") as file:
        for number in range(requests):
            copy, place = divmod(number, len(rows))
            time, *rest = rows[place]
            file.write(" ".join([str(int(time) + copy * span), *rest]) + "\n")
    command = Command([str(program)], work, typed="trace.ascii\n", codes=(0, 1))
    return Ready(command, partial(result, work), ["ssdsim", str(work / "page.parameters"), str(trace)])


ROWS = [
    Row("SSDSim: example.ascii", "ssdsim", 10_000, _prepare),
    Row("SSDSim: example.ascii, 100 times", "ssdsim", 1_000_000, _prepare),
]
