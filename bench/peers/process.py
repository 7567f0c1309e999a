"""Processes of the comparison: CPU time, wall time and memory of each, and what it printed.

As a program, it runs a command line and prints its cost: a process begins with the memory of the one that starts it in
its account, so that a small one has to.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """What a process cost: CPU and wall time in seconds, and the most memory that it held, in MB."""

    cpu_s: float
    wall_s: float
    peak_mb: float


@dataclass(frozen=True)
class Command:
    """A command line, the folder it runs in, and what it reads from its standard input.

    `codes` are the exit codes of a run that succeeded: SSDSim ends with 1.
    """

    words: list[str]
    folder: Path
    typed: str = "\n"
    codes: tuple[int, ...] = (0,)


def cost_of(command: Command) -> tuple[Cost, str]:
    """Runs a program to its end; returns its cost and its standard output.

    Its input is a file, since a pipe breaks under a program that ends without reading.
    """
    (command.folder / "typed").write_text(command.typed)
    starter = [sys.executable, "-I", "-S", __file__, *command.words]
    done = subprocess.run(starter, cwd=command.folder, capture_output=True, text=True, check=False)
    text = (command.folder / "told").read_text(errors="replace")
    if done.returncode:
        sys.exit(f"error: {command.words[0]} cannot run: {done.stderr.strip().splitlines()[-1]}")
    found = json.loads(done.stdout)
    if (code := found.pop("code")) not in command.codes:
        last = (text + (command.folder / "wrong").read_text(errors="replace"))[-2000:]
        sys.exit(f"error: {command.words[0]} ended with {code}:\n{last}")
    return Cost(**found), text


def main() -> None:
    """Runs the command line of the arguments between files of the working folder, and prints its cost."""
    with Path("typed").open() as source, Path("told").open("w") as output, Path("wrong").open("w") as errors:
        start = time.monotonic()
        process = subprocess.Popen(sys.argv[1:], stdin=source, stdout=output, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    cost = Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)
    print(json.dumps(asdict(cost) | {"code": process.returncode}))


if __name__ == "__main__":
    main()
