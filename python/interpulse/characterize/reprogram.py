"""Reprogramming a TLC block: the tests of Gao et al., MICRO 2019, Section 3.3.

Word lines are programmed in MLC mode on ER to P3 and then reprogrammed four times, a state further each time, until
they stand on P4 to P7; in random order within super layers of one to four layers, super layers in sequence. Every page
is read with default and with calibrated levels, beside those of a block that was programmed in the conventional order.
It also fills an error table for drives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from interpulse.characterize import reprogram_plots, reprogram_table
from interpulse.characterize.part import PartFile, microseconds
from interpulse.characterize.tester import Job, Tester
from interpulse.studies.outcome import Curve, Outcome, Rows

SCHEMES = {"conventional": 0, "one-layer": 1, "two-layer": 2, "three-layer": 3, "four-layer": 4}
"""Layers per super layer; 0 is the conventional program."""

WORN = {"normal": "conventional", "reprogram": "two-layer"}
"""Rows of Table 3 with their schemes."""

CYCLES = 1000
"""Cycles of Table 3."""

RETENTION = {"hours": [8760], "celsius": 40}
"""Retention of Table 3: a year at 40 degrees Celsius (the paper baked for three hours at 120)."""

CELLS = 131_072
"""Bits per page of 16 KiB."""

PIECE = 12
"""Layers per job: a multiple of every super layer."""

QUICK_PIECES, QUICK_LAYERS = 4, 6
"""Parts of a block in a quick run, and minimum layers per part."""

QUICK_LAYERS_RARE = {3: 9, 4: 12}
"""In higher super layers, one word line in nine or sixteen has most errors."""

BIN = 4
"""Steps per bin of a histogram."""


@dataclass(frozen=True)
class Programmed:
    """A block, or parts of it, under one scheme."""

    name: str
    pages: list[dict[str, Any]]
    """Answers of the core: place and errors of each page."""
    aged: list[dict[str, Any]]
    """Answers after retention; empty without it."""
    histograms: list[dict[str, Any]]

    def errors(self, read: str) -> list[int]:
        """Errors of each page, with reads `default` or `calibrated`."""
        return [page[f"errors_{read}"] for page in self.pages]

    def table2(self) -> dict[str, Any]:
        """Row of Table 2."""
        default, calibrated = self.errors("default"), self.errors("calibrated")
        return {
            "name": self.name,
            "dvo_max": max(default),
            "dvo_mean": fmean(default),
            "ovo_max": max(calibrated),
            "ovo_mean": fmean(calibrated),
            "pages": len(self.pages),
        }

    def table3(self) -> list[dict[str, Any]]:
        """Rows of Table 3."""
        return [
            {
                "name": self.name,
                "retention": retention,
                "max": max(page["errors_calibrated"] for page in pages),
                "mean": fmean(page["errors_calibrated"] for page in pages),
                "pages": len(pages),
            }
            for retention, pages in ((False, self.pages), (True, self.aged))
        ]


def run(tester: Tester) -> Outcome:
    """Programs a block under each scheme, and two blocks of other chips after 1,000 cycles."""
    rows = tester.rows()
    part = PartFile.of(tester)
    (block,) = tester.ask([Job("reprogram-block", {})])
    layers = block["layers"]
    fresh = {name: _jobs(layers, height, tester.quick, {"histogram_bin": BIN}) for name, height in SCHEMES.items()}
    worn = {"cycles": CYCLES, "other_chip": True, **RETENTION}
    aged = {name: _jobs(layers, SCHEMES[scheme], tester.quick, worn) for name, scheme in WORN.items()}
    of_table = reprogram_table.jobs(tester, layers)
    tester.announce(3 + sum(len(jobs) for jobs in (*fresh.values(), *aged.values(), of_table)))
    answers = iter(tester.ask(job for jobs in (*fresh.values(), *aged.values()) for job in jobs))
    raw = {name: [next(answers) for _ in jobs] for name, jobs in (fresh | aged).items()}
    found = {name: _programmed(name, of) for name, of in raw.items()}
    table2 = [found[name].table2() for name in SCHEMES]
    table3 = [row for name in WORN for row in found[name].table3()]
    histograms = [_histogram(found[name]) for name in SCHEMES]
    _compare(rows, table2, table3)
    by_read = {read: {name: found[name].errors(read) for name in SCHEMES} for read in ("default", "calibrated")}
    pulses = {name: _pulses(of) for name, of in raw.items()}
    _measure(part, pulses)
    errors = reprogram_table.of(tester, layers, tester.ask(of_table))
    return Outcome(
        rows,
        figures={
            "table2": table2,
            "table3": table3,
            "histograms": histograms,
            "error_table": {"spread_ln_sd": errors.spread_ln_sd},
        },
        settings={"word_lines_per_layer": block["word_lines"], "layers": layers, "cells": CELLS, "reprograms": 4},
        notes=[*_notes(table2, table3), reprogram_table.note(errors)],
        plots=reprogram_plots.all_plots(histograms, by_read),
        curves=[
            Curve.of("table2", table2),
            Curve.of("table3", table3),
            Curve("histograms", ("name", "from", *reprogram_plots.STATES), list(_bins(histograms))),
        ],
        files=[part.file(tester), (reprogram_table.FILE, errors.toml.encode())],
    )


def _pulses(answers: list[dict[str, Any]]) -> dict[str, float | None]:
    """Mean pulses of first programs of word lines, and of reprograms by one state if any."""
    mean: dict[str, float | None] = {}
    for which in ("first", "again"):
        programs = sum(answer[which]["programs"] for answer in answers)
        mean[which] = sum(answer[which]["pulses"] for answer in answers) / programs if programs else None
    return mean


def _measure(part: PartFile, pulses: dict[str, dict[str, float | None]]) -> None:
    """The part file: reprogram pulses in proportion to those of the conventional program."""
    whole = pulses["conventional"]["first"]
    first, again = pulses["two-layer"]["first"], pulses["two-layer"]["again"]
    if not (whole and first and again):
        raise ValueError("the schemes program word lines, and two-layer reprograms them")
    how = "mean pulses in super layers of two layers, over those of conventional programs on the same cells"
    for key, mean in (("mlc-", first), ("", again)):
        loops = max(1, round(part.program_loops * mean / whole))
        part.measured(f"reprogram.{key}loops", loops, f"measured: {how}: {mean:.2f} over {whole:.2f}")
        same = "the part's own program loop"
        part.measured(f"reprogram.{key}pulse", microseconds(part.pulse_us), same)
        part.measured(f"reprogram.{key}verify", microseconds(part.verify_us), same)
    part.measured("reprogram.read", microseconds(part.two_bit_read_us), "the part's own")


def _jobs(layers: int, height: int, quick: bool, more: dict[str, Any]) -> list[Job]:
    """Parts of a block, each with complete super layers."""
    if quick:
        size = QUICK_LAYERS_RARE.get(height, QUICK_LAYERS)
        starts = sorted({k * layers // QUICK_PIECES // PIECE * PIECE for k in range(QUICK_PIECES)})
    else:
        size, starts = PIECE, list(range(0, layers, PIECE))
    return [
        Job(
            "reprogram",
            {"super_layer": height, "first_layer": at, "layers": min(size, layers - at), "cells": CELLS, **more},
        )
        for at in starts
    ]


def _programmed(name: str, answers: Sequence[dict[str, Any]]) -> Programmed:
    return Programmed(
        name,
        [page for answer in answers for page in answer["pages"]],
        [page for answer in answers for pages in answer["aged"] for page in pages],
        [answer["histogram"] for answer in answers if "histogram" in answer],
    )


def _histogram(of: Programmed) -> dict[str, Any]:
    low = min(part["from"] for part in of.histograms)
    high = max(part["from"] + BIN * len(part["states"][0]) for part in of.histograms)
    states = [[0] * ((high - low) // BIN) for _ in reprogram_plots.STATES]
    for part in of.histograms:
        shift = (part["from"] - low) // BIN
        for whole, counts in zip(states, part["states"], strict=True):
            for k, count in enumerate(counts):
                whole[shift + k] += count
    return {"name": of.name, "from": low, "bin": BIN, "states": states}


def _bins(histograms: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (each["name"], each["from"] + BIN * k, *counts)
        for each in histograms
        for k, counts in enumerate(zip(*each["states"], strict=True))
    ]


def _compare(rows: Rows, table2: Sequence[dict[str, Any]], table3: Sequence[dict[str, Any]]) -> None:
    for row in table2:
        for key in ("dvo_max", "dvo_mean", "ovo_max", "ovo_mean"):
            name = f"{key}_{row['name']}"
            if rows.expects(name):
                rows.add(name, row[key])
    for row in table3:
        for key in ("max", "mean"):
            rows.add(f"{key}_{row['name']}_{'year' if row['retention'] else 'unaged'}", row[key])


def _notes(table2: Sequence[dict[str, Any]], table3: Sequence[dict[str, Any]]) -> list[str]:
    sampled = ", ".join(f"{row['name']} {row['pages']}" for row in (*table2, *(r for r in table3 if r["retention"])))
    return [
        f"pages that each maximum is of: {sampled}",
        "Table 2 and the rows `normal` of Table 3 are fitted, the rows `reprogram` of Table 3 untuned",
        "the maximum of `reprogram` without retention rests on how much faster worn cells program (cell.wear.faster)",
    ]
