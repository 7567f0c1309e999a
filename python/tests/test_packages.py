"""Has the source distribution what a wheel is built of, and nothing that the clone only happens to contain?"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.sample import ROOT

MATURIN = Path(sys.executable).parent / "maturin"


def test_the_source_distribution_is_complete(tmp_path: Path) -> None:
    subprocess.run([MATURIN, "sdist", "--out", tmp_path], cwd=ROOT, check=True, capture_output=True)
    (path,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(path) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split(
        "\n"
    )
    package = [name for name in listed if name.startswith("python/interpulse/") and not name.endswith("/setups")]
    setups = [f"python/interpulse/experiments/setups{name.removeprefix('experiments')}"
              for name in listed if re.fullmatch(r"experiments/[^/]+/[^/]+\.toml", name)]  # fmt: skip
    # Sources of crates that the extension module is built of; the others are benchmarks of their own and C.
    crates = [name for name in listed if re.match(r"crates/(drive|engine|flash|study|python)/src/", name)]
    examples = [name for name in listed if re.fullmatch(r"examples/[^/]+\.toml", name)]
    wanted = {*package, *setups, *crates, *examples, "Cargo.lock", "pyproject.toml", "python/data/scripts/interpulse"}
    assert len(package) > 100
    assert len(setups) > 10
    assert not wanted - names
    assert not [
        name for name in names if name.startswith(("python/tests", "target", ".venv", "docs")) or name.endswith(".so")
    ]


def test_the_container_file_copies_what_a_wheel_needs() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert ignored[0] == "*"
    copied = {line[1:] for line in ignored if line.startswith("!")}
    needed = {
        "Cargo.lock",
        "Cargo.toml",
        "Makefile",
        "README.md",
        "crates",
        "examples",
        "experiments",
        "pyproject.toml",
    }
    assert {*needed, "LICENSE-APACHE", "LICENSE-MIT", "python", "requirements*.lock"} <= copied
    assert all([*ROOT.glob(pattern)] for pattern in copied)
