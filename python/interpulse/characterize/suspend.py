"""Program suspension on single word lines: the test flow of Zambelli et al. 2021, Figure 5, and what it gave there.

A program starts; after Delay1 the host suspends it, reads, and resumes it; after Delay2 it does so again, until it
finds the program over. Both delays run from 10 to 100 % of the mean program time, for each page type, on the same word
lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from interpulse.characterize import suspend_plots
from interpulse.characterize.bench import Job
from interpulse.characterize.finding import Finding
from interpulse.characterize.part import PartFile, microseconds
from interpulse.characterize.rber import READS, WHEN, Errors, rates
from interpulse.experiments.outcome import Curve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from interpulse.characterize.bench import Bench
    from interpulse.experiments.outcome import Rows

    Where: TypeAlias = "Callable[[Point], bool]"

STEPS = tuple(range(1, 11))
"""The delays in tenths of the mean program time."""

PAGE_TYPES = ("lower", "center", "upper")

PART = "a4-tlc"
"""The part of drives that the cells belong to."""

WORD_LINES = 50
"""Word lines for each pair of delays, as in the article (Section 3.2)."""

CELLS = 131_072
"""Cells of a word line: the bits of a page of 16 KiB."""

QUICK_CELLS = 8_192

TRACED = (0.3, 0.3)
"""The delays of the program whose supply current is shown."""


@dataclass(frozen=True)
class Point:
    """Every word line under one pair of delays."""

    delay1: float
    delay2: float
    page_type: str
    tpgm_us: float
    """The mean program time without suspension, of which the delays are shares."""
    word_lines: list[dict[str, Any]]
    """As the core answers."""

    @property
    def running(self) -> list[dict[str, Any]]:
        """The word lines whose program was not over when Delay1 was."""
        return [each for each in self.word_lines if each["running_at_delay1"]]

    def suspends(self) -> list[int]:
        """How often each word line was suspended."""
        return [each["suspends"] for each in self.word_lines]

    def teps_us(self) -> list[float]:
        """Every time to enter suspension."""
        return [us for each in self.word_lines for us in each["teps_us"]]

    def row(self) -> dict[str, float | int | str | None]:
        """The row of `grid`."""
        suspends, teps = self.suspends(), self.teps_us()
        tpgms = [each["tpgms_us"] for each in self.word_lines]
        going = self.running
        return {
            "delay1": self.delay1,
            "delay2": self.delay2,
            "page_type": self.page_type,
            "suspends_mean": fmean(suspends),
            "suspends_max": max(suspends),
            "teps_mean_us": fmean(teps) if teps else None,
            "teps_max_us": max(teps) if teps else None,
            "tpgms_mean_us": fmean(tpgms),
            "tpgms_max_us": max(tpgms),
            "word_lines": len(self.word_lines),
            "running": len(going),
            "running_suspends_min": min((each["suspends"] for each in going), default=None),
            "running_suspends_max": max((each["suspends"] for each in going), default=None),
            "running_tpgms_min_us": min((each["tpgms_us"] for each in going), default=None),
            "running_tpgms_mean_us": fmean(each["tpgms_us"] for each in going) if going else None,
            **{f"rber_{read}": fmean(rates(self.word_lines, read)) for read in READS},
        }


def run(bench: Bench) -> Finding:
    """Measures the grid, the block before and after it, an untouched block and one supply current."""
    rows = bench.rows()
    shape: dict[str, Any] = {
        "word_lines": bench.settings.get("word_lines", WORD_LINES),
        "cells": bench.settings.get("cells", QUICK_CELLS if bench.quick else CELLS),
        "scheme": bench.settings.get("scheme", "loop-boundary"),
        "poll": bench.settings.get("poll", "host"),
    }
    places = [(first, then, page) for first in STEPS for then in STEPS for page in PAGE_TYPES]
    bench.announce(len(places) + len(PAGE_TYPES) + 2)
    alone = [{**shape, "delay1": None, "delay2": None, "page_type": page} for page in PAGE_TYPES]
    base = dict(zip(PAGE_TYPES, bench.run(Job("suspend", each) for each in alone), strict=True))
    asked = [{**shape, "delay1": d1 / 10, "delay2": d2 / 10, "page_type": page} for d1, d2, page in places]
    answers = bench.run(Job("suspend", each) for each in asked)
    points = [
        Point(d1 / 10, d2 / 10, page, answer["tpgm_mean_us"], answer["word_lines"])
        for (d1, d2, page), answer in zip(places, answers, strict=True)
    ]
    first, then = TRACED
    trace, untouched = bench.run(
        [
            Job("trace", {**shape, "word_line": 0, "delay1": first, "delay2": then}),
            Job("untouched", {key: shape[key] for key in ("word_lines", "cells")}),
        ]
    )
    word_lines = [
        {"word_line": number, "tpgm_us": each["tpgm_us"], "loops": each["loops"]}
        for number, each in enumerate(base[PAGE_TYPES[0]]["word_lines"])
    ]
    errors = _errors(base, points, untouched)
    tpgm_us = base[PAGE_TYPES[0]]["tpgm_mean_us"]
    _checks(rows, points, errors, tpgm_us)
    grid = [point.row() for point in points]
    shown = {"delay1": first, "delay2": then, "phases": trace["phases"]}
    return Finding(
        rows,
        figures={
            "tpgm_mean_us": tpgm_us,
            "grid": grid,
            "word_lines": word_lines,
            "rber": errors.rows,
            "trace": shown,
        },
        part=_part(bench, points, [each["loops"] for each in word_lines], tpgm_us),
        settings=shape,
        notes=_notes(points, shape["poll"]),
        plots=suspend_plots.all_plots(points, tpgm_us, word_lines, errors, shown),
        curves=[
            Curve("grid", tuple(grid[0]), [tuple(row.values()) for row in grid]),
            Curve("word_lines", ("word_line", "tpgm_us", "loops"), [tuple(each.values()) for each in word_lines]),
            Curve("rber", tuple(errors.rows[0]), [tuple(each.values()) for each in errors.rows]),
            Curve("trace", ("from_us", "to_us", "what", "current_ma"), shown["phases"]),
        ],
    )


def _errors(base: dict[str, dict[str, Any]], points: Sequence[Point], untouched: dict[str, Any]) -> Errors:
    """Error rates before and after: of the block that was suspended, and of one that nothing was done to."""
    found = Errors()
    for page in PAGE_TYPES:
        suspended = [point.word_lines for point in points if point.page_type == page]
        for read in READS:
            after = [fmean(each) for each in zip(*(rates(each, read) for each in suspended), strict=True)]
            found.add("suspended", page, read, rates(base[page]["word_lines"], read), after)
    for page in PAGE_TYPES:
        for read in READS:
            left = (rates(untouched[page][when], read) for when in WHEN)
            found.add("untouched", page, read, *left)
    return found


def _checks(rows: Rows, points: Sequence[Point], errors: Errors, tpgm_us: float) -> None:
    """What the article says, beside what came out; none where no word line got there."""

    def some(where: Where) -> list[Point]:
        return [point for point in points if where(point)]

    def entries(where: Where) -> list[float]:
        return [us / tpgm_us * 100 for point in some(where) for us in point.teps_us()]

    def going(where: Where, key: str) -> list[float]:
        return [each[key] for point in some(where) for each in point.running]

    def total_us(where: Where) -> float:
        return fmean(each["tpgms_us"] for point in some(where) for each in point.word_lines)

    every = entries(lambda _: True)
    low, high = entries(lambda p: p.delay2 <= 0.2), entries(lambda p: p.delay2 >= 0.5)
    late = going(lambda p: min(p.delay1, p.delay2) > 0.6, "suspends")
    last = going(lambda p: p.delay1 == p.delay2 == 1.0, "tpgms_us")
    early = [count for point in some(lambda p: p.delay1 == p.delay2 == 0.1) for count in point.suspends()]
    long_after = total_us(lambda p: p.delay1 < 0.2 and p.delay2 > 0.7)
    beside = total_us(lambda p: 0.2 <= p.delay1 <= 0.6 and p.delay2 > 0.7)
    found = {
        "teps_mean_percent": fmean(every) if every else None,
        "teps_worst_percent": max(every, default=None),
        "teps_low_delay2_to_high": fmean(low) / fmean(high) if low and high else None,
        "suspends_least_above_60": min(late, default=None),
        "suspends_most_above_60": max(late, default=None),
        "suspends_most_10_10": max(early),
        "tpgms_100_100": min(last) / tpgm_us if last else None,
        "tpgms_low_delay1_to_high": long_after / beside,
        "rber_change_suspended_percent": errors.change_percent("suspended", "default"),
        "rber_change_untouched_percent": errors.change_percent("untouched", "default"),
    }
    for name, ours in found.items():
        if ours is None:
            rows.add_none(name)
        else:
            rows.add(name, ours)


def _part(bench: Bench, points: Sequence[Point], loops: Sequence[int], tpgm_us: float) -> PartFile:
    """What a drive needs to know."""
    part = PartFile(PART)
    sample = f"characterize suspend, cells {bench.preset}, {len(loops)} word lines, seed {bench.seed}"
    whole = round(fmean(loops))
    pulse_us = part.preset_us("program-pulse") + part.preset_us("program-reset")
    part.measured("program-loops", whole, f"{sample}: mean {fmean(loops):.4g}")
    part.measured(
        "program-loops-sd", round(stdev(loops), 4) if len(loops) > 1 else 0.0, f"{sample}: standard deviation"
    )
    verify = f"{sample}: what is left of a loop beside its pulse, so that {whole} loops last t_PGM = {tpgm_us:.6g} us"
    part.measured("program-verify", microseconds(tpgm_us / whole - pulse_us), verify)
    entries = [us for point in points for us in point.teps_us()]
    if entries:
        source = f"{sample}: least of {len(entries)} times to enter, the part that no rest of a loop explains"
        part.measured("program-suspend-entry", microseconds(min(entries)), source)
    return part


def _notes(points: Sequence[Point], poll: str) -> list[str]:
    """What the reader of the table has to know."""
    polled = {
        "host": "program times are as a host sees that looks only after a delay is over (--poll host)",
        "device": "program times end when the device does (--poll device)",
    }
    notes = [polled[poll]]
    idle = sum(point.row()["teps_mean_us"] is None for point in points)
    if idle:
        notes.append(f"at {idle} of {len(points)} places of the grid no program was suspended: no t_EPS there")
    return notes
