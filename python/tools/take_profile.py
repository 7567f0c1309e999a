"""Takes the profile that release builds follow anew: profile/interpulse.profdata. What `make profile` does.

Builds the simulator with counters in target/profiled, runs the loads below with it, and merges what was counted. They
are to go through what users run, the benchmark's rows longest: what none of them reaches is compiled as without a
profile.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PROFILE = ROOT / "profile"
TARGET = ROOT / "target" / "profiled"
LIBRARY = TARGET / "release" / "lib_core.so"

AMOUNTS = {"drive": 1_000_000, "array": 1_000_000, "cells": 50}
"""Requests of the benchmark's rows, by kind, and word lines: what is hot in the profile is what has been run most."""

EXAMPLES = {
    "aged.toml": ["run.requests=100000"],
    "holdup.toml": [],
    "powerloss.toml": [],
    "raid5.toml": ["run.requests=50000"],
    "raid5-windows.toml": ["run.time=4s"],
    "ressd.toml": ["run.warmup=2s", "run.time=20s"],
    "small.toml": ["run.requests=200000"],
    "tail.toml": ["run.requests=100000"],
    "twin.toml": ["flow.0.requests=100000"],
    "write-hole.toml": [],
}
"""Configurations, with what is set in them so that they take seconds."""

OVERWRITTEN = ["drive.capacity=64GiB", "precondition.overwrite=uniform", "run.requests=500000"]
"""Set in the drive of `bench/scale.py`: one of more than a few blocks, brought to a steady state."""

ROWS = 100_000
"""Rows of a trace."""


def main() -> int:
    """Takes the profile, or, called by itself with a folder, runs the loads."""
    if sys.argv[1:2] == ["--train"]:
        train(Path(sys.argv[2]))
        return 0
    merge = tool()
    with tempfile.TemporaryDirectory(prefix="interpulse-profile-") as name:
        folder = Path(name)
        counts = folder / "counts"
        build = ["cargo", "build", "--release", "--locked", "--manifest-path", "crates/python/Cargo.toml"]
        counting = os.environ | {"INTERPULSE_PROFILE": str(TARGET / "counts")}
        subprocess.run([*build, "--target-dir", str(TARGET)], cwd=ROOT, env=counting, check=True)
        package = folder / "package" / "interpulse"
        shutil.copytree(ROOT / "python" / "interpulse", package, ignore=shutil.ignore_patterns("*.so"))
        shutil.copy(LIBRARY, package / "_core.abi3.so")
        # Where it was built to count to would still hold what was counted before.
        counted = os.environ | {
            "PYTHONPATH": str(package.parent),
            "INTERPULSE_CACHE_DIR": str(folder / "cache"),
            "LLVM_PROFILE_FILE": str(counts / "%m.profraw"),
        }
        subprocess.run([sys.executable, __file__, "--train", name], cwd=ROOT, env=counted, check=True)
        merged = PROFILE / "interpulse.profdata"
        subprocess.run([str(merge), "merge", "--sparse", "-o", str(merged), str(counts)], check=True)
    version = subprocess.run(["rustc", "--version"], cwd=ROOT, check=True, text=True, capture_output=True).stdout
    (PROFILE / "version").write_text(version)
    print(f"wrote {merged.relative_to(ROOT)} ({merged.stat().st_size // 1024} KiB) for {version.strip()}")  # noqa: T201
    return 0


def tool() -> Path:
    """`llvm-profdata` of the toolchain: that of another version may not read what is counted."""
    ask = ["rustc", "--print", "target-libdir"]
    libraries = subprocess.run(ask, cwd=ROOT, check=True, text=True, capture_output=True).stdout.strip()
    found = Path(libraries).parent / "bin" / "llvm-profdata"
    if not found.is_file():
        sys.exit(f"error: there is no {found}; with rustup: rustup component add llvm-tools")
    return found


def train(folder: Path) -> None:
    """Runs the loads."""
    import interpulse
    from interpulse import _core, bench
    from interpulse.config import load_with_sets

    sys.path.append(str(ROOT / "bench"))
    from golden import trace

    from scale import CASE
    from small_drive import Load, interpulse_case, interpulse_part

    assert Path(interpulse.__file__).is_relative_to(folder), f"{interpulse.__file__} is not what was built to count"
    for row in bench.rows(quick=True):
        states = folder / "states"
        states.mkdir(exist_ok=True)
        if row.state is not None:
            _core.bench_step(["prepare", row.name, str(states), "--quick"])
        _core.bench_step(["run", row.name, str(states), str(AMOUNTS[row.kind]), "--quick"])
    for name, changes in EXAMPLES.items():
        interpulse.run(load_with_sets(ROOT / "examples" / name, changes), no_cache=True)
    case = folder / "case.toml"
    case.write_text(CASE)
    interpulse.run(load_with_sets(case, OVERWRITTEN), no_cache=True)
    # A fresh one is laid out and audited otherwise.
    (folder / "part.toml").write_text(interpulse_part())
    for load in (Load("reads"), Load("writes", read=0, block=128 << 10, sequential=True, requests=30_000)):
        case.write_text(interpulse_case(load))
        interpulse.run(interpulse.Config.load(case), no_cache=True)
    recorded = folder / "recorded.mqsim"
    recorded.write_text(trace(ROWS))
    replayed = ["drive=a4-mini", f"flow.0.trace={recorded}"]
    interpulse.run(load_with_sets(ROOT / "examples" / "replay.toml", replayed), no_cache=True)


if __name__ == "__main__":
    sys.exit(main())
