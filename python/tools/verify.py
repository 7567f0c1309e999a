"""Runs the long checks and records how they went in docs/VERIFY.md: what `make verify` does.

Each step's output is shown as it comes; the page keeps the command, how it ended, how long it took and the lines that
sum it up. The exit code is 0 only if every step passed.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "VERIFY.md"
BIN = Path(sys.executable).parent


@dataclass(frozen=True, kw_only=True)
class Step:
    """One command and the question that it answers."""

    question: str
    command: tuple[str, ...]
    summary: tuple[str, ...] = ()
    """How the lines begin that are worth keeping."""

    def run(self) -> Outcome:
        """Runs the command with its output on the terminal as well."""
        print(f"== {self.question}\n$ {' '.join(self.command)}", flush=True)  # noqa: T201
        environment = os.environ | {"INTERPULSE_VERIFY": "1", "PYTHONUNBUFFERED": "1"}
        start = time.monotonic()
        lines = []
        running = subprocess.Popen(
            self.command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert running.stdout is not None
        for line in running.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line.rstrip())
        return Outcome(self, running.wait(), time.monotonic() - start, lines)


@dataclass(frozen=True)
class Outcome:
    """How a step ended."""

    step: Step
    code: int
    took_s: float
    lines: list[str]

    def section(self) -> str:
        """The step's part of the page."""
        kept = [line for line in self.lines if line.startswith(self.step.summary)] if self.step.summary else []
        if self.code:
            kept = self.lines[-40:]
        command = " ".join(Path(word).name if word.startswith("/") else word for word in self.step.command)
        verdict = "passed" if self.code == 0 else f"FAILED (exit code {self.code})"
        text = "".join(f"    {line}\n" for line in kept)
        return f"## {self.step.question}\n\n`{command}`: {verdict} in {self.took_s:.0f} s.\n" + (
            f"\n{text}" if text else ""
        )


STEPS = (
    Step(
        question="Do the long Rust tests pass?",
        command=("cargo", "test", "--release", "--locked", "--", "--ignored"),
        summary=("test ", "test result:"),
    ),
    Step(
        question="Do the long Python tests pass?",
        command=(str(BIN / "pytest"), "-q", "-m", "core or verify", "--durations=5"),
        summary=("=", "FAILED", "ERROR"),
    ),
    Step(
        question="Is the simulator fast enough?",
        command=(str(BIN / "interpulse"), "bench", "--json"),
    ),
)


def speeds(outcome: Outcome) -> str:
    """The benchmark's results as a table; nothing when there is no array of objects in its output."""
    text = "\n".join(outcome.lines)
    try:
        rows, _ = json.JSONDecoder().raw_decode(text[text.index("[") :])
        columns = list(rows[0])
    except (ValueError, LookupError, TypeError):
        return ""
    table = [columns, ["---"] * len(columns), *([_cell(row.get(name)) for name in columns] for row in rows)]
    return "\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in table)


def _cell(value: object) -> str:
    if isinstance(value, float) and abs(value) < 10_000:
        return f"{value:,.4g}"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value or "")


def machine() -> str:
    """The machine in words."""
    models = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if "model name" in line
    ]
    memory_kib = int(Path("/proc/meminfo").read_text().split()[1])
    model = models[0] if models else platform.machine()
    return f"{len(os.sched_getaffinity(0))} cores of {model}, {memory_kib / 2**20:.0f} GiB memory, {platform.system()}"


def commit() -> str:
    """The commit that was checked, and whether files differed from it."""
    name = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=False)
    if name.returncode:
        return "outside a repository"
    return f"commit {name.stdout.strip()}" + (" with uncommitted changes" if changed.stdout.strip() else "")


def main() -> int:
    """Runs every step, also after one that failed, and writes the page."""
    checked = commit()
    outcomes = [step.run() for step in STEPS]
    head = (
        "# The last `make verify`\n\n"
        "Written by `python/tools/verify.py`; not edited by hand.\n\n"
        f"{datetime.now(UTC):%Y-%m-%d}, {checked}, {machine()}.\n"
    )
    sections = [outcome.section() for outcome in outcomes]
    sections[-1] += speeds(outcomes[-1])
    PAGE.write_text("\n".join([head, *sections]))
    failed = [outcome.step.question for outcome in outcomes if outcome.code]
    print(f"wrote {PAGE.relative_to(ROOT)}" + (f"; failed: {'; '.join(failed)}" if failed else ""))  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
