"""Endurance: what wear does to the times of programs and erases, and to errors; the cycles that the ECC allows."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from interpulse.characterize import endurance_plots
from interpulse.characterize.aging import (
    ECC_PER_KIB,
    PART,
    READS,
    Sample,
    crossing,
    error_rows,
    job,
    points_of,
    worst,
)
from interpulse.characterize.bench import Job
from interpulse.characterize.finding import Finding
from interpulse.characterize.part import PartFile, microseconds
from interpulse.experiments.outcome import Curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interpulse.characterize.bench import Bench

CYCLES = (0, 500, 1000, 1500, 2000, 2500, 3000, 4000, 5000, 7000, 10_000, 15_000)
"""Program/erase cycles that are looked at."""

KEPT = {
    "none": {"hours": 0.0, "celsius": 25.0},
    "1 day, 25 °C": {"hours": 24.0, "celsius": 25.0},
    "1 year, 30 °C": {"hours": 8760.0, "celsius": 30.0},
    "3 months, 40 °C": {"hours": 2160.0, "celsius": 40.0},
}
"""Retention before the read; the last two are what JESD218 asks of client and of enterprise drives."""

RATED = "3 months, 40 °C"
"""The retention that the endurance of the part is stated for."""

BLOCKS = 60
QUICK_BLOCKS = 4
LINES = 4
OPERATION_CELLS = 8192
"""Word lines of a block, and cells of each, for the times of operations: more change no number of loops."""

AERO_LOOP_MS = 3.5
AERO_MS = {0: 3.50, 1000: 4.49, 2000: 8.75, 3000: 10.96, 5000: 16.77}
"""Mean erase times of blocks against cycles by the model of AERO's authors, whose fresh blocks need one loop."""


def run(bench: Bench) -> Finding:
    """Measures operations and errors at every wear."""
    rows = bench.rows()
    sample = Sample.of(bench)
    blocks = QUICK_BLOCKS if bench.quick else BLOCKS
    bench.announce(2 * len(CYCLES))
    shape = {"blocks": blocks, "word_lines": LINES, "cells": OPERATION_CELLS}
    operations = bench.run(Job("endurance", {**shape, "cycles": cycles}) for cycles in CYCLES)
    points = points_of(bench.run(job(sample, cycles, KEPT.values()) for cycles in CYCLES))
    flat = [_operation(each) for each in operations]
    limits = _limits(points)
    fresh_us = flat[0]["tbers_mean_us"]
    for each in flat:
        if each["cycles"] in AERO_MS and each["cycles"] > 0:
            rows.add(f"erase_growth_{each['cycles']:.0f}", (each["tbers_mean_us"] - fresh_us) / 1e3)
    tables: dict[str, list[dict[str, Any]]] = {
        "operations": flat,
        "endurance": error_rows(points),
        "cycles_to_limit": limits,
    }
    return Finding(
        rows,
        figures={**tables, "ecc_per_kib": ECC_PER_KIB},
        part=_part(bench, flat, limits, f"{blocks} blocks of {LINES} word lines"),
        settings=dict(sample.request()),
        notes=[
            sample.note(),
            f"program and erase times come from {blocks} blocks of {LINES} word lines",
            *(
                f"{row['cycles_to_limit']:,.0f} cycles to the ECC limit with {row['read']} reads after {row['kept']}"
                for row in limits
                if row["cycles_to_limit"] is not None and row["read"] != "frozen"
            ),
        ],
        plots=endurance_plots.all_plots(flat, points, KEPT),
        curves=[Curve(name, tuple(each[0]), [tuple(row.values()) for row in each]) for name, each in tables.items()],
    )


def _operation(answer: dict[str, Any]) -> dict[str, Any]:
    """One row: loops and times of programs and erases."""
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
    """Cycles at which the worst codeword exceeds the ECC after some retention, None beyond the most looked at."""
    found = []
    for (kept, how), read in product(KEPT.items(), READS):
        of = [p for p in points if (p["hours"], p["celsius"]) == (how["hours"], how["celsius"])]
        cycles = crossing([p["cycles"] for p in of], [worst(p, read) for p in of], ECC_PER_KIB)
        found.append({"kept": kept, **how, "read": read, "cycles_to_limit": cycles})
    return found


def _part(
    bench: Bench, operations: Sequence[dict[str, Any]], limits: Sequence[dict[str, Any]], blocks: str
) -> PartFile:
    """What a drive needs to know."""
    part = PartFile(PART)
    sample = f"characterize endurance, cells {bench.preset}, {blocks}, seed {bench.seed}"
    fresh = operations[0]
    loops = max(1, round(fresh["erase_loops_mean"]))
    part.measured("erase-loops", loops, f"{sample}: mean {fresh['erase_loops_mean']:.4g} at 0 cycles")
    verify_us = part.preset_us("erase-verify") + part.preset_us("erase-reset")
    pulse = microseconds(fresh["tbers_mean_us"] / fresh["erase_loops_mean"] - verify_us)
    part.measured("erase-pulse", pulse, f"{sample}: what is left of a loop beside its verify")
    rated = next(row for row in limits if (row["kept"], row["read"]) == (RATED, "calibrated"))
    cycles = rated["cycles_to_limit"]
    if cycles is not None:
        source = f"{sample}: cycles to {ECC_PER_KIB} errors in a KiB after {RATED}, calibrated reads"
        part.measured("endurance", max(1, round(cycles)), source)
    return part
