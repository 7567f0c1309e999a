"""Endurance: program and erase times and errors over wear, and the cycles that the ECC allows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from interpulse.characterize import endurance_plots
from interpulse.characterize.aging import (
    ECC_PER_KIB,
    READS,
    Sample,
    crossing,
    error_rows,
    job,
    points_of,
    worst,
)
from interpulse.characterize.part import PartFile
from interpulse.characterize.tester import Job, Tester
from interpulse.studies.outcome import Curve, Outcome

CYCLES = (0, 500, 1000, 1500, 2000, 2500, 3000, 4000, 5000, 7000, 10_000, 15_000)
"""Measured numbers of program/erase cycles."""

KEPT = {
    "none": {"hours": 0.0, "celsius": 25.0},
    "1 day, 25 °C": {"hours": 24.0, "celsius": 25.0},
    "1 year, 30 °C": {"hours": 8760.0, "celsius": 30.0},
    "3 months, 40 °C": {"hours": 2160.0, "celsius": 40.0},
}
"""Retention before the read; the last two are the JESD218 requirements of client and enterprise drives."""

RATED = "3 months, 40 °C"
"""Retention of the part's rated endurance."""

BLOCKS = 60
QUICK_BLOCKS = 40
LINES = 4
QUICK_LINES = 1
OPERATION_CELLS = 8192
"""Word lines per block and cells per word line for operation times: more do not change the loop counts, and blocks
differ more than word lines."""

AERO = (1000, 2000, 3000, 5000)
"""Wear of the published rows."""


def run(tester: Tester) -> Outcome:
    """Measures operations and errors at every wear."""
    rows = tester.rows()
    sample = Sample.of(tester)
    blocks = QUICK_BLOCKS if tester.quick else BLOCKS
    tester.announce(2 * len(CYCLES) + 1)
    lines = QUICK_LINES if tester.quick else LINES
    shape = {"blocks": blocks, "word_lines": lines, "cells": OPERATION_CELLS // (2 if tester.quick else 1)}
    part = PartFile.of(tester)
    operations = tester.ask(Job("endurance", {**shape, "cycles": cycles}) for cycles in CYCLES)
    points = points_of(tester.ask(job(sample, cycles, KEPT.values()) for cycles in CYCLES))
    flat = [_operation(each) for each in operations]
    limits = _limits(points)
    fresh_us = flat[0]["tbers_mean_us"]
    for each in flat:
        if each["cycles"] in AERO:
            rows.add(f"erase_growth_{each['cycles']:.0f}", (each["tbers_mean_us"] - fresh_us) / 1e3)
    tables: dict[str, list[dict[str, Any]]] = {
        "operations": flat,
        "endurance": error_rows(points),
        "cycles_to_limit": limits,
    }
    return Outcome(
        rows,
        figures={**tables, "ecc_per_kib": ECC_PER_KIB},
        settings=dict(sample.request()),
        notes=[
            sample.note(),
            f"program and erase times come from {blocks} blocks of {lines} word lines",
            *(
                f"{row['cycles_to_limit']:,.0f} cycles to the ECC limit with {row['read']} reads after {row['kept']}"
                for row in limits
                if row["cycles_to_limit"] is not None and row["read"] != "frozen"
            ),
        ],
        plots=endurance_plots.all_plots(flat, points, KEPT),
        curves=[Curve.of(name, each) for name, each in tables.items()],
        files=[_measured(part, tester, operations[0], limits, f"{blocks} blocks of {lines} word lines").file(tester)],
    )


def _operation(answer: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"cycles": answer["cycles"]}
    for key, name, unit in (
        ("program_loops", "program_loops", ""),
        ("tprog_us", "tprog", "_us"),
        ("erase_loops", "erase_loops", ""),
        ("tbers_us", "tbers", "_us"),
    ):
        row |= {f"{name}_{which}{unit}": answer[key][which] for which in ("mean", "min", "max")}
    return row | {key: answer[key] for key in ("programs_failed", "erases_failed")}


def _limits(points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cycles at which the worst codeword exceeds the ECC after some retention; None beyond the measured range."""
    found = []
    for (kept, how), read in product(KEPT.items(), READS):
        of = [p for p in points if (p["hours"], p["celsius"]) == (how["hours"], how["celsius"])]
        cycles = crossing([p["cycles"] for p in of], [worst(p, read) for p in of], ECC_PER_KIB)
        found.append({"kept": kept, **how, "read": read, "cycles_to_limit": cycles})
    return found


def _measured(
    part: PartFile, tester: Tester, fresh: dict[str, Any], limits: Sequence[dict[str, Any]], blocks: str
) -> PartFile:
    sample = f"characterize endurance, cells {tester.preset}, {blocks}, seed {tester.seed}"
    for kind in ("program", "erase"):
        mean = fresh[f"{kind}_loops"]["mean"]
        part.measured(f"{kind}-loops", round(mean), f"{sample}: mean {mean:.4g} at 0 cycles")
    rated = next(row for row in limits if (row["kept"], row["read"]) == (RATED, "calibrated"))
    cycles = rated["cycles_to_limit"]
    if cycles is not None:
        source = f"{sample}: cycles to {ECC_PER_KIB} errors in a KiB after {RATED}, calibrated reads"
        part.measured("endurance", max(1, round(cycles)), source)
    return part
