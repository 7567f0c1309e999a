"""Other simulators and interpulse on the same files: figures, CPU and wall time, memory.

    python bench/compare.py --mqsim PATH --simplessd PATH --ssdsim PATH [--before PATH] [--rounds N] [ROW ...]

The programs are built elsewhere (CMU-SAFARI/MQSim, SimpleSSD/SimpleSSD-Standalone, huaicheng/ssdsim); nothing of them
is part of this repository. INTERPULSE_MQSIM, INTERPULSE_SIMPLESSD and INTERPULSE_SSDSIM name them, too; rows of a
program that is not named are left out. Each row writes files of the other program (`bench/peers/`), runs them there,
and here what `interpulse import` makes of them, in turns; the import is not measured, start and preconditioning are.
Of each program the run with the least CPU time counts. `--before` takes the command `interpulse` of another version
into the turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from peers import mqsim, simplessd, ssdsim
from peers.figures import Figures, of_result
from peers.process import Command, Cost, cost_of
from peers.rows import Ready, Row

ROWS = (*mqsim.ROWS, *simplessd.ROWS, *ssdsim.ROWS)
PEERS = {"mqsim": "MQSim", "simplessd": "SimpleSSD-Standalone", "ssdsim": "SSDSim"}
FIGURES = {"mean_us": "mean us", "p99_us": "p99 us", "p999_us": "p99.9 us", "iops": "IOPS", "waf": "WAF"}
HERE = "interpulse"
"""Name of this version in the table."""


@dataclass(frozen=True)
class Found:
    """One program's cheapest run of a row."""

    cost: Cost
    figures: Figures


def main() -> int:
    """Runs the rows and prints them."""
    chosen = arguments()
    found = []
    for row in chosen.rows:
        with tempfile.TemporaryDirectory() as folder:
            each = race(row, chosen.programs[row.peer], chosen.versions, Path(folder), chosen.rounds)
        found.append(record(row, each))
        if not chosen.json:
            print("\n".join(lines(row, each)), flush=True)
    if chosen.json:
        print(json.dumps({"rounds": chosen.rounds, "rows": found}, indent=2))
    return 0


def arguments() -> argparse.Namespace:
    """Arguments, with `rows` to run, `programs` by peer, and `versions` of interpulse by name."""
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows to run, or words that they contain (all)")
    for peer, name in PEERS.items():
        variable = f"INTERPULSE_{peer.upper()}"
        given = os.environ.get(variable)
        parser.add_argument(f"--{peer}", type=Path, default=given, help=f"a built {name} ({variable})")
    parser.add_argument(
        "--before", type=Path, help="the command interpulse of another version, to run in turns as well"
    )
    parser.add_argument("--requests", type=int, help="most requests of a row, for a quick look (its own number)")
    parser.add_argument("--rounds", type=int, default=3, help="times that each program runs (3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args()
    for word in chosen.rows:
        if not any(word in name for name in names):
            parser.error(f"no row {word!r}; rows are {', '.join(names)}")
    if chosen.rounds < 1:
        parser.error(f"--rounds {chosen.rounds}: at least 1")
    if chosen.requests is not None and chosen.requests < 1:
        parser.error(f"--requests {chosen.requests}: at least 1")
    chosen.programs, chosen.versions = programs_of(chosen, parser)
    words = chosen.rows or [""]
    chosen.rows = [row for row in ROWS if row.peer in chosen.programs and any(word in row.name for word in words)]
    if chosen.requests:
        chosen.rows = [replace(row, requests=min(row.requests, chosen.requests)) for row in chosen.rows]
    if not chosen.rows:
        parser.error("no program of these rows is named; expected --mqsim, --simplessd or --ssdsim")
    return chosen


def programs_of(chosen: argparse.Namespace, parser: argparse.ArgumentParser) -> tuple[dict[str, Path], dict[str, Path]]:
    """The programs to compare with, by peer, and the versions of interpulse, by name; stops if one is none."""
    given = {peer: getattr(chosen, peer) for peer in PEERS if getattr(chosen, peer)}
    if not given:
        parser.error("no program to compare with; expected --mqsim, --simplessd or --ssdsim")
    before = {"the command interpulse of another version": chosen.before} if chosen.before else {}
    for what, path in ({f"a built {PEERS[peer]}": path for peer, path in given.items()} | before).items():
        if not (path.is_file() and os.access(path, os.X_OK)):
            parser.error(f"{path} is no program; expected {what}")
    versions = {HERE: Path(sys.executable).with_name("interpulse")}
    if chosen.before:
        versions["before"] = chosen.before.absolute()
    return {peer: path.resolve() for peer, path in given.items()}, versions


def race(row: Row, program: Path, versions: dict[str, Path], work: Path, rounds: int) -> dict[str, Found]:
    """All programs under a row, in turns; the cheapest run of each, by name, the other simulator's first."""
    try:
        ready = row.prepare(work, program, row.requests)
    except OSError as error:
        sys.exit(f"error: {row.name}: {error.filename}: {error.strerror}; expected the files of {PEERS[row.peer]}")
    imported = work / "imported"
    words = [str(versions[HERE]), "import", *ready.imported, "--out", str(imported)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=work)
    if done.returncode:
        sys.exit(f"error: {row.name}: the import ended with {done.returncode}:\n{done.stderr[-2000:]}")
    (case,) = imported.glob("*.toml")
    changes = [word for change in ready.changes for word in ("--set", change)]
    commands = {PEERS[row.peer]: ready.command}
    for name, path in versions.items():
        commands[name] = Command([str(path), "run", str(case), "--no-cache", "--json", *changes], work)
    figures: dict[str, Figures] = {}
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            cost, told = cost_of(command)
            costs[name].append(cost)
            if name in figures:
                continue
            figures[name] = of_result(json.loads(told)) if name in versions else theirs(ready, told)
    return {name: Found(min(each, key=lambda cost: cost.cpu_s), figures[name]) for name, each in costs.items()}


def theirs(ready: Ready, told: str) -> Figures:
    """Figures of the other simulator; of a run that records every request, which is not measured, if it needs one."""
    return ready.figures(cost_of(ready.recorded)[1] if ready.recorded else told)


def record(row: Row, found: dict[str, Found]) -> dict[str, Any]:
    """A row for the JSON object."""
    other, ours = found[PEERS[row.peer]], found[HERE]
    return {
        "row": row.name,
        "requests": row.requests,
        "cpu_ratio": round(other.cost.cpu_s / ours.cost.cpu_s, 2),
        "memory_ratio": round(other.cost.peak_mb / ours.cost.peak_mb, 2),
        "differences_percent": {
            key: round(value, 2) for key, value in differences(other.figures, ours.figures).items()
        },
        "programs": {name: asdict(each.cost) | asdict(each.figures) for name, each in found.items()},
    }


def differences(other: Figures, ours: Figures) -> dict[str, float]:
    """By how many per cent our figure is above the other's, of each figure that both give."""
    pairs = {name: (getattr(other, name), getattr(ours, name)) for name in FIGURES}
    return {name: (mine / known - 1) * 100 for name, (known, mine) in pairs.items() if known and mine}


def lines(row: Row, found: dict[str, Found]) -> list[str]:
    """A row as text: one line of costs and figures for each program, and one of the differences."""
    other, ours = found[PEERS[row.peer]], found[HERE]
    text = [row.name]
    for name, each in found.items():
        cost, of = each.cost, each.figures
        figures = [f"{title} {shown(getattr(of, key))}" for key, title in FIGURES.items()]
        figures.append(f"collections {'-' if of.collections is None else of.collections}")
        costs = f"CPU {cost.cpu_s:8.2f} s, wall {cost.wall_s:8.2f} s, {cost.peak_mb:6.0f} MB"
        text.append(f"    {name:20} {costs}; {', '.join(figures)}")
    apart = [f"{FIGURES[key]} {value:+.1f} %" for key, value in differences(other.figures, ours.figures).items()]
    ratio, memory = other.cost.cpu_s / ours.cost.cpu_s, other.cost.peak_mb / ours.cost.peak_mb
    return [*text, f"    CPU time {ratio:.1f} to 1, memory {memory:.1f} to 1; here {', '.join(apart)}"]


def shown(value: float | None) -> str:
    """A figure with four digits; `-` if the program does not give it."""
    return "-" if value is None else f"{value:,.0f}" if value >= 10_000 else f"{value:.4g}"


if __name__ == "__main__":
    sys.exit(main())
