"""Profile-guided build of the wheel (`make wheel`): profile, loads and wheel in one run.

The tool builds an extension module that counts branches, runs the loads below with it, merges the counts and builds the
wheel with them into dist/. The loads cover what users run, the rows of the benchmark longest. Code that no load reaches
is compiled as without a profile.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DIST = ROOT / "dist"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "wheel"
"""Cargo's target folder of both builds, apart from that of plain builds."""

AMOUNTS = {"drive": 1_000_000, "array": 1_000_000, "cells": 50}
"""Requests per row of the benchmark, by kind, and word lines of `cells`.

One word line counts as much as ten thousand requests: with too many, nothing else would be hot.
"""

EXAMPLES = {
    "aged.toml": ["run.requests=100000"],
    "holdup.toml": [],
    "powerloss.toml": [],
    "raid5.toml": ["run.requests=50000"],
    "raid5-windows.toml": ["run.warmup=1s", "run.time=4s"],
    "ressd.toml": ["run.warmup=2s", "run.time=20s"],
    "small.toml": ["run.requests=200000"],
    "tail.toml": ["run.requests=100000"],
    "twin.toml": ["flow.0.requests=100000"],
    "write-hole.toml": [],
}
"""Example configurations, with overrides that make them last seconds."""

OVERWRITTEN = ["drive.capacity=64GiB", "precondition.overwrite=uniform", "run.requests=500000"]
"""Overrides of the drive of `bench/scale.py`: a drive with many blocks in a steady state."""

ROWS = 100_000
"""Rows of the replayed trace."""


def main() -> int:
    """Builds the wheel, or, with `--train FOLDER`, runs the loads in the process that counts."""
    if sys.argv[1:2] == ["--train"]:
        train(Path(sys.argv[2]))
        return 0
    host, llvm = compiler()
    merge = profdata(llvm)
    with tempfile.TemporaryDirectory(prefix="interpulse-profile-") as name:
        folder = Path(name)
        counts, merged = folder / "counts", folder / "interpulse.profdata"
        build = ["cargo", "build", "--release", "--locked", "--manifest-path", "crates/python/Cargo.toml"]
        subprocess.run([*build, "--target", host], cwd=ROOT, env=flags(f"-Cprofile-generate={counts}"), check=True)
        package = folder / "package" / "interpulse"
        shutil.copytree(ROOT / "python" / "interpulse", package, ignore=shutil.ignore_patterns("*.so"))
        shutil.copy(TARGET / host / "release" / "lib_core.so", package / "_core.abi3.so")
        counted = os.environ | {
            "PYTHONPATH": str(package.parent),
            "INTERPULSE_CACHE_DIR": str(folder / "cache"),
            "LLVM_PROFILE_FILE": str(counts / "%m.profraw"),
        }
        subprocess.run([sys.executable, __file__, "--train", name], cwd=ROOT, env=counted, check=True)
        # Without --sparse, code that no load reached would be optimized for size.
        subprocess.run([str(merge), "merge", "--sparse", "-o", str(merged), str(counts)], check=True)
        wheel = [str(Path(sys.executable).parent / "maturin"), "build", "--release", "--locked", "--target", host]
        subprocess.run([*wheel, "--out", str(DIST)], cwd=ROOT, env=flags(f"-Cprofile-use={merged}"), check=True)
    return 0


def flags(flag: str) -> dict[str, str]:
    """Environment of a build with one more compiler flag.

    Builds with `--target` apply flags to neither build scripts nor procedural macros. Cargo compiles everything anew,
    because the flag names a new temporary folder.
    """
    return os.environ | {"CARGO_ENCODED_RUSTFLAGS": flag, "CARGO_TARGET_DIR": str(TARGET)}


def compiler() -> tuple[str, str]:
    """Host triple of rustc and major version of its LLVM."""
    lines = _output("rustc", "-vV").splitlines()
    values = dict(line.split(": ", 1) for line in lines if ": " in line)
    return values["host"], values["LLVM version"].partition(".")[0]


def profdata(llvm: str) -> Path:
    """`llvm-profdata` of the toolchain, or of another LLVM of the same major version: others cannot read the counts."""
    bundled = Path(_output("rustc", "--print", "target-libdir").strip()).parent / "bin" / "llvm-profdata"
    named = (shutil.which(name) for name in (f"llvm-profdata-{llvm}", "llvm-profdata"))
    for found in (bundled, Path(f"/usr/lib/llvm-{llvm}/bin/llvm-profdata"), *map(Path, filter(None, named))):
        if found.is_file() and f"LLVM version {llvm}." in _output(str(found), "merge", "--version"):
            return found
    sys.exit(
        f"error: there is no llvm-profdata of LLVM {llvm}, which this rustc uses; install it with `rustup component "
        f"add llvm-tools` or `apt install llvm-{llvm}`, or build a wheel without a profile: make wheel PROFILE=no"
    )


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=False, text=True, capture_output=True).stdout


def train(folder: Path) -> None:
    """Runs the loads."""
    import interpulse
    import interpulse._core as _core
    from interpulse.configuration.config import load_with_sets
    from interpulse.runs import bench

    sys.path.append(str(ROOT / "bench"))
    from golden import trace

    from scale import CASE
    from small_drive import Load, interpulse_case, interpulse_part

    assert Path(interpulse.__file__).is_relative_to(folder), f"{interpulse.__file__} is not the package that counts"
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
    # Fresh drives with small programs have other trip counts in fill and audit.
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
