"""`interpulse serve` as a process with a socket in a folder of its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interpulse._core import RunError
from interpulse.blockdevice.commands import environment

PATIENCE = 300.0
"""Most seconds that a start, which may precondition the drive, or an end may take."""

POLL = 0.02


@dataclass
class Served:
    """A served drive.

    Attributes:
        uri: address of the export.
        report: what the server reports, once it has ended.
    """

    uri: str
    report: dict[str, Any] = field(default_factory=dict)


@contextmanager
def serving(folder: Path, config: Path, pace: str, *options: str, sets: Sequence[str] = ()) -> Iterator[Served]:
    """Serves a drive as long as the context lasts; its report is there afterwards.

    Args:
        folder: of socket, output and log.
        config: the drive.
        pace: as `serve --pace` reads it.
        options: further options of `interpulse serve`.
        sets: overrides, as `--set` takes them.

    Raises:
        RunError: the server does not start, or it fails; the message has its standard error.
    """
    socket, out, log = folder / "socket", folder / "report.json", folder / "server.log"
    socket.unlink(missing_ok=True)
    line = [sys.executable, "-m", "interpulse", "serve", str(config), "--listen", f"unix:{socket}", "--json"]
    line += ["--pace", pace, *options, *(word for each in sets for word in ("--set", each))]
    with out.open("w") as printed, log.open("w") as said:
        # A session of its own: Ctrl-C ends the programs on the drive before the drive.
        process = subprocess.Popen(
            line, env=environment(), stdin=subprocess.DEVNULL, stdout=printed, stderr=said, start_new_session=True
        )
    try:
        served = Served(_uri(process, log))
        yield served
        process.send_signal(signal.SIGINT)
        try:
            code = process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise RunError(f"interpulse serve has not ended within {PATIENCE:.0f} s") from None
        if code:
            raise RunError(f"interpulse serve ended with exit code {code}: {log.read_text(encoding='utf-8')[-2000:]}")
        served.report = json.loads(out.read_text(encoding="utf-8"))
    finally:
        process.kill()
        process.wait(timeout=PATIENCE)


def _uri(process: subprocess.Popen[bytes], log: Path) -> str:
    """The address that the server prints."""
    began = time.monotonic()
    while True:
        said = log.read_text(encoding="utf-8")
        found = re.search(r"^nbd\S*://.*$", said, re.MULTILINE)
        if found:
            return found[0]
        if process.poll() is not None:
            raise RunError(f"interpulse serve ended with exit code {process.returncode}: {said.strip()[-2000:]}")
        if time.monotonic() - began > PATIENCE:
            raise RunError(f"interpulse serve does not listen within {PATIENCE:.0f} s: {said.strip()[-2000:]}")
        time.sleep(POLL)
