"""Aging of word lines by time, temperature, wear and reads, and the limit of the ECC."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from interpulse.characterize.tester import Job, Tester

ECC_PER_KIB = 80
"""Errors in a KiB that the ECC corrects (Gao et al., MICRO'19, Section 3.3.1)."""

CODEWORD = 8192
"""Bits of a KiB."""

PAGE_TYPES = ("lower", "center", "upper")

READS = ("default", "frozen", "calibrated")
"""With the read levels of the part, with those that were best after a day, or with the best ones of each word line."""

HOURS = {"1 hour": 1.0, "3 hours": 3.0, "1 day": 24.0, "1 week": 168.0, "1 month": 720.0, "3 months": 2160.0} | {
    "1 year": 8760.0,
    "3 years": 26_280.0,
    "10 years": 87_600.0,
}
"""The ages that are looked at."""

CYCLES = (0, 500, 1000, 2000, 3000)

ROOM_CELSIUS = 25.0
"""The temperature of the preset's coefficients of retention."""

WORD_LINES = 16

CELLS = 131_072
"""Cells of a word line: the bits of a page of 16 KiB."""

QUICK_WORD_LINES = 2

QUICK_CELLS = 8192


@dataclass(frozen=True)
class Sample:
    """How many cells stand for a block."""

    word_lines: int
    cells: int

    @classmethod
    def of(cls, tester: Tester) -> Sample:
        """What the options say, or what `--quick` does."""
        return cls(
            tester.settings.get("word_lines", QUICK_WORD_LINES if tester.quick else WORD_LINES),
            tester.settings.get("cells", QUICK_CELLS if tester.quick else CELLS),
        )

    def request(self) -> dict[str, int]:
        """As the core takes it."""
        return {"word_lines": self.word_lines, "cells": self.cells}

    def note(self) -> str:
        """What the worst codeword was taken from, for the reader of a result."""
        codewords = self.word_lines * self.cells // CODEWORD
        decides = f"the worst of {codewords} codewords of each page type decides"
        return f"the ECC corrects {ECC_PER_KIB} errors in a KiB; {decides}"


def job(sample: Sample, cycles: float, points: Iterable[dict[str, float]], height: float = 0.0) -> Job:
    """Word lines of one wear and height, looked at after each of these histories."""
    return Job("retention", {**sample.request(), "cycles": cycles, "height": height, "points": list(points)})


def points_of(answers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The points of all jobs in one list."""
    return [point for answer in answers for point in answer["points"]]


PLACE = ("cycles", "celsius", "hours", "height", "reads")


def error_rows(points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Error rates, one row for each place, page type and way to read."""
    return [{**{key: point[key] for key in PLACE}, **each} for point in points for each in point["rber"]]


def mean_rber(point: dict[str, Any], read: str) -> float:
    """Over the page types."""
    rates = [each["rber"] for each in point["rber"] if each["read"] == read]
    return math.fsum(rates) / len(rates)


def worst(point: dict[str, Any], read: str) -> int:
    """Errors of the worst codeword of any page type."""
    return max(int(each["errors_per_kib_max"]) for each in point["rber"] if each["read"] == read)


def crossing(xs: Sequence[float], ys: Sequence[float], limit: float) -> float | None:
    """Where `ys` first exceeds the limit, straight between points in both logarithms; None if it never does.

    Where the very first point exceeds it, that point. From a point at zero on it goes straight in `xs` itself.
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
