"""Aging of word lines by time, temperature, wear and reads, and the limit of the ECC."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from interpulse.characterize.tester import Job, Tester

ECC_PER_KIB = 80
"""Correctable errors per KiB (Gao et al., MICRO'19, Section 3.3.1)."""

CODEWORD = 8192
"""Bits per KiB."""

PAGE_TYPES = ("lower", "center", "upper")

READS = ("default", "frozen", "calibrated")
"""Read levels: of the part, the best after a day, or the best of each word line."""

HOURS = {"1 hour": 1.0, "3 hours": 3.0, "1 day": 24.0, "1 week": 168.0, "1 month": 720.0, "3 months": 2160.0} | {
    "1 year": 8760.0,
    "3 years": 26_280.0,
    "10 years": 87_600.0,
}
"""Measured ages."""

CYCLES = (0, 500, 1000, 2000, 3000)

ROOM_CELSIUS = 25.0
"""Temperature of the preset's retention coefficients."""

WORD_LINES = 16

CELLS = 131_072
"""Cells per word line: the bits of a page of 16 KiB."""

QUICK_WORD_LINES = 2

QUICK_CELLS = 8192


@dataclass(frozen=True)
class Sample:
    """Sample of cells that represents a block."""

    word_lines: int
    cells: int

    @classmethod
    def of(cls, tester: Tester) -> Sample:
        """The sample by the options, or by `--quick`."""
        return cls(
            tester.settings.get("word_lines", QUICK_WORD_LINES if tester.quick else WORD_LINES),
            tester.settings.get("cells", QUICK_CELLS if tester.quick else CELLS),
        )

    def request(self) -> dict[str, int]:
        """Fields of a request."""
        return {"word_lines": self.word_lines, "cells": self.cells}

    def note(self) -> str:
        """Note on the number of codewords behind the worst one."""
        codewords = self.word_lines * self.cells // CODEWORD
        decides = f"the worst of {codewords} codewords of each page type decides"
        return f"the ECC corrects {ECC_PER_KIB} errors in a KiB; {decides}"


def job(sample: Sample, cycles: float, points: Iterable[dict[str, float]], height: float = 0.0) -> Job:
    """Measures word lines of one wear and height after each of these histories."""
    return Job("retention", {**sample.request(), "cycles": cycles, "height": height, "points": list(points)})


def points_of(answers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """All points of all jobs."""
    return [point for answer in answers for point in answer["points"]]


PLACE = ("cycles", "celsius", "hours", "height", "reads")


def error_rows(points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Error rates, one row per place, page type and read levels."""
    return [{**{key: point[key] for key in PLACE}, **each} for point in points for each in point["rber"]]


def mean_rber(point: dict[str, Any], read: str) -> float:
    """Mean rate over page types."""
    rates = [each["rber"] for each in point["rber"] if each["read"] == read]
    return math.fsum(rates) / len(rates)


def worst(point: dict[str, Any], read: str) -> int:
    """Errors of the worst codeword over page types."""
    return max(int(each["errors_per_kib_max"]) for each in point["rber"] if each["read"] == read)


def crossing(xs: Sequence[float], ys: Sequence[float], limit: float) -> float | None:
    """First crossing of the limit by `ys`, interpolated in both logarithms; None if there is none.

    If the first point exceeds the limit, the result is that point. From a zero, interpolation is linear in `xs`.
    """
    for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if y <= limit:
            continue
        if k == 0:
            return x
        below = max(ys[k - 1], 0.5)
        share = math.log(limit / below) / math.log(y / below)
        if xs[k - 1] <= 0:
            return share * x
        return math.exp(math.log(xs[k - 1]) + share * math.log(x / xs[k - 1]))
    return None
