"""Error table of reprogrammed word lines for drives: errors by cycles, retention, reprograms, layer and page type.

Its reprograms are RPCnt, the updates of a word line since its erase (Gao et al., MICRO 2019, Section 3.2). An update of
the MSB moves the cells one state up, one of the LSB two. The table has the highest window that a count can end on: with
each update two of the test's reprograms by one state, so P2 to P5 after one and P4 to P7 after two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from interpulse.characterize.tester import Job, Tester

FILE = "errors.toml"
"""Name in the folder of `--out`."""

CYCLES = (0, 1000, 2000)
QUICK_CYCLES = (0, 1000)

HOURS = (24.0, 720.0, 8760.0)

CELSIUS = 40.0
"""Temperature of the paper's retention and of JESD218 for enterprise drives."""

REPROGRAMS = (0, 1, 2)
"""RPCnt; 0 is a block in the conventional order."""

STEPS_PER_REPROGRAM = 2
"""States by which an update of the LSB raises the cells."""

HEIGHT = 2
"""Layers per super layer: the highest usable number by the paper."""

PLACES = 3
"""Classes of layers: bottom, middle and top third of a block, each represented by its middle super layer."""

CELLS, QUICK_CELLS = 131_072, 65_536
"""Cells per word line. Levels calibrated on few cells fit noise: with 16,384, a fresh block has half the errors."""


@dataclass(frozen=True)
class ErrorTable:
    """An error table with its sample."""

    toml: str
    """File for drives."""
    spread_ln_sd: float
    """Standard deviation of the logarithm between pages of an entry."""
    cells: int
    """Cells per word line."""
    pages: int
    """Pages per type and entry."""


def axis_of_cycles(tester: Tester) -> tuple[int, ...]:
    """Measured cycles."""
    return QUICK_CYCLES if tester.quick else CYCLES


def jobs(tester: Tester, layers: int) -> list[Job]:
    """Parts of blocks of `layers` layers, by cycles, reprograms and position in the stack."""
    return [
        Job(
            "reprogram",
            {
                "super_layer": HEIGHT if reprograms else 0,
                "steps": STEPS_PER_REPROGRAM * reprograms,
                "first_layer": first,
                "layers": min(HEIGHT, layers),
                "cells": _cells(tester),
                "cycles": cycles,
                "other_chip": True,
                "hours": HOURS,
                "celsius": CELSIUS,
            },
        )
        for cycles, reprograms, first in product(axis_of_cycles(tester), REPROGRAMS, _places(layers))
    ]


def of(tester: Tester, layers: int, answers: Sequence[dict[str, Any]]) -> ErrorTable:
    """Builds the table from the answers with one more job. Raises as `Tester.ask`."""
    cells, cycles, places = _cells(tester), axis_of_cycles(tester), _places(layers)
    pages = sum(page["page_type"] == "lower" for page in answers[0]["pages"])
    made = f"interpulse characterize reprogram, cells {tester.preset} on other chips of the kind, seed {tester.seed}"
    sample = f"each entry of {pages} word lines of {cells} cells, two layers about layer-fraction"
    counts = "reprograms 0: conventional order; 1, 2: P2-P5, P4-P7 in two-layer super layers, the highest of the count"
    (table,) = tester.ask(
        [
            Job(
                "reprogram-table",
                {
                    "title": f"cells {tester.preset}, reprogrammed, by the cell model",
                    "source": f"{made}; {sample}; {counts}; lower page = lsb, upper page = csb and msb",
                    "cycles": cycles,
                    "hours": HOURS,
                    "celsius": CELSIUS,
                    "reprograms": REPROGRAMS,
                    "layer_fraction": [(first + min(HEIGHT, layers) / 2) / layers for first in places],
                    "cells": cells,
                    "pieces": [answer["aged"] for answer in answers],
                },
            )
        ]
    )
    return ErrorTable(table["toml"], table["spread_ln_sd"], cells, pages)


def note(table: ErrorTable) -> str:
    """Note on the result."""
    return (
        f"{FILE} is an error table for drives, kept at {CELSIUS:g} degrees Celsius: {table.pages} pages of each type "
        f"for each entry, {table.cells} bits in a page; reprograms 1 and 2 are word lines on P2 to P5 and P4 to P7"
    )


def _cells(tester: Tester) -> int:
    return QUICK_CELLS if tester.quick else CELLS


def _places(layers: int) -> list[int]:
    """Lowest layer of the middle super layer of each third of a block; fewer for small blocks."""
    whole = max(layers // HEIGHT, 1)
    return sorted({HEIGHT * ((2 * k + 1) * whole // (2 * PLACES)) for k in range(PLACES)})
