"""What a request costs against capacity, depth, dies and length: CPU time of the loop and memory of the process.

    python bench/scale.py [--rounds N] [--most REQUESTS] [--json FILE] [--plot FILE] [SERIES ...]

One drive, `a4`, filled, under 4 KiB reads and writes (a quarter) at random addresses; one thing changes in each
series. Every point is a process of its own; the fastest of the rounds counts, and rounds go through all points in
turn. What is printed is what `interpulse run --json` says of its loop: start and preconditioning are not in it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

CASE = """\
config_version = 1
drive = "a4"
[precondition]
fill = "100%"
[run]
requests = 2000000
[[flow]]
name = "mixed"
depth = 64
read = "75%"
block-size = "4KiB"
address = "uniform"
"""

WARM_UP = 100_000
"""Requests before the window."""


@dataclass(frozen=True)
class Series:
    """Points in which one thing changes.

    Attributes:
        unit: what is counted.
        points: the settings of each, by how much it is.
    """

    unit: str
    points: dict[float, tuple[str, ...]]


def series(most: int) -> dict[str, Series]:
    """All series; runs have at most so many requests."""
    gib = [16, 64, 256, 1024]
    lengths = [10**k for k in range(5, 10) if 10**k <= most]
    return {
        "capacity": Series(
            "GiB",
            {size: (f"drive.capacity={size}GiB",) for size in gib}
            | {16384: ("drive.capacity=16TiB", "ftl.mapping-unit=16KiB", "flow.0.block-size=16KiB")},
        ),
        "depth": Series("requests", {4**k: (f"flow.0.depth={4**k}", "drive.capacity=64GiB") for k in range(7)}),
        # Blocks of a die become fewer, so that the map stays as large.
        "dies": Series("dies", {dies: (*joined(dies), "drive.capacity=64GiB") for dies in (8, 32, 128, 512)}),
        "length": Series("requests", {n: (f"run.requests={n}", "drive.capacity=64GiB") for n in lengths}),
    }


def joined(dies: int) -> tuple[str, str, str]:
    """So many dies, eight on a channel."""
    return f"geometry.channels={dies // 8}", "geometry.chips-per-channel=8", "geometry.dies-per-chip=1"


class Point(TypedDict):
    """One point: nanoseconds of CPU time for each request, and the most memory that the process held, in MB."""

    series: str
    value: float
    cpu_ns: float
    peak_mb: float


def main() -> int:
    """Runs the points, prints them, and writes what is asked for."""
    chosen = arguments()
    found: dict[tuple[str, float], Point] = {}
    with tempfile.TemporaryDirectory() as folder:
        case = Path(folder) / "case.toml"
        case.write_text(CASE)
        for number in range(1, chosen.rounds + 1):
            for name in chosen.series:
                for value, sets in series(chosen.most)[name].points.items():
                    point = measured(name, value, sets, case, Path(folder))
                    known = found.setdefault((name, value), point)
                    known["cpu_ns"] = min(known["cpu_ns"], point["cpu_ns"])
                    print(
                        f"{number} {name:10}{value:14,}{point['cpu_ns']:10.0f} ns{point['peak_mb']:10.0f} MB",
                        flush=True,
                    )
    points = list(found.values())
    if chosen.json:
        chosen.json.write_text(json.dumps({"rounds": chosen.rounds, "points": points}, indent=2) + "\n")
    if chosen.plot:
        draw(points, chosen.plot, series(chosen.most))
    return 0


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("series", nargs="*", metavar="SERIES", help=f"series to run (all: {', '.join(series(1))})")
    parser.add_argument("--rounds", type=int, default=3, help="times that each point runs (3)")
    parser.add_argument("--most", type=int, default=10**8, help="requests of the longest run (100000000)")
    parser.add_argument("--json", type=Path, help="a file for the points")
    parser.add_argument("--plot", type=Path, help="a file for the picture, .svg or .png")
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.series if name not in series(1)]:
        parser.error(f"no series {unknown[0]!r}; series are {', '.join(series(1))}")
    if chosen.rounds < 1:
        parser.error(f"--rounds {chosen.rounds}: at least 1")
    if chosen.most < 100_000:
        parser.error(f"--most {chosen.most}: at least 100000")
    chosen.series = chosen.series or list(series(1))
    return chosen


def run_of(case: Path, sets: tuple[str, ...]) -> list[str]:
    """The command that runs the case with these settings."""
    command = [str(Path(sys.executable).with_name("interpulse")), "run", str(case), "--json", "--no-cache"]
    for each in (f"run.warmup-requests={WARM_UP}", *sets):
        command += ["--set", each]
    return command


def measured(name: str, value: float, sets: tuple[str, ...], case: Path, folder: Path) -> Point:
    """Runs one point to its end."""
    command = run_of(case, sets)
    with (folder / "output").open("w+") as output, (folder / "errors").open("w+") as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            sys.exit(f"error: {name} {value:,} ended with {process.returncode}:\n{errors.read()[-2000:]}")
        output.seek(0)
        result: dict[str, Any] = json.load(output)["cases"][0]["seeds"][0]
    cost = 1e9 / result["requests_per_cpu_s"]
    return {"series": name, "value": value, "cpu_ns": round(cost, 1), "peak_mb": round(used.ru_maxrss / 1024, 1)}


def draw(points: list[Point], path: Path, all_series: dict[str, Series]) -> None:
    """One picture of all series, each on an axis of its own."""
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams["svg.hashsalt"] = "interpulse"
    from matplotlib import pyplot

    names = list(dict.fromkeys(point["series"] for point in points))
    figure, axes = pyplot.subplots(1, len(names), figsize=(3 * len(names), 3), sharey=True, squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        of = [point for point in points if point["series"] == name]
        axis.plot([point["value"] for point in of], [point["cpu_ns"] for point in of], marker="o")
        unit = all_series[name].unit
        axis.set(xscale="log", ylim=(0, None), xlabel=name if unit == name else f"{name}, {unit}")
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("CPU ns a request")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    sys.exit(main())
