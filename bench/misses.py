"""How often a request misses the caches, by capacity, and how much of what it costs that explains.

    python bench/misses.py [--short N] [--long N] [--last MIB] [--rounds N] [--json FILE] [GIB ...]

The drives and requests of the capacity series of `scale.py`, under cachegrind (valgrind): the first level of cache is
the machine's, the last one has `--last` MiB; each time that it is given, all is counted once more. Two runs of each
drive count everything; what the longer one counts beyond the shorter one is its further requests', so that start, fill
and audit fall out, but for what the audit finds in the cache: places that miss less often in the longer run do not
count. Beside it stands CPU time as `scale.py` measures it, without valgrind, and lines through both by
least squares. Places in the sources have names where the extension module has symbols: `maturin develop` strips it,
`cargo build --release -p interpulse-python` does not.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from scale import CASE, WARM_UP, measured, run_of, series

CAPACITIES = {int(size): sets for size, sets in series(1)["capacity"].points.items()}
LINE, WAYS = 64, 16
DATA = ("Dr", "Dw")
FIRST = ("D1mr", "D1mw")
LAST = ("DLmr", "DLmw")
SHOWN = 3
"""Places in the sources that are named for each capacity."""


class Last(TypedDict):
    """What misses a last level of so many MiB, and where most of that is asked for."""

    mib: int
    misses: float
    places: dict[str, float]


class Row(TypedDict):
    """One capacity: nanoseconds and counts for each request."""

    gib: int
    cpu_ns: float
    instructions: float
    accesses: float
    first_misses: float
    last: list[Last]


class Fit(TypedDict):
    """A line through costs by misses, and how well it goes through them."""

    ns: float
    ns_a_miss: float
    explained: float
    most_off_ns: float


@dataclass(frozen=True)
class Counts:
    """What cachegrind counted in a process."""

    all: Counter[str]
    """By event."""
    last_misses: Counter[str]
    """Data that missed the last level, by source line."""

    @classmethod
    def of(cls, path: Path) -> Counts:
        """What stands in a file of cachegrind's."""
        every: Counter[str] = Counter()
        by_place: Counter[str] = Counter()
        events: list[str] = []
        source = ""
        for row in path.read_text(errors="replace").splitlines():
            if row.startswith("events: "):
                events = row.split()[1:]
            elif row.startswith("fl="):
                source = row[3:]
            elif row[:1].isdigit():
                line, *amounts = row.split()
                found = dict(zip(events, map(int, amounts), strict=True))
                every.update(found)
                by_place[f"{short(source)}:{line}"] += sum(found[event] for event in LAST)
        return cls(every, by_place)


def short(source: str) -> str:
    """A source file from the name of its crate on."""
    _, inside, path = source.rpartition("/crates/")
    return path.replace("/src/", "/") if inside else Path(source).name


def main() -> int:
    """Counts, measures, prints and fits."""
    chosen = arguments()
    rows = []
    names = "".join(f"{f'of {mib} MiB':>14}" for mib in chosen.last)
    print(f"{'GiB':>8}{'CPU ns':>10}{'instructions':>14}{'accesses':>10}{'L1 misses':>14}{names}")
    with tempfile.TemporaryDirectory() as folder:
        case = Path(folder) / "case.toml"
        case.write_text(CASE)
        for gib in chosen.capacities:
            row = row_of(gib, case, chosen)
            rows.append(row)
            counts = "".join(f"{last['misses']:14.2f}" for last in row["last"])
            print(
                f"{gib:8,}{row['cpu_ns']:10.0f}{row['instructions']:14,.0f}{row['accesses']:10,.0f}"
                f"{row['first_misses']:14.2f}{counts}",
                flush=True,
            )
            for last in row["last"]:
                places = ", ".join(f"{place} {misses:.2f}" for place, misses in last["places"].items())
                print(f"{'':8}of {last['mib']} MiB: {places}", flush=True)
    fits = {}
    for k, mib in enumerate(chosen.last):
        if fit := fitted([(row["last"][k]["misses"], row["cpu_ns"]) for row in rows]):
            fits[mib] = fit
            print(
                f"CPU ns = {fit['ns']:.0f} + {fit['ns_a_miss']:.0f} x misses of {mib} MiB: "
                f"{fit['explained']:.0%} of the variance, off by {fit['most_off_ns']:.0f} ns at most"
            )
    if chosen.json:
        told = {"short": chosen.short, "long": chosen.long, "rows": rows, "fits": fits}
        chosen.json.write_text(json.dumps(told, indent=2) + "\n")
    return 0


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    every = ", ".join(map(str, CAPACITIES))
    parser.add_argument("capacities", nargs="*", type=int, metavar="GIB", help=f"capacities to run (all: {every})")
    parser.add_argument("--short", type=int, default=300_000, help="requests of the shorter run (300000)")
    parser.add_argument("--long", type=int, default=900_000, help="requests of the longer run (900000)")
    parser.add_argument("--last", type=int, action="append", metavar="MIB", help="the last level of cache (2 and 32)")
    parser.add_argument("--rounds", type=int, default=3, help="times that CPU time is measured (3)")
    parser.add_argument("--json", type=Path, help="a file for the rows")
    chosen = parser.parse_args()
    chosen.capacities = chosen.capacities or list(CAPACITIES)
    chosen.last = chosen.last or [2, 32]
    if unknown := [gib for gib in chosen.capacities if gib not in CAPACITIES]:
        parser.error(f"no capacity {unknown[0]}; capacities are {every} GiB")
    if chosen.short <= WARM_UP:
        parser.error(f"--short {chosen.short}: more than {WARM_UP}")
    if chosen.long <= chosen.short:
        parser.error(f"--long {chosen.long}: more than --short {chosen.short}")
    if wrong := [mib for mib in chosen.last if not 1 <= mib <= 1024 or mib & (mib - 1)]:
        parser.error(f"--last {wrong[0]}: a power of two, at most 1024")
    if chosen.rounds < 1:
        parser.error(f"--rounds {chosen.rounds}: at least 1")
    if shutil.which("valgrind") is None:
        parser.error("there is no valgrind on this machine; install it to count misses")
    return chosen


def row_of(gib: int, case: Path, chosen: argparse.Namespace) -> Row:
    """Counts and measures one capacity."""
    sets = CAPACITIES[gib]
    requests: int = chosen.long - chosen.short
    last: list[Last] = []
    for mib in chosen.last:
        less, more = (counted(gib, sets, case, length, mib) for length in (chosen.short, chosen.long))
        each = {event: (more.all[event] - less.all[event]) / requests for event in more.all}
        further = {place: (misses - less.last_misses[place]) / requests for place, misses in more.last_misses.items()}
        places = Counter({place: misses for place, misses in further.items() if misses > 0})
        misses = sum(places.values())
        last.append({"mib": mib, "misses": misses, "places": dict(places.most_common(SHOWN))})
    costs = [measured("capacity", gib, sets, case, case.parent)["cpu_ns"] for _ in range(chosen.rounds)]
    return {
        "gib": gib,
        "cpu_ns": min(costs),
        "instructions": each["Ir"],
        "accesses": sum(each[event] for event in DATA),
        "first_misses": sum(each[event] for event in FIRST),
        "last": last,
    }


def counted(gib: int, sets: tuple[str, ...], case: Path, requests: int, mib: int) -> Counts:
    """What a run of so many requests counts."""
    out = case.with_name("cachegrind.out")
    command = ["valgrind", "--quiet", "--tool=cachegrind", "--cache-sim=yes", f"--LL={mib << 20},{WAYS},{LINE}"]
    command += [f"--cachegrind-out-file={out}", *run_of(case, (*sets, f"run.requests={requests}"))]
    # The same hashes give the same instructions of the interpreter, which then count for nothing in a difference.
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment, check=False)
    if done.returncode or not out.is_file():
        sys.exit(f"error: {gib:,} GiB under valgrind ended with {done.returncode}:\n{done.stderr[-2000:]}")
    counts = Counts.of(out)
    out.unlink()
    return counts


def fitted(points: list[tuple[float, float]]) -> Fit | None:
    """The line of least squares through points of misses and nanoseconds; None where fewer than three are apart."""
    if len({misses for misses, _ in points}) < 3:
        return None
    slope, start = statistics.linear_regression(*zip(*points, strict=True))
    explained = statistics.correlation(*zip(*points, strict=True)) ** 2
    most_off = max(abs(cost - start - slope * misses) for misses, cost in points)
    return {"ns": start, "ns_a_miss": slope, "explained": explained, "most_off_ns": most_off}


if __name__ == "__main__":
    sys.exit(main())
