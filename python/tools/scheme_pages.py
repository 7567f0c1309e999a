"""Generator of diagrams, costs and tables in docs/schemes (`make golden`).

The prose of the pages is written by hand; diagrams and blocks between the marks `figures:begin` and `figures:end` are
generated. A test compares them with the program.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import partial_erase_page
from generated import with_blocks

import interpulse
from interpulse.configuration.lists import listed
from interpulse.flash.die import INSTANTS, Costs, Die, Timeline, waited_ns
from interpulse.plotting.die_diagram import to_bytes
from interpulse.runs.runner import run
from interpulse.studies.pool import CellJob

OTHERS = ("limits", "erase-methods", "compensation", "read-retry", "multi-block-erase", "partial-erase")
"""Pages that are of no scheme."""

FOLDER = Path(__file__).parent.parent.parent / "docs" / "schemes"


@dataclass(frozen=True)
class Example:
    """Operation and part of a page's example."""

    part: str
    operation: str
    sets: tuple[tuple[str, str], ...] = ()
    reads: tuple[str, ...] = ()
    """Arrival times of reads in us; the default is the two reads of `interpulse scheme`."""


USUAL = Example("a4-tlc", "program")
"""The default example."""

EXAMPLES = {
    "ideal": Example("atc19-ll", "erase"),
    "inter-phase": Example("fast12-mlc", "program"),
    "intra-phase-cancel": Example("fast12-mlc", "program"),
    "pulse-remainder": Example("fast12-mlc", "erase"),
    "exact": Example("atc19-ll", "erase", (("suspend.erase.resume-ramp", "200us"),)),
    "immediate": Example("atc19-ll", "erase"),
    "deferred": Example("atc19-ll", "erase"),
    "safe-points": Example(
        "a4-tlc",
        "erase",
        (("part.erase-loops", "1"), ("part.erase-pulse", "3.4ms"), ("part.erase-verify", "100us")),
        ("700", "3450"),
    ),
    "adaptive": Example(
        "atc19-ll",
        "erase",
        (("suspend.erase.point-interval", "300us"),),
        ("700", "1950"),
    ),
    "sliced": Example(
        "a4-tlc",
        "program",
        (("part.suspend-support", "none"), ("suspend.program.slice-loops", "4")),
        ("300", "1600"),
    ),
    "timeout": Example("atc19-ll", "erase", (("suspend.erase.defer-after", "2ms"),), ("1500", "4200")),
}
"""Examples from the publications of the schemes."""

COMPARED = (
    Example("fast12-mlc", "program"),
    Example("a4-tlc", "program"),
    Example("fast12-mlc", "erase"),
    Example("atc19-ll", "erase"),
)
"""Examples on which the index compares all schemes."""

INDEX = re.compile(r"^<!-- index: (.+) \| (.+) \| (.+) -->$", re.MULTILINE)
"""Index entry of a page: where the scheme stops, what is lost, whether it can starve its operation."""

PARTS = {
    "read": "the read itself, on the die",
    "discharge": "discharge of the word lines",
    "entry": "entry",
    "again": "pulses and verifies done again",
    "ramp": "ramp",
    "reload": "reload of the page buffer",
    "resume": "resume",
}

EVERY_200_US = tuple(range(300_000, 4_300_000, 200_000))
"""Twenty arrivals, one every 200 us."""

COMPENSATIONS = ("0", "0.1", "0.3", "1")
"""Falls of the program voltage to compare, in steps per e-fold."""

BOOSTS = ("0", "12")
"""Rises of the pulse after a rest, in steps of the threshold voltage per e-fold: of the presets, and an assumed one."""

DELAY = 0.1
"""Time from the resume to the next read of the programs of cells, as a fraction of the program time."""

CELLS_COMPENSATIONS = ("0", "0.19", "0.38")
"""Falls of the program voltage to compare on cells."""

WORD_LINES, CELLS = 32, 131_072
"""The sample of cells."""

COMPENSATED_READS = (300_000, 700_000, 1_100_000, 1_500_000)
"""Arrivals of the reads of the diagram of a compensated program."""

METHODS = ("ispe", "aero")
"""Erase methods, compared on the erase of `safe-points`."""

AGES = ("1h", "30d", "180d")
"""Ages of the data of a page to read."""

RETRIES = {
    "regular": (),
    "pipelined": (("ecc.retry", "pipelined"),),
    "on-die": (("ecc.retry", "on-die"), ("ecc.retry-missed", "0"), ("ecc.retry-needless", "0")),
}
"""Read retries to compare, without chance."""

AGED = FOLDER.parent.parent / "examples" / "aged.toml"
"""Drive whose reads are retried."""

RETRIED = ("aged", "pr2-ar2", "on-die")
"""Its cases with different read retries."""

GROUPS = ("1", "2", "4", "8")
"""Blocks of an erase to compare."""

MULTI_BLOCK_DRIVE: dict[str, Any] = {
    "config_version": 1,
    "drive": "atc19-mini",
    "seed": 1,
    "geometry": {"channels": 2, "chips-per-channel": 2},
    "precondition": {"fill": "99%", "overwrite": "uniform"},
    "run": {"warmup-requests": 100_000, "requests": 200_000},
    "flow": [{"name": "mixed", "depth": 16, "read": "50%"}],
}
"""The drive on which they are compared."""

_MEASURED = (("read", "mean"), ("read", "p99.9"), ("write", "p99.9"))

LIMITS: tuple[tuple[tuple[str, str], ...], ...] = (
    (),
    (("max-suspends", "3"),),
    (("tier-suspends", "[2,2]"), ("tier-intervals", "['200us','400us']")),
    (("min-interval", "300us"),),
    (("min-remaining", "1ms"),),
    (("min-loops-left", "5"),),
    (("max-suspended-time", "400us"),),
    (("timeout", "800us"),),
    (("resume", "batch"),),
    (("resume", "timer"), ("resume-after", "300us")),
    (("reload", "bus"),),
    (("for-host-reads", "false"),),
)
"""Limits to compare on one program under `loop-boundary`, without the prefix `suspend.program.`."""


def schemes() -> list[str]:
    """The names of the registry."""
    return [each["name"] for each in listed()["schemes"]]


def example(name: str) -> tuple[Die, list[int]]:
    """Die and read arrivals of the example of a scheme."""
    shown = EXAMPLES.get(name, USUAL)
    die = Die(shown.part, shown.operation, name, shown.sets)
    return die, [int(us) * 1000 for us in shown.reads] or die.two_reads()


def diagram(name: str) -> bytes:
    """The timing diagram of a scheme as SVG."""
    die, reads = example(name)
    return to_bytes(die, die.run(reads), "svg")


def command(name: str) -> str:
    """Command line that draws the same diagram."""
    shown = EXAMPLES.get(name, USUAL)
    options = [f"--part {shown.part} --operation {shown.operation}"]
    options += [f"--set {key}={value}" for key, value in shown.sets]
    options += [f"--read-at {us}us" for us in shown.reads]
    return f"interpulse scheme {name} {' '.join(options)} --out {name}.svg"


def scheme_block(name: str) -> str:
    """Generated block of the page of a scheme."""
    die, _ = example(name)
    costs = die.costs()
    lines = [
        f"![{name}: {_one(die.operation).lower()} on a die of {die.part}]({name}.svg)",
        "",
        f"    {command(name)}",
        "",
        f"What it costs there: the {die.operation} takes {_us(die.alone_ns)} us when nothing stops it,",
        f"a read {_us(die.read_alone_ns)} us on an idle die.",
        f"One read arrives at each of {INSTANTS} evenly spread instants of the {die.operation}, a run for each.",
        "",
        "| | us |",
        "|---|---:|",
        f"| a read waits, mean | {_us(costs.wait_mean_ns)} |",
        f"| a read waits, worst | {_us(costs.wait_worst_ns)} |",
    ]
    if costs.suspended:
        lines.append(f"| a suspended {die.operation} takes longer by, mean | {_us(costs.longer_ns)} |")
        lines += [f"| of that: {PARTS[what]} | {_us(ns)} |" for what, ns in costs.parts_ns.items() if ns]
    share = 100 * costs.suspended / INSTANTS
    return "\n".join([*lines, "", f"{share:.0f} % of the reads suspended the {die.operation}.", ""])


def index_block() -> str:
    """Table of all schemes with the index entries of their pages.

    Raises:
        ValueError: a page has no index entry.
    """
    lines = ["| scheme | where it stops | what is lost | can it starve its operation? |", "|---|---|---|---|"]
    for name in schemes():
        entry = INDEX.search((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
        if entry is None:
            raise ValueError(f"docs/schemes/{name}.md has no line <!-- index: stops where | loses what | starves? -->")
        lines.append(f"| [`{name}`]({name}.md) | {' | '.join(entry.groups())} |")
    return "\n".join([*lines, ""])


def comparison_block(of: Example) -> str:
    """Table of all schemes on one operation of one part."""
    alone = Die(of.part, of.operation, "none")
    lines = [
        f"### {_one(of.operation)} of {_us(alone.alone_ns)} us on `{of.part}`, a read of {_us(alone.read_alone_ns)} us",
        "",
        "| scheme | a read waits, mean us | worst us | overhead of a suspension, us | of that done again |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in schemes():
        costs = Die(of.part, of.operation, name).costs()
        figures = [_us(costs.wait_mean_ns), _us(costs.wait_worst_ns), *_overhead(costs)]
        lines.append(f"| [`{name}`]({name}.md) | {' | '.join(figures)} |")
    return "\n".join([*lines, ""])


def _overhead(costs: Costs) -> list[str]:
    """Additional time of the operation without the read itself, and the repeated share of it."""
    if not costs.suspended:
        return ["-", "-"]
    return [_us(costs.longer_ns - costs.parts_ns["read"]), _us(costs.parts_ns["again"])]


def _method_die(method: str, scheme: str) -> Die:
    of = EXAMPLES["safe-points"]
    return Die(of.part, of.operation, scheme, (*of.sets, ("erase.method", method)))


def methods_block() -> str:
    """Diagram of an adapted erase, and what reads wait for under each method without and with suspension."""
    lines = [
        "![aero: an erase of a fresh block](erase-methods.svg)",
        "",
        "A fresh block of loops of 3.5 ms, and a read at each of many instants:",
        "",
        "| method | scheme | the erase takes, us | a read waits, mean us | worst us |",
        "|---|---|---:|---:|---:|",
    ]
    for scheme in ("none", "deferred", "safe-points"):
        for method in METHODS:
            die = _method_die(method, scheme)
            costs = die.costs()
            figures = [_us(die.alone_ns), _us(costs.wait_mean_ns), _us(costs.wait_worst_ns)]
            lines.append(f"| `{method}` | [`{scheme}`]({scheme}.md) | {' | '.join(figures)} |")
    return "\n".join([*lines, ""])


def methods_diagram() -> bytes:
    """The timing diagram of an adapted erase with two reads, as SVG."""
    die = _method_die("aero", "deferred")
    return to_bytes(die, die.run([700_000, 1_500_000]), "svg")


def _erase_of(blocks: str, scheme: str) -> Die:
    return Die("atc19-ll", "erase", scheme, (("erase.blocks-per-operation", blocks),))


def multi_block_block() -> str:
    """Diagram of an erase of four blocks, and what erases of several blocks take and let reads wait."""
    options = "--part atc19-ll --operation erase --set erase.blocks-per-operation=4 --read-at 1960us --read-at 3860us"
    lines = [
        "![an erase of four blocks of atc19-ll under adaptive](multi-block-erase.svg)",
        "",
        f"    interpulse scheme adaptive {options} --out multi-block-erase.svg",
        "",
        "Erases of `atc19-ll`, each block verified on its own, and a read at each of many instants:",
        "",
        "| blocks | the erase takes, us | of one block, us | scheme | a read waits, mean us | worst us |",
        "|---:|---:|---:|---|---:|---:|",
    ]
    for blocks in GROUPS:
        for scheme in ("none", "deferred", "adaptive"):
            die = _erase_of(blocks, scheme)
            costs = die.costs()
            figures = [_us(die.alone_ns), _us(die.alone_ns / int(blocks)), f"[`{scheme}`]({scheme}.md)"]
            figures += [_us(costs.wait_mean_ns), _us(costs.wait_worst_ns)]
            lines.append(f"| {blocks} | {' | '.join(figures)} |")
    return "\n".join([*lines, ""])


def multi_block_diagram() -> bytes:
    """The timing diagram of an erase of four blocks with two reads, as SVG."""
    die = _erase_of("4", "adaptive")
    return to_bytes(die, die.run([1_960_000, 3_860_000]), "svg")


def multi_block_drive_block() -> str:
    """Table of a drive that erases several blocks at once."""
    cases = [(blocks, scheme) for blocks in GROUPS for scheme in ("none", "deferred", "adaptive")]
    sets = [[f"erase.blocks-per-operation={blocks}", f"suspend.erase.scheme={scheme}"] for blocks, scheme in cases]
    named = [{"name": " ".join(case), "set": each} for case, each in zip(cases, sets, strict=True)]
    lines = [
        "Four dies of `atc19-ll`, half of the requests of 4 KiB reads, 16 outstanding:",
        "",
        "| blocks | scheme | kIOPS | read mean, us | read p99.9, us | write p99.9, us | blocks of an erase |",
        "|---:|---|---:|---:|---:|---:|---:|",
    ]
    for (blocks, scheme), found in zip(cases, run({**MULTI_BLOCK_DRIVE, "case": named}).cases, strict=True):
        nand, latency = found.counters["nand"], found.latency_us
        figures = [f"[`{scheme}`]({scheme}.md)", f"{found.iops / 1e3:.1f}"]
        figures += [_us(1e3 * latency[kind][of]) for kind, of in _MEASURED]
        figures.append(f"{nand['erases'] / (nand['erases'] - nand['multi_block_erases']):.1f}")
        lines.append(f"| {blocks} | {' | '.join(figures)} |")
    return "\n".join([*lines, ""])


def _compensated(fall: str) -> Die:
    return Die("a4-tlc", "program", "loop-boundary", (("suspend.program.compensation", fall),))


def _loops(run: Timeline) -> int:
    """Loops of a program that stops at their ends; a request to stop divides the phase in which it arrives."""
    phases = [phase.what for phase in run.phases]
    return sum(what == "verify" != after for what, after in zip(phases, [*phases[1:], ""], strict=True))


def compensation_block() -> str:
    """Diagram of a compensated program, and its length under several falls of the voltage."""
    sets = "--set suspend.program.compensation=1"
    reads = " ".join(f"--read-at {at // 1000}us" for at in COMPENSATED_READS)
    lines = [
        "![a program of a4-tlc, compensated after each of four suspensions](compensation.svg)",
        "",
        f"    interpulse scheme loop-boundary {sets} {reads} --out compensation.svg",
        "",
        "Twenty reads, every 200 us from 300 us on, under `loop-boundary`; reads after the program do not wait:",
        "",
        "| `compensation` | suspensions | loops | reads wait, mean us | worst us | the program takes, us |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for fall in COMPENSATIONS:
        die = _compensated(fall)
        run = die.run(EVERY_200_US)
        waits = [waited_ns(die, read) or 0 for read in run.reads]
        figures = [
            str(run.suspends),
            str(_loops(run)),
            _us(sum(waits) / len(waits)),
            _us(max(waits)),
            _us(run.operations[0].done_ns or 0),
        ]
        lines.append(f"| {fall} | {' | '.join(figures)} |")
    return "\n".join([*lines, ""])


def _word_lines(boost: str, fall: str, tpgm_us: float | None) -> list[dict[str, Any]]:
    """Programs of word lines, suspended if their unsuspended time is given."""
    delays = {} if tpgm_us is None else {"delay1": DELAY, "delay2": DELAY, "tpgm_us": tpgm_us}
    sets = [("cell.detrapping.boost", boost)]
    shape = {"page_type": "upper", "word_lines": WORD_LINES, "cells": CELLS, "compensation": float(fall)}
    request = {"seed": 1, "preset": "a4-tlc", "set": sets, **shape, **delays}
    found: list[dict[str, Any]] = CellJob("suspend", json.dumps(request)).answer()["word_lines"]
    return found


def cells_block() -> str:
    """Table of suspended programs of cells, with and without a stronger pulse after a rest."""
    alone = _word_lines("0", "0", None)
    tpgm_us = fmean(each["own_us"] for each in alone)
    lines = [
        "Upper pages of `a4-tlc` after programs that stop for a read after each tenth of the program time. A step",
        "of the program voltage is 32 steps of the threshold voltage: `compensation` 0.38 equals a",
        "`cell.detrapping.boost` of 12 steps per e-fold.",
        "",
        "| `boost` | `compensation` | suspensions | loops | errors per million bits | at the best levels |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    rows = [("-", "-", alone)]
    rows += [(boost, fall, _word_lines(boost, fall, tpgm_us)) for boost in BOOSTS for fall in CELLS_COMPENSATIONS]
    for boost, fall, found in rows:
        bits = sum(each["bits"] for each in found)
        errors = [1e6 * sum(each[f"errors_{at}"] for each in found) / bits for at in ("default", "calibrated")]
        means = [fmean(each[key] for each in found) for key in ("suspends", "loops")]
        figures = [*(f"{mean:.1f}" for mean in means), *(f"{rate:,.0f}" for rate in errors)]
        lines.append(f"| {boost} | {fall} | {' | '.join(figures)} |")
    return "\n".join([*lines, ""])


def compensation_diagram() -> bytes:
    """The timing diagram of a compensated program with four reads, as SVG."""
    die = _compensated("1")
    return to_bytes(die, die.run(COMPENSATED_READS), "svg")


def _aged(retry: str, age: str, scheme: str = "loop-boundary") -> Die:
    errors = (("errors.table", "tlc-3d"), ("errors.initial-age", age))
    return Die("a4-tlc", "program", scheme, (*errors, *RETRIES[retry]))


def retry_block() -> str:
    """Diagram of a read that its die repeats, and lengths of reads under each retry."""
    sets = " ".join(f"--set {key}={value}" for key, value in _aged("on-die", "30d").sets)
    lines = [
        "![on-die: a read of a page of 30 days within a program](read-retry.svg)",
        "",
        f"    interpulse scheme loop-boundary {sets} --read-at 700us --out read-retry.svg",
        "",
        "Errors are those of `tlc-3d` without cycles. A read alone on its die by the age of its data, the read of the",
        "diagram, and how much longer the program takes for it, in us:",
        "",
        f"| retry | {' | '.join(AGES)} | within the program, {AGES[1]} | the program longer by |",
        f"|---|{'---:|' * (len(AGES) + 2)}",
    ]
    for retry in RETRIES:
        figures = [_us(_aged(retry, age).read_alone_ns) for age in AGES]
        die = _aged(retry, AGES[1])
        run = die.run([700_000])
        read = run.reads[0]
        figures.append(_us((read.done_ns or 0) - read.arrived_ns))
        figures.append(_us((run.operations[0].done_ns or 0) - die.alone_ns))
        lines.append(f"| `{retry}` | {' | '.join(figures)} |")
    return "\n".join([*lines, ""])


def aged_block() -> str:
    """Table of the cases of an aged drive that differ in their read retry."""
    config = interpulse.Config.load(AGED)
    config.set("run.requests", "50000")
    lines = [
        "`examples/aged.toml` with 50,000 requests: 2,000 cycles, data of three months.",
        "",
        "| case | read mean, us | p99 | p99.9 | channels busy, % | sensings repeated by dies, of a page read |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for case in interpulse.run(config, no_cache=True).cases:
        if case.case in RETRIED:
            tails = [_us(1000 * case.percentile("read", each)) for each in (99, 99.9)]
            mean = _us(1000 * case.latency_us["read"]["mean"])
            busy = f"{100 * case.raw['limits']['utilization']['channels']['mean']:.1f}"
            again = case.raw["reliability"].get("on_die_sensings_mean", 0.0)
            lines.append(f"| `{case.case}` | {mean} | {' | '.join(tails)} | {busy} | {again:.3f} |")
    return "\n".join([*lines, ""])


def retry_diagram() -> bytes:
    """The timing diagram of a read that its die repeats within a suspended program, as SVG."""
    die = _aged("on-die", "30d")
    return to_bytes(die, die.run([700_000]), "svg")


def limits_block() -> str:
    """Table of one program under `loop-boundary` with twenty reads, without and with limits."""
    lines = [
        "| `--set suspend.program.`... | suspensions | reads wait, mean us | worst us | the program takes, us |",
        "|---|---:|---:|---:|---:|",
    ]
    for sets in LIMITS:
        keys = [(f"suspend.program.{key}", value) for key, value in sets]
        die = Die("a4-tlc", "program", "loop-boundary", keys)
        run = die.run(EVERY_200_US)
        waits = [waited_ns(die, read) or 0 for read in run.reads]
        figures = [
            str(run.suspends),
            _us(sum(waits) / len(waits)),
            _us(max(waits)),
            _us(run.operations[0].done_ns or 0),
        ]
        label = " ".join(f"`{key}={value}`" for key, value in sets) or "no limit"
        lines.append(f"| {label} | {' | '.join(figures)} |")
    return "\n".join([*lines, ""])


def blocks_of(page: str) -> list[str]:
    """Generated blocks of a page, by its name without `.md`."""
    if page == "README":
        return [index_block(), "\n".join(comparison_block(of) for of in COMPARED)]
    if page == "read-retry":
        return [retry_block(), aged_block()]
    if page == "compensation":
        return [compensation_block(), cells_block()]
    if page == "multi-block-erase":
        return [multi_block_block(), multi_block_drive_block()]
    if page == "partial-erase":
        return partial_erase_page.blocks()
    other = {"limits": limits_block, "erase-methods": methods_block}.get(page)
    return [scheme_block(page) if other is None else other()]


def main() -> None:
    """Writes diagrams and generated blocks."""
    for name in schemes():
        (FOLDER / f"{name}.svg").write_bytes(diagram(name))
    (FOLDER / "erase-methods.svg").write_bytes(methods_diagram())
    (FOLDER / "compensation.svg").write_bytes(compensation_diagram())
    (FOLDER / "partial-erase.svg").write_bytes(partial_erase_page.diagram())
    (FOLDER / "read-retry.svg").write_bytes(retry_diagram())
    (FOLDER / "multi-block-erase.svg").write_bytes(multi_block_diagram())
    for name in [*schemes(), "README", *OTHERS]:
        path = FOLDER / f"{name}.md"
        path.write_text(with_blocks(path.read_text(encoding="utf-8"), blocks_of(name)), encoding="utf-8")


def _one(operation: str) -> str:
    return "An erase" if operation == "erase" else "A program"


def _us(ns: float) -> str:
    us = ns / 1000
    return f"{us:,.0f}" if us >= 1000 else f"{us:,.1f}"


if __name__ == "__main__":
    main()
