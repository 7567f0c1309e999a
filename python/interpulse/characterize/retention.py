"""Retention and read disturb: errors against time, temperature, wear, reads and layer, and an error table for drives.

Word lines are programmed at some wear; what becomes of them is looked at after some time at some temperature, and after
reads of their neighbours. The published rows are what the state table of Cai et al. gives with normal tails.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from interpulse.characterize import retention_plots
from interpulse.characterize.aging import (
    CYCLES,
    ECC_PER_KIB,
    HOURS,
    READS,
    ROOM_CELSIUS,
    Sample,
    crossing,
    error_rows,
    job,
    mean_rber,
    points_of,
    worst,
)
from interpulse.characterize.part import PartFile
from interpulse.characterize.tester import Job, Tester
from interpulse.studies.outcome import Curve, Outcome, Rows

CELSIUS = (25.0, 40.0, 55.0)

READ_COUNTS = (0.0, 1e4, 1e5, 3e5, 1e6, 3e6, 1e7)
"""Reads of other pages of the block one day after programming."""

HEIGHTS = (-1.0, 0.0, 1.0)
"""Bottom, middle and top of the stack."""

TABLE_CYCLES = (0, 500, 1000, 2000, 3000, 5000)
TABLE_LAYERS = (0.1, 0.5, 0.9)
TABLE_HOURS = (1.0, 24.0, 168.0, 720.0, 2160.0, 8760.0)
RETRY_HOURS = (24.0, 720.0, 8760.0)
"""Ages for which the retry steps of the table are optimised."""

TABLE_CELSIUS = 40.0
"""Retention temperature of JESD218 for enterprise drives."""

FILE = "errors.toml"

CAI_CYCLES = 2000
"""Wear of the published rows."""

CAI = {"1d": "1 day", "1w": "1 week", "1m": "1 month", "3m": "3 months", "1y": "1 year"}


def run(tester: Tester) -> Outcome:
    """Measures errors against time, reads and layer, and fills the table."""
    rows = tester.rows()
    sample = Sample.of(tester)
    places = list(product(CYCLES, CELSIUS))
    conditions = list(product(TABLE_CYCLES, TABLE_LAYERS))
    tester.announce(len(places) + len(CYCLES) + len(HEIGHTS) + len(conditions) + 2)
    part = PartFile.of(tester)
    ages = list(HOURS.values())
    answers = tester.ask(
        job(sample, cycles, ({"hours": h, "celsius": celsius} for h in ages)) for cycles, celsius in places
    )
    aged = points_of(answers)
    read = points_of(
        tester.ask(
            job(sample, cycles, ({"hours": 24.0, "celsius": ROOM_CELSIUS, "reads": n} for n in READ_COUNTS))
            for cycles in CYCLES
        )
    )
    layered = points_of(
        tester.ask(
            job(sample, CAI_CYCLES, ({"hours": h, "celsius": ROOM_CELSIUS} for h in ages), height) for height in HEIGHTS
        )
    )
    table = _table(tester, sample, part.pages_per_block, read)
    capability = _capability(aged)
    to_limit = _reads_to_limit(read)
    _checks(rows, aged)
    thresholds = [_thresholds(point) for point in aged]
    states = [{**_place(point), **state} for point in aged for state in point["states"]]
    tables: dict[str, list[dict[str, Any]]] = {
        "retention": error_rows(aged),
        "capability": capability,
        "thresholds": thresholds,
        "states": states,
        "read_disturb": error_rows(read),
        "reads_to_limit": to_limit,
        "layers": error_rows(layered),
    }
    return Outcome(
        rows,
        figures={**tables, "ecc_per_kib": ECC_PER_KIB, "error_table": {k: table[k] for k in table if k != "toml"}},
        settings=dict(sample.request()),
        notes=[
            sample.note(),
            f"{FILE} is the error table of these cells for drives, kept at {TABLE_CELSIUS:g} degrees Celsius",
            *_gaps(capability),
        ],
        plots=retention_plots.all_plots(aged, read, layered),
        curves=[Curve.of(name, each) for name, each in tables.items()],
        files=[part.file(tester), (FILE, table["toml"].encode())],
    )


def _place(point: dict[str, Any]) -> dict[str, Any]:
    return {key: point[key] for key in ("cycles", "celsius", "hours")}


def _thresholds(point: dict[str, Any]) -> dict[str, Any]:
    names = ("er_p1", "p1_p2", "p2_p3", "p3_p4", "p4_p5", "p5_p6", "p6_p7")
    levels = zip(names, point["thresholds_steps"], strict=True)
    return {**_place(point), **{f"{name}_steps": level for name, level in levels}}


def _capability(aged: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Time until the worst codeword exceeds the ECC; None beyond the last age."""
    found = []
    for cycles, celsius, read in product(CYCLES, CELSIUS, READS):
        points = [p for p in aged if (p["cycles"], p["celsius"]) == (cycles, celsius)]
        hours = crossing([p["hours"] for p in points], [worst(p, read) for p in points], ECC_PER_KIB)
        found.append({"cycles": cycles, "celsius": celsius, "read": read, "hours_to_limit": hours})
    return found


def _reads_to_limit(points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Reads of the block that a day-old page withstands; None beyond the largest tested number."""
    found = []
    for cycles, read in product(CYCLES, READS):
        of = [p for p in points if p["cycles"] == cycles]
        reads = crossing([p["reads"] for p in of], [worst(p, read) for p in of], ECC_PER_KIB)
        found.append({"cycles": cycles, "read": read, "reads_to_limit": reads})
    return found


def _gaps(capability: Sequence[dict[str, Any]]) -> list[str]:
    kept = sum(row["hours_to_limit"] is None for row in capability)
    last = max(HOURS, key=lambda name: HOURS[name])
    return [f"in {kept} of {len(capability)} cases the ECC still corrects everything after {last}"] if kept else []


def _checks(rows: Rows, aged: Sequence[dict[str, Any]]) -> None:
    """Rows of the published state table: error rates, and means after a day and a year."""
    at = {p["hours"]: p for p in aged if (p["cycles"], p["celsius"]) == (CAI_CYCLES, ROOM_CELSIUS)}
    for key, name in CAI.items():
        point = at[HOURS[name]]
        rows.add(f"rber_optimal_{key}", mean_rber(point, "calibrated"))
        rows.add(f"rber_frozen_{key}", mean_rber(point, "frozen"))
    for key in ("1d", "1y"):
        means = [state["mean_steps"] for state in at[HOURS[CAI[key]]]["states"]]
        for number, state in ((0, "er"), (1, "p1"), (4, "p4"), (7, "p7")):
            rows.add(f"mean_{state}_{key}", means[number])


def _table(tester: Tester, sample: Sample, pages: int, read: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The error table for drives: one job per condition, then one for the table."""
    plan = {"hours": TABLE_HOURS, "celsius": TABLE_CELSIUS, "retry_hours": RETRY_HOURS, **sample.request()}
    pieces = tester.ask(
        Job("error-table-piece", {"plan": plan, "cycles": cycles, "layer_fraction": layer})
        for cycles, layer in product(TABLE_CYCLES, TABLE_LAYERS)
    )
    quiet = {p["cycles"]: mean_rber(p, "default") for p in read if p["reads"] == 0}
    added = [
        (p["cycles"], p["reads"] / pages, mean_rber(p, "default") - quiet[p["cycles"]])
        for p in read
        if p["cycles"] > 0 and p["reads"] > 0
    ]
    made = f"interpulse characterize retention, cells {tester.preset}, seed {tester.seed}"
    size = f"{sample.word_lines} word lines of {sample.cells} cells"
    whole = Job(
        "error-table",
        {
            "plan": plan,
            "title": f"cells {tester.preset} by the cell model",
            "source": f"{made}, {size}; retry steps made for blocks of the reference wear",
            "cycles": TABLE_CYCLES,
            "layer_fraction": TABLE_LAYERS,
            "errors": [piece["errors"] for piece in pieces],
            "added": added,
        },
    )
    return tester.ask([whole])[0]
