"""Erase suspension on real blocks: the second problem of Kim et al., ATC'19, stress and over-erase.

Programmed blocks are erased while reads arrive at random and suspend the erase as often as they did in the
experiments `atc19-*`. A scheme that restarts pulses, or lets their voltage rise again, keeps a block under erase
voltage for longer: it is erased deeper, and it wears like a block of more cycles, whose errors are then measured.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from interpulse.characterize.part import PartFile
from interpulse.characterize.tester import Job, Tester
from interpulse.plotting.plots import COLOURS, Plot, grouped, legend_outside, logarithmic, panels
from interpulse.runs.estimate import Estimate
from interpulse.studies.outcome import Curve, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOADS = Path(__file__).parent / "erase_loads.toml"
"""Suspensions per erase, by experiment and design."""

RATED = 1000
"""Cycles of the comparison of designs."""

RETENTION_HOURS, CELSIUS = 2190, 25
"""Age of the data at the error count: three months at room temperature."""

CORRECTS_PER_KIB = 80
"""Gao et al., MICRO'19, Section 3.3.1."""

UBER_LIMIT = 1e-16
"""JESD218, enterprise class."""

EFFECTIVE = (0, 500, 1000, 1500, 2000, 2500, 3000, 4000, 5000, 6000, 8000, 10000)
"""Measured cycles of undisturbed blocks."""

MOST_CYCLES = 1e6
"""Maximum wear of the tester."""

PIECE = 8
"""Blocks per job."""


@dataclass(frozen=True)
class Design:
    """A design of the paper, as a request to the tester."""

    label: str
    request: dict[str, Any]


DESIGNS = {
    "baseline": Design("Baseline", {"scheme": "none"}),
    "ideal": Design("Ideal-ES", {"scheme": "ideal"}),
    "des": Design("D-ES", {"scheme": "deferred"}),
    "es": Design("ES", {"scheme": "exact", "resume_ramp_us": 500.0}),
    "ies": Design("I-ES", {"scheme": "immediate"}),
    "tes": Design("T-ES", {"scheme": "timeout", "scheme_set": [("defer-after", "64ms")]}),
}
"""With the ramp and the timeout of the experiments; the clock of T-ES starts with an erase's first suspension."""


@dataclass(frozen=True)
class Erased:
    """Blocks erased under one design and load."""

    load: str
    design: str
    asked: float
    """Suspensions per erase in the experiment."""
    blocks: list[dict[str, Any]]
    """Answers of the core for a part whose erases end with the first passing verify."""
    counted: list[dict[str, Any]]
    """Answers for a part with a fixed number of loops for the wear."""

    def mean(self, key: str) -> float:
        """Mean over blocks."""
        return fmean(float(block[key]) for block in self.blocks)


def run(tester: Tester) -> Outcome:
    """Erases blocks under every design and load, and measures the errors of equally worn blocks."""
    rows = tester.rows()
    shape: dict[str, Any] = {
        "word_lines": tester.settings.get("word_lines", 2),
        "cells": tester.settings.get("cells", 2048 if tester.quick else 16_384),
    }
    blocks = PIECE if tester.quick else 4 * PIECE
    asked = [("none", "baseline", 0.0), *((load, key, n) for load, of in loads().items() for key, n in of.items())]
    pieces = range(0, blocks, PIECE)
    sets = [tester.sets, [*tester.sets, ("cell.erase.ends-early", "false")]]
    tester.announce(len(asked) * (len(pieces) * 2 + 2) + len(EFFECTIVE) + 1)
    wear = {"cycles": RATED}
    often = [Job("erase-gap", {**DESIGNS[key].request, **wear, "suspends": n}) for _, key, n in asked[1:]]
    gaps: list[float | None] = [None, *(answer["mean_gap_us"] for answer in tester.ask(often))]
    jobs = [
        Job(
            "erase",
            {
                **DESIGNS[key].request,
                **wear,
                "mean_gap_us": gap,
                "blocks": {**shape, "first": first, "count": PIECE},
                "set": own,
            },
        )
        for (_, key, _), gap in zip(asked, gaps, strict=True)
        for own in sets
        for first in pieces
    ]
    part = PartFile.of(tester)
    answers = iter(tester.ask(jobs))
    erased: list[Erased] = []
    for load, key, n in asked:
        both = [[block for _ in pieces for block in next(answers)["blocks"]] for _ in sets]
        erased.append(Erased(load, key, n, *both))
    plain = erased[0]
    curve = _worn(tester, [(float(cycles), 0.0) for cycles in EFFECTIVE])
    # Beyond a million cycles all data is wrong.
    ends = [min(RATED * _stress(each, plain).value, MOST_CYCLES) for each in erased]
    worn = _worn(tester, [(end, _deeper(each.blocks, plain.blocks)) for end, each in zip(ends, erased, strict=True)])
    limit = _crossing(curve)
    table = [_row(each, plain, errors, limit) for each, errors in zip(erased, worn, strict=True)]
    for each, row in zip(erased[1:], table[1:], strict=True):
        name = f"{each.load}_{each.design}"
        figure = f"{DESIGNS[each.design].label}, {each.asked:.4g} suspensions of an erase as in atc19-{each.load}"
        found: list[tuple[str, float | Estimate, str]] = [
            ("stress_ratio", _stress(each, plain), "of an undisturbed erase"),
            ("deeper_steps", row["deeper_steps"], "steps"),
            ("deeper_counted_steps", row["deeper_counted_steps"], "steps"),
            ("uber_decades", _decades(row["uber"], table[0]["uber"]), "powers of ten over undisturbed erases"),
            ("lifetime_ratio", 1 / _stress(each, plain).value, "of undisturbed erases"),
        ]
        for what, ours, unit in found:
            rows.add_own(f"{what}_{name}", ours, unit=unit, figure=figure)
    effective = [{"cycles": cycles, **row} for cycles, row in zip(EFFECTIVE, curve, strict=True)]
    return Outcome(
        rows,
        figures={"schemes": table, "uber": effective, "limit_cycles": limit},
        settings={**shape, "blocks": blocks, "retention_hours": RETENTION_HOURS, "celsius": CELSIUS},
        notes=_notes(),
        plots=[
            Plot("stress", lambda: _draw(table), "Stress of an erase by design and load"),
            Plot("uber", lambda: _draw_uber(effective, table), "Uncorrectable bit errors over cycles"),
        ],
        curves=[Curve.of("schemes", table), Curve.of("uber", effective)],
        files=[_measured(part, tester, plain).file(tester)],
    )


def loads() -> dict[str, dict[str, float]]:
    """Suspensions of an erase, by experiment and design."""
    top = tomllib.loads(LOADS.read_text(encoding="utf-8"))
    return {load: {key: float(n) for key, n in of.items() if key in DESIGNS} for load, of in top["load"].items()}


def _worn(tester: Tester, places: list[tuple[float, float]]) -> list[dict[str, Any]]:
    """Error rates of the worst page type after undisturbed cycles, with a deeper erased state."""
    then = {"hours": RETENTION_HOURS, "celsius": CELSIUS, "corrects_per_kib": CORRECTS_PER_KIB}
    # Few cells would have no errors to count.
    size = {"word_lines": 8, "cells": 32_768 if tester.quick else 131_072}
    jobs = [
        Job("erase-errors", {**then, **size, "cycles": cycles, "deeper_steps": deeper}) for cycles, deeper in places
    ]
    answers = tester.ask(jobs)
    pages = [list(answer["pages"].values()) for answer in answers]
    return [{key: max(page[key] for page in of) for key in ("rber", "uber")} for of in pages]


def _stress(each: Erased, plain: Erased) -> Estimate:
    """Ratio of the time under erase voltage to that of the same blocks undisturbed, with its interval over blocks."""
    pairs = zip(each.blocks, plain.blocks, strict=True)
    return Estimate.of([float(block["stress_pulses"]) / float(alone["stress_pulses"]) for block, alone in pairs])


def _deeper(blocks: list[dict[str, Any]], plain: list[dict[str, Any]]) -> float:
    """Depth of the erased state below that of the same blocks undisturbed, in steps."""
    return fmean(
        alone["erased_mean_steps"] - block["erased_mean_steps"] for block, alone in zip(blocks, plain, strict=True)
    )


def _decades(rate: float, over: float) -> float:
    """Powers of ten between two rates; a zero counts as the smallest positive number."""
    least = 1e-300
    return math.log10(max(rate, least) / max(over, least))


def _crossing(curve: list[dict[str, Any]]) -> float | None:
    """Undisturbed cycles at which the uncorrectable rate reaches the limit, interpolated in its logarithm."""
    points = [(cycles, row["uber"]) for cycles, row in zip(EFFECTIVE, curve, strict=True)]
    for (c0, u0), (c1, u1) in pairwise(points):
        if u0 < UBER_LIMIT <= u1:
            if u0 == 0:
                return float(c1)
            return c0 + (c1 - c0) * math.log(UBER_LIMIT / u0) / math.log(u1 / u0)
    return None


def _row(each: Erased, plain: Erased, errors: dict[str, Any], limit: float | None) -> dict[str, Any]:
    stress = _stress(each, plain).value
    return {
        "load": each.load,
        "design": each.design,
        "scheme": DESIGNS[each.design].request["scheme"],
        "suspends_asked": each.asked,
        "suspends_mean": each.mean("suspends"),
        "loops_mean": each.mean("loops"),
        "erase_ms_mean": each.mean("own_us") / 1e3,
        "elapsed_ms_mean": each.mean("end_us") / 1e3,
        "passed": all(block["passed"] for block in each.blocks),
        "stress_ratio": stress,
        "deeper_steps": _deeper(each.blocks, plain.blocks),
        "deeper_counted_steps": _deeper(each.counted, plain.counted),
        "effective_cycles": RATED * stress,
        "rber": errors["rber"],
        "uber": errors["uber"],
        "lifetime_cycles": None if limit is None else limit / stress,
    }


def _measured(file: PartFile, tester: Tester, plain: Erased) -> PartFile:
    """The part file: erase parameters of a block at its rated cycles."""
    sample = (
        f"characterize erase, cells {tester.preset}, {len(plain.blocks)} blocks of {RATED} cycles, seed {tester.seed}"
    )
    loops = round(plain.mean("loops"))
    file.measured("erase-loops", loops, f"{sample}: mean {plain.mean('loops'):.4g}")
    return file


def _notes() -> list[str]:
    worst = f"the worst page type, calibrated reads, {RETENTION_HOURS} h at {CELSIUS} degrees C"
    return [
        "wear is taken to be the erase's: a block that was under erase voltage for twice the time wore like two cycles",
        "errors are counted on 8 word lines of a block that wore so, whatever --word-lines and --cells say",
        f"errors: {worst}, {CORRECTS_PER_KIB} bits corrected in a KiB",
        f"lifetime: cycles until one bit in {1 / UBER_LIMIT:.0e} read is uncorrectable",
        "deeper_counted: of a part with a fixed number of loops; otherwise the first verify that passes ends the erase",
    ]


def _draw(table: list[dict[str, Any]]) -> Figure:
    figure, axes = panels(1, 3, width=4.6, height=3.4)
    names = list(dict.fromkeys(row["load"] for row in table[1:]))
    designs = {key: design.label for key, design in DESIGNS.items() if key != "baseline"}
    shown = [
        ("stress_ratio", "time under erase voltage, of an undisturbed erase"),
        ("deeper_counted_steps", "deeper erased, steps (fixed number of loops)"),
        ("lifetime_cycles", "cycles until UBER reaches 1e-16"),
    ]
    for axis, (key, title) in zip(axes, shown, strict=True):
        bars = {name: [row[key] or 0.0 for row in table if row["design"] == each] for each, name in designs.items()}
        grouped(axis, names, bars, 0.15)
        axis.set_title(title)
    logarithmic(axes[0], y=True)
    logarithmic(axes[2], y=True)
    legend_outside(figure, axes[0], columns=6)
    return figure


def _draw_uber(effective: list[dict[str, Any]], table: list[dict[str, Any]]) -> Figure:
    """Errors against cycles, with marks for the designs after the rated cycles under fio."""
    figure, (axis,) = panels(1, 1, width=6.0, height=4.0)
    points = [row for row in effective if row["uber"] > 0]
    axis.plot(
        [row["cycles"] for row in points], [row["uber"] for row in points], color=COLOURS[0], marker="o", markersize=3
    )
    for index, row in enumerate([row for row in table if row["load"] in ("none", "fio") and row["uber"] > 0]):
        label = (
            f"{DESIGNS[row['design']].label}: {RATED} erases under fio" if row["load"] == "fio" else f"{RATED} erases"
        )
        # Nested markers: designs without wear coincide.
        style: dict[str, Any] = {
            "marker": "o",
            "markersize": 16 - 2.5 * index,
            "fillstyle": "none",
            "markeredgewidth": 1.6,
        }
        axis.plot(row["effective_cycles"], row["uber"], linestyle="", color=COLOURS[index + 1], label=label, **style)
    axis.axhline(UBER_LIMIT, color="#222222", linewidth=0.8, linestyle="--", label="limit of JESD218, enterprise")
    axis.set_yscale("log")
    axis.set(xlabel="undisturbed cycles, or as many as the stress is worth", ylabel="uncorrectable bit error rate")
    # The lower right is free: the curve rises early and stays up.
    axis.legend(loc="lower right", labelspacing=0.9)
    return figure
