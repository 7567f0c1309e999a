"""Benchmark: rows of the core, each in its own process, so that peak memory is that of one drive.

Rows run in several rounds, and the fastest run of each counts: other load on the machine only adds CPU time, rarely in
all rounds or to one row alone.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import interpulse._core as _core
from interpulse._core import RunError
from interpulse.configuration.lists import named

ROUNDS, MOST_ROUNDS = 3, 100

FIGURES = {
    "drive": ("requests", "programs", "requests_per_cpu_s", "waf", "bytes_per_4k", "peak_rss_mb", "restore_s"),
    "array": ("flash_operations", "cpu_ns_per_flash_operation"),
    "cells": ("cell_pulses_per_cpu_s",),
}
"""Figures that a run reports beside its CPU time, by the kind of its row."""

REQUESTS, WORD_LINES = 20_000, 2
"""Of the shorter run under callgrind; the longer one has three times as many."""


@dataclass(frozen=True)
class Row:
    """One row, as the core reports it."""

    name: str
    kind: str
    """`drive`, `array` or `cells`."""
    than: str | None
    """The row of one drive that an array is compared with."""
    state: str | None
    """Rows with the same state run on the same preconditioned drive; None for cells."""
    prepare_s: float
    """Time of preconditioning."""
    round_s: float
    """Time of one run."""


def rows(names: Sequence[str] = (), *, quick: bool = False) -> list[Row]:
    """The rows with these names, or all rows, in the order in which they run.

    Raises:
        ConfigError: there is no such row.
    """
    answer = json.loads(_core.bench_step(["rows", *_quick(quick)]))
    every = [Row(**each) for each in answer]
    wanted = {named(name, every, "row").name for name in names}
    return [row for row in every if not names or row.name in wanted]


def states(chosen: Sequence[Row]) -> dict[str, Row]:
    """One row for each state to precondition."""
    found: dict[str, Row] = {}
    for row in chosen:
        if row.state is not None:
            found.setdefault(row.state, row)
    return found


def seconds(chosen: Sequence[Row], rounds: int) -> float:
    """How long the benchmark takes on the machine of docs/VERIFY.md."""
    return sum(row.prepare_s for row in states(chosen).values()) + rounds * sum(row.round_s for row in chosen)


@dataclass
class Steps:
    """The steps of the core, each in a process of its own.

    Attributes:
        folder: where preconditioned states are kept.
        quick: whether drives are miniatures.
        program: the command that runs the steps: this interpreter, unless `INTERPULSE_BENCH` names a program.
    """

    folder: Path
    quick: bool
    program: Sequence[str]

    def prepare(self, row: Row) -> Any:  # noqa: ANN401 - as the core reports it
        """Preconditions the state of a row."""
        return self._step("prepare", row.name, fields=("precondition_s",))

    def run(self, row: Row) -> dict[str, Any]:
        """Runs a row."""
        answer: dict[str, Any] = self._step("run", row.name, fields=("cpu_s", *FIGURES[row.kind]))
        return answer

    def count(self, row: Row, amount: int) -> tuple[int, dict[str, Any]]:
        """Instructions of a whole run of a row with so many requests or word lines, and the row.

        Raises:
            RunError: there is no valgrind, or it does not say what it counted.
        """
        log = self.folder / "callgrind.log"
        under = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log}"]
        answer = self._step("run", row.name, str(amount), fields=("cpu_s", *FIGURES[row.kind]), under=under)
        for line in log.read_text(errors="replace").splitlines():
            if "Collected" in line:
                return int(line.rpartition(":")[2]), answer
        raise RunError("valgrind did not say what it collected")

    def _step(self, what: str, name: str, *amount: str, fields: Sequence[str], under: Sequence[str] = ()) -> Any:  # noqa: ANN401 - JSON
        """The answer of a step; it has at least the figures `fields`."""
        command = [*under, *self.program, what, name, str(self.folder), *amount, *_quick(self.quick)]
        # The same hashes give the same instructions of the interpreter, which then count for nothing in a difference.
        environment = os.environ | {"PYTHONHASHSEED": "0"}
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=False)
        except OSError as error:
            if under:
                raise RunError(f"valgrind cannot be run ({error.strerror}); install it to count instructions") from None
            raise RunError(f"cannot run the benchmark program {command[0]}: {error.strerror}") from None
        if done.returncode:
            how = f"ended with {done.returncode}" if done.returncode > 0 else f"was ended by signal {-done.returncode}"
            raise RunError(f"row {name} failed: {what} {how}")
        try:
            answer = json.loads(done.stdout)
        except ValueError as error:
            raise RunError(f"row {name}: {what} printed no JSON: {error}") from None
        figures = answer if isinstance(answer, dict) else {}
        missing = [figure for figure in fields if not isinstance(figures.get(figure), int | float)]
        if missing:
            raise RunError(f"row {name}: what {what} printed has no number called {' or '.join(missing)}")
        return answer


def program() -> list[str]:
    """The command that runs the steps.

    Raises:
        RunError: `INTERPULSE_BENCH` does not name a file.
    """
    given = os.environ.get("INTERPULSE_BENCH")
    if given and not Path(given).is_file():
        raise RunError(f"INTERPULSE_BENCH names {given}, which is not a file")
    return [given] if given else [sys.executable, "-m", __name__]


def measure(
    chosen: Sequence[Row], rounds: int, steps: Steps, report: Callable[[str, float], None]
) -> list[dict[str, Any]]:
    """The run of each row that took the least CPU time.

    Args:
        chosen: the rows.
        rounds: how often each runs.
        steps: runs them.
        report: called with the step that begins and an estimate of the seconds left.
    """
    start, planned, done = time.monotonic(), seconds(chosen, rounds), 0.0

    def begin(what: str) -> None:
        # What is left, at the pace so far.
        pace = (time.monotonic() - start) / done if done else 1.0
        report(what, (planned - done) * pace)

    made: dict[str, float] = {}
    for state, row in states(chosen).items():
        begin(f"preconditioning for {row.name}")
        answer = steps.prepare(row)
        made[state] = answer["precondition_s"]
        done += row.prepare_s
    best: dict[str, dict[str, Any]] = {}
    for number in range(1, rounds + 1):
        for row in chosen:
            begin(f"{row.name}, round {number} of {rounds}")
            answer = steps.run(row) | {"rounds": rounds}
            if row.kind == "drive" and row.state is not None:
                answer["precondition_s"] = made[row.state]
            if row.name not in best or answer["cpu_s"] < best[row.name]["cpu_s"]:
                best[row.name] = answer
            done += row.round_s
    return [best[row.name] for row in chosen]


def count(chosen: Sequence[Row], steps: Steps) -> Iterator[tuple[Row, int]]:
    """Instructions of a request, of cells a word line, of arrays a flash operation: figures that mind no noisy machine.

    Each row runs twice under callgrind on the miniature drive; the difference is what the additional ones cost without
    set-up, that of the interpreter included.
    """
    for row in states(chosen).values():
        steps.prepare(row)
    for row in chosen:
        amount = WORD_LINES if row.kind == "cells" else REQUESTS
        (few, before), (many, after) = (steps.count(row, times * amount) for times in (1, 3))
        more = after["flash_operations"] - before["flash_operations"] if row.kind == "array" else 2 * amount
        yield row, (many - few) // max(more, 1)


def _quick(quick: bool) -> list[str]:
    return ["--quick"] if quick else []


if __name__ == "__main__":
    # A step cannot be cut short from within: Ctrl-C ends the process.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        sys.stdout.write(f"{_core.bench_step(sys.argv[1:])}\n")
    except RunError as failed:
        sys.exit(str(failed))
