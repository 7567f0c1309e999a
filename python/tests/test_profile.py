"""What cargo calls for rustc: release builds of our own crates follow the profile, and nothing else does."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
OURS = ["--crate-name", "interpulse_engine", "-C", "opt-level=3"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A profile folder of version 1.0, and a compiler of that version that says how it was called."""
    place = tmp_path / "a folder" / "profile"
    place.mkdir(parents=True)
    shutil.copy(ROOT / "profile" / "rustc", place)
    (place / "version").write_text("rustc 1.0\n")
    return place


def called(folder: Path, package: str, *words: str, version: str = "rustc 1.0", profile: str = "") -> list[str]:
    """The words with which the wrapper calls the compiler."""
    compiler = folder / "compiler"
    compiler.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo "{version}"; else printf "%s\\n" "$@"; fi\n')
    compiler.chmod(0o755)
    environment = os.environ | {"CARGO_PKG_NAME": package, "INTERPULSE_PROFILE": profile}
    command = [str(folder / "rustc"), str(compiler), *words]
    return subprocess.run(command, env=environment, check=True, text=True, capture_output=True).stdout.splitlines()


def test_release_builds_of_our_crates_follow_the_profile(folder: Path) -> None:
    told = called(folder, "interpulse-engine", *OURS)
    assert told[: len(OURS)] == OURS
    assert f"-Cprofile-use={folder}/interpulse.profdata" in told


def test_all_else_is_compiled_as_cargo_says(folder: Path) -> None:
    assert called(folder, "slab", *OURS) == OURS
    assert called(folder, "interpulse-engine", "-C", "opt-level=2") == ["-C", "opt-level=2"]
    assert called(folder, "interpulse-engine", "-vV") == ["-vV"]
    assert called(folder, "interpulse-engine", *OURS, version="rustc 1.1") == OURS


def test_counting_is_asked_for(folder: Path) -> None:
    assert called(folder, "interpulse-engine", *OURS, profile="/counts") == [*OURS, "-Cprofile-generate=/counts"]
    assert called(folder, "slab", *OURS, profile="/counts") == OURS


def test_the_profile_is_there_and_says_of_which_version() -> None:
    # What LLVM calls an indexed profile begins with these bytes.
    assert (ROOT / "profile" / "interpulse.profdata").read_bytes()[1:8] == b"lprofi\x81"
    assert (ROOT / "profile" / "version").read_text().startswith("rustc 1.")
    assert "profile/rustc" in (ROOT / ".cargo" / "config.toml").read_text()
