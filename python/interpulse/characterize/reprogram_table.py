"""The error table of reprogrammed word lines for drives: errors by cycles, retention, reprograms, layer and page type.

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
"""Its name in the folder of `--out`."""

CYCLES = (0, 1000, 2000)
QUICK_CYCLES = (0, 1000)

HOURS = (24.0, 720.0, 8760.0)

CELSIUS = 40.0
"""Of the paper's retention, and that of JESD218 for enterprise drives."""

REPROGRAMS = (0, 1, 2)
"""RPCnt; 0 is a block in the conventional order."""

STEPS_PER_REPROGRAM = 2
"""States that the cells move up with an update of the LSB."""

HEIGHT = 2
"""Layers of a super layer: the highest that the paper calls usable."""

PLACES = 3
"""Classes of layers: the bottom, the middle and the top third of a block, each by the super layer in its middle."""

CELLS, QUICK_CELLS = 131_072, 65_536
"""Of a word line. Levels calibrated on few cells fit their noise: on 16,384 a fresh block shows half the errors."""


@dataclass(frozen=True)
class ErrorTable:
    """The table, and what it was measured on."""

    toml: str
    """The file for drives."""
    spread_ln_sd: float
    """Between the pages of an entry."""
    cells: int
    """Of a word line."""
    pages: int
    """Of each type, for each entry."""


def axis_of_cycles(tester: Tester) -> tuple[int, ...]:
    """The cycles that are looked at."""
    return QUICK_CYCLES if tester.quick else CYCLES


def jobs(tester: Tester, layers: int) -> list[Job]:
    """The parts of blocks of `layers` layers: by cycles, then by reprograms, then by place in the stack."""
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
    """The table of what the jobs answered: one more job. Raises as `Tester.ask`."""
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
    """What the reader of a result has to know."""
    return (
        f"{FILE} is an error table for drives, kept at {CELSIUS:g} degrees Celsius: {table.pages} pages of each type "
        f"for each entry, {table.cells} bits in a page; reprograms 1 and 2 are word lines on P2 to P5 and P4 to P7"
    )


def _cells(tester: Tester) -> int:
    return QUICK_CELLS if tester.quick else CELLS


def _places(layers: int) -> list[int]:
    """The lowest layer of the super layer in the middle of each third of a block, as far as there are so many."""
    whole = max(layers // HEIGHT, 1)
    return sorted({HEIGHT * ((2 * k + 1) * whole // (2 * PLACES)) for k in range(PLACES)})
