"""The tiny drive on which faults happen, what it gives when nothing is wrong, and what became of a command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import interpulse
from interpulse.files.cache import Cache
from interpulse.runs.result import Result
from interpulse.runs.runner import Options, execute
from tests.hostile.records import NEVER
from tests.sample import ROOT, TIMING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from interpulse import Progress

TINY = """\
drive = "a4-mini"
[part]
blocks-per-plane = 32
pages-per-block = 24
layers = 4
[cache]
size = "1MiB"
[geometry]
channels = 2
chips-per-channel = 1
[ftl]
over-provisioning = "60%"
[run]
requests = 300
[[flow]]
name = "mixed"
depth = 4
read = "50%"
"""

PATIENCE_S = 120.0
"""What takes longer hangs."""

ENDINGS = (0, 2, 130, 143, 129)
"""The exit codes that are documented, but for that of a bug."""


@dataclass(frozen=True)
class World:
    """Where a fault happens."""

    folder: Path
    """Its own, and empty."""
    reference: dict[str, Any]
    """The result of the tiny drive, without times."""
    snapshot: tuple[str, bytes]
    """Name and content of its snapshot."""
    packed: bytes
    """A trace of forty rows, packed."""


class TooSlow(interpulse.ConfigError):
    """A run that hangs."""


class Patient:
    """Ends a run that takes too long."""

    def __init__(self) -> None:
        self.looks = 0

    def progress(self, _: Sequence[Progress]) -> None:
        """Called ten times a second."""
        self.looks += 1
        if self.looks > 10 * PATIENCE_S:
            raise TooSlow(f"hung: the run did not end within {PATIENCE_S:.0f} s")

    def note(self, line: str) -> None:
        """What is told."""


def tiny(cache: Path) -> Result:
    """The tiny drive, run in this process."""
    plan = interpulse.Config.from_toml(TINY).resolve()
    return execute(plan, Options.of(1, Cache.default(cache), no_cache=False), Patient())


def untimed(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result without what may differ between two equal runs."""
    return {key: value for key, value in result.items() if key not in TIMING}


@dataclass(frozen=True)
class Ended:
    """What became of a command."""

    code: int
    out: str
    err: str

    def verdict(self, codes: Sequence[int] = ENDINGS, *, told: bool = True) -> str | None:
        """What is wrong with it; a command that fails has to say why, unless there is nowhere to say it."""
        if any(word in self.out + self.err for word in NEVER):
            return f"it speaks of a bug: {self.err[-1500:]}"
        if self.code not in codes:
            return f"exit code {self.code}, expected one of {codes}: {self.err[-500:]}"
        if told and self.code == 2 and "error: " not in self.err:
            return f"exit code 2 and no word: {self.err[-500:]!r}"
        return None


def shell(script: str, world: World, **environment: str) -> Ended:
    """Runs a line of shell in the world's folder, where `$I` is interpulse."""
    return ended(begun(script, world, **environment))


def begun(script: str, world: World, **environment: str) -> subprocess.Popen[bytes]:
    """As `shell`, of which the end is not waited for."""
    given = {
        "I": f"{sys.executable} -m interpulse",
        "PYTHONPATH": str(ROOT / "python"),
        "INTERPULSE_CACHE_DIR": str(world.folder / "cache"),
    }
    (world.folder / "tiny.toml").write_text(TINY)
    # No shell is left in between: signals are the command's.
    return subprocess.Popen(
        ["/bin/bash", "-c", script],
        cwd=world.folder,
        env=os.environ | given | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def ended(running: subprocess.Popen[bytes]) -> Ended:
    """Waits for the end."""
    try:
        out, err = running.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        return Ended(-1, "", f"hung: no end within {PATIENCE_S:.0f} s")
    return Ended(running.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def of_json(text: str) -> dict[str, Any]:
    """A result that was printed, without times."""
    return untimed(Result.from_json(text).raw)
