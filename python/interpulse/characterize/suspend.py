"""Program suspension on single word lines: test flow and results of Zambelli et al. 2021, Figure 5.

A program starts; after Delay1 the host suspends it, reads, and resumes it; after Delay2 it does so again, until it
finds the program over. Both delays run from 10 to 100 % of the mean program time, for each page type, on the same word
lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean, stdev
from typing import Any, TypeAlias

from interpulse.characterize import suspend_plots
from interpulse.characterize.part import PartFile, microseconds
from interpulse.characterize.rber import READS, WHEN, Errors, rates
from interpulse.characterize.suspend_point import Point
from interpulse.characterize.tester import Job, Tester
from interpulse.studies.outcome import Curve, Outcome, Rows

Where: TypeAlias = Callable[[Point], bool]

STEPS = tuple(range(1, 11))
"""Delays in tenths of the mean program time."""

PAGE_TYPES = ("lower", "center", "upper")

WORD_LINES = 50
"""Word lines per pair of delays (article, Section 3.2)."""

CELLS = 131_072
"""Cells per word line: the bits of a page of 16 KiB."""

QUICK_CELLS = 16_384

AGE_HOURS = 24.0
"""Assumed age of the untouched block's data at the start; not in the article."""

HOURS = 1.0
"""Assumed duration of the experiment, not in the article: programming a block under all pairs of delays takes a minute
of flash time, with the tester's overhead about an hour."""

CELSIUS = 25.0
"""Room temperature (Section 4.4)."""

TRACED = (3, 3)
"""Delays, in tenths, of the program with a plot of its supply current."""


def run(tester: Tester) -> Outcome:
    """Measures the grid, the block before and after, an untouched block and one supply current."""
    rows = tester.rows()
    shape: dict[str, Any] = {
        "word_lines": tester.settings.get("word_lines", WORD_LINES),
        "cells": tester.settings.get("cells", QUICK_CELLS if tester.quick else CELLS),
        "scheme": tester.settings.get("scheme", "loop-boundary"),
        "poll": tester.settings.get("poll", "host"),
        "compensation": tester.settings.get("compensation", 0.0),
    }
    places = [(first, then, page) for first in STEPS for then in STEPS for page in PAGE_TYPES]
    tester.announce(len(places) + len(PAGE_TYPES) + 3)
    part = PartFile.of(tester)
    alone = tester.ask(Job("suspend", {**shape, "page_type": page}) for page in PAGE_TYPES)
    base = {page: answer["word_lines"] for page, answer in zip(PAGE_TYPES, alone, strict=True)}
    tpgm_us = fmean(each["own_us"] for page in PAGE_TYPES for each in base[page])
    asked = {**shape, "tpgm_us": tpgm_us}
    first, then = TRACED
    same = {key: shape[key] for key in ("word_lines", "cells")}
    done = tester.ask(
        [
            *(Job("suspend", {**asked, **_delays(d1, d2), "page_type": page}) for d1, d2, page in places),
            Job("suspend-trace", {**asked, **_delays(first, then), "page_type": PAGE_TYPES[0], "word_lines": 1}),
            Job("suspend-untouched", {**same, "age_hours": AGE_HOURS, "hours": HOURS, "celsius": CELSIUS}),
        ]
    )
    points = [
        Point(d1 / 10, d2 / 10, page, answer["word_lines"])
        for (d1, d2, page), answer in zip(places, done, strict=False)
    ]
    trace, untouched = done[len(places) :]
    word_lines = _word_lines(base)
    errors = _errors(base, points, untouched["word_lines"])
    _checks(rows, points, errors, tpgm_us)
    grid = [point.row() for point in points]
    shown = {**_delays(first, then), "phases": trace["phases"]}
    return Outcome(
        rows,
        figures={
            "tpgm_mean_us": tpgm_us,
            "grid": grid,
            "word_lines": word_lines,
            "rber": errors.rows,
            "trace": shown,
        },
        settings=shape,
        notes=_notes(points, shape["poll"]),
        plots=suspend_plots.all_plots(points, tpgm_us, word_lines, errors, shown),
        curves=[
            Curve.of("grid", grid),
            Curve.of("word_lines", word_lines),
            Curve.of("rber", errors.rows),
            Curve("trace", ("from_us", "to_us", "what", "current_ma"), shown["phases"]),
        ],
        files=[_measured(part, tester, base, tpgm_us).file(tester)],
    )


def _delays(first: int, then: int) -> dict[str, float]:
    return {"delay1": first / 10, "delay2": then / 10}


def _word_lines(base: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Program time of each word line, programmed once per page type."""
    found = []
    for number, programs in enumerate(zip(*base.values(), strict=True)):
        times = [each["own_us"] for each in programs]
        row: dict[str, Any] = {"word_line": number, "tpgm_us": fmean(times)}
        found.append(row | {"tpgm_min_us": min(times), "tpgm_max_us": max(times)})
    return found


def _errors(base: dict[str, list[dict[str, Any]]], points: Sequence[Point], untouched: list[dict[str, Any]]) -> Errors:
    """Error rates before and after, of the suspended block and an untouched one."""
    found = Errors()
    for page in PAGE_TYPES:
        suspended = [point.word_lines for point in points if point.page_type == page]
        for read in READS:
            after = [fmean(each) for each in zip(*(rates(each, read) for each in suspended), strict=True)]
            found.add("suspended", page, read, rates(base[page], read), after)
    for page in PAGE_TYPES:
        for read in READS:
            before, after = (rates([each[f"{page}_{when}"] for each in untouched], read) for when in WHEN)
            found.add("untouched", page, read, before, after)
    return found


def _checks(rows: Rows, points: Sequence[Point], errors: Errors, tpgm_us: float) -> None:
    """Rows of the article's statements; none if no word line reached the state."""

    def some(where: Where) -> list[Point]:
        return [point for point in points if where(point)]

    def entries(where: Where) -> list[float]:
        return [us / tpgm_us * 100 for point in some(where) for us in point.teps_us()]

    def going(where: Where, key: str) -> list[float]:
        return [each[key] for point in some(where) for each in point.running]

    def total_us(where: Where, key: str) -> float:
        return fmean(each[key] for point in some(where) for each in point.word_lines)

    every = entries(lambda _: True)
    low, high = entries(lambda p: p.delay2 <= 0.2), entries(lambda p: p.delay2 >= 0.5)
    late = going(lambda p: min(p.delay1, p.delay2) > 0.6, "suspends")
    last, own = (going(lambda p: p.delay1 == p.delay2 == 1.0, key) for key in ("tpgms_us", "own_us"))
    early = [count for point in some(lambda p: p.delay1 == p.delay2 == 0.1) for count in point.suspends()]

    def early_long(point: Point) -> bool:
        return point.delay1 < 0.2 and point.delay2 > 0.7

    def later_long(point: Point) -> bool:
        return 0.2 <= point.delay1 <= 0.6 and point.delay2 > 0.7

    found = {
        "teps_mean_percent": fmean(every) if every else None,
        "teps_worst_percent": max(every, default=None),
        "teps_low_delay2_to_high": fmean(low) / fmean(high) if low and high and fmean(high) > 0 else None,
        "suspends_least_above_60": min(late, default=None),
        "suspends_most_above_60": max(late, default=None),
        "suspends_most_10_10": max(early),
        "tpgms_100_100": min(last) / tpgm_us if last else None,
        "tpgms_100_100_device": min(own) / tpgm_us if own else None,
        "tpgms_low_delay1_to_high": total_us(early_long, "tpgms_us") / total_us(later_long, "tpgms_us"),
        "tpgms_low_delay1_to_high_device": total_us(early_long, "own_us") / total_us(later_long, "own_us"),
        "rber_change_suspended_percent": errors.change_percent("suspended", "default"),
        "rber_change_untouched_percent": errors.change_percent("untouched", "default"),
    }
    for name, ours in found.items():
        rows.add(name, ours)


def _measured(file: PartFile, tester: Tester, base: dict[str, list[dict[str, Any]]], tpgm_us: float) -> PartFile:
    loops = [each["loops"] for programs in base.values() for each in programs]
    sample = f"characterize suspend, cells {tester.preset}, seed {tester.seed}"
    whole = round(fmean(loops))
    file.measured("program-loops", whole, f"{sample}: mean of {len(loops)} programs, {fmean(loops):.4g}")
    if len(loops) > 1:
        file.measured(
            "program-loops-sd", round(stdev(loops), 4), f"{sample}: standard deviation of {len(loops)} programs"
        )
    verify = (
        f"{sample}: what a loop lasts beside its pulse, so that {whole} loops last the mean t_PGM of {tpgm_us:.6g} us"
    )
    file.measured("program-verify", microseconds(tpgm_us / whole - file.pulse_us), verify)
    return file


def _notes(points: Sequence[Point], poll: str) -> list[str]:
    polled = {
        "host": "program times are as a host sees that looks only after a delay is over (--poll host)",
        "device": "program times end when the device does (--poll device)",
    }
    notes = [
        polled[poll],
        f"the untouched block is {AGE_HOURS:g} hours old before and {AGE_HOURS + HOURS:g} after, at {CELSIUS:g} C",
    ]
    idle = sum(point.row()["teps_mean_us"] is None for point in points)
    if idle:
        notes.append(f"at {idle} of {len(points)} places of the grid no program was suspended: no t_EPS there")
    return notes
