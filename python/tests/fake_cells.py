"""A stand-in for the tester of cells: programs of 15 to 17 loops of 125 us that stop at the end of a loop.

Tests of the face use it: tables, files, exit codes, going on after Ctrl-C.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from typing import Any

LOOP_US = 125.0
MEAN_US = 16 * LOOP_US
"""Of a number of word lines that three divides."""
BITS = 8192


@dataclass
class FakeCells:
    """What the stand-in was asked, and how it answers."""

    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    seconds: float = 0.0
    """How long a job lasts."""
    refuse: str | None = None
    """The message of the error that every job ends with."""
    stuck_after: int | None = None
    """After so many jobs each of the next ones says that it is stuck and takes two seconds."""

    def cell_job(self, kind: str, request: str) -> str:
        """As `_core.cell_job`."""
        if self.refuse is not None:
            from interpulse import ConfigError

            raise ConfigError(self.refuse)
        if self.stuck_after is not None and len(self.asked) >= self.stuck_after:
            sys.stderr.write("stuck\n")
            sys.stderr.flush()
            time.sleep(2)
        asked = json.loads(request)
        self.asked.append((kind, asked))
        time.sleep(self.seconds)
        answer = {"part": _part, "suspend": _suspend, "suspend-trace": _trace, "suspend-untouched": _untouched}[kind](
            asked
        )
        return json.dumps(answer)


def _part(asked: dict[str, Any]) -> dict[str, Any]:
    stated = [["program-resume", "60us", "a guess"]]
    stated += [[key.removeprefix("part."), value, "--set"] for key, value in asked["set"] if key.startswith("part.")]
    return {
        "preset": "a4-tlc",
        "stated": stated,
        "program_pulse_us": 35.0,
        "pages_per_block": 255,
        "program_loops": 16,
        "program_verify_us": 90.0,
        "two_bit_read_us": 80.0,
    }


def _suspend(asked: dict[str, Any]) -> dict[str, Any]:
    numbers = range(asked["word_lines"])
    if "delay1" not in asked:
        lines = [{"own_us": _loops(k) * LOOP_US, "loops": _loops(k), **_errors(asked["seed"] + k)} for k in numbers]
    else:
        lines = [_flow(k, asked) for k in numbers]
    return {"word_lines": lines}


def _flow(number: int, asked: dict[str, Any]) -> dict[str, Any]:
    """The test flow on a program that makes progress until the end of the loop in which it was asked to stop."""
    total = _loops(number) * LOOP_US
    first, then = asked["delay1"] * asked["tpgm_us"], asked["delay2"] * asked["tpgm_us"]
    done, ran, entries = 0.0, first, []
    while done + ran < total:
        stop = -(-(done + ran) // LOOP_US) * LOOP_US
        entries.append(stop - done - ran)
        done, ran = stop, then
    polled = first + then * len(entries) + sum(entries)
    return {
        "suspends": len(entries),
        "teps_us": entries,
        "tpgms_us": polled if asked["poll"] == "host" else total,
        "own_us": total,
        "running_at_delay1": bool(entries),
        **_errors(asked["seed"] + number),
    }


def _loops(number: int) -> int:
    return 15 + number % 3


def _errors(number: int) -> dict[str, int]:
    return {"bits": BITS, "errors_default": 20 + number % 5, "errors_calibrated": 10 + number % 3}


def _trace(asked: dict[str, Any]) -> dict[str, Any]:
    assert asked["word_lines"] == 1
    phases = [[0.0, 35.0, "pulse", 40.0], [35.0, 125.0, "verify", 30.0], [125.0, 205.0, "read", 25.0]]
    return {"phases": [*phases, [205.0, 240.0, "pulse", 40.0], [240.0, 330.0, "verify", 30.0]]}


def _untouched(asked: dict[str, Any]) -> dict[str, Any]:
    """An error or two more after a while."""
    rows = []
    for k in range(asked["word_lines"]):
        before = _errors(k)
        after = {**before, "errors_default": before["errors_default"] + 1 + k % 2}
        pages = ("lower", "center", "upper")
        rows.append({f"{page}_{when}": each for page in pages for when, each in (("before", before), ("after", after))})
    return {"word_lines": rows}
