"""`interpulse scheme` command."""

from __future__ import annotations

import json as json_text
import re
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from interpulse.cli.exit_codes import UserError
from interpulse.cli.options import Json, image_form, path_option, set_option
from interpulse.cli.output_streams import emit
from interpulse.configuration.config import parse_set
from interpulse.flash.die import LONGEST_NS, PULSES, READING, Die, Phase, Timeline, waited_ns
from interpulse.tables.format import grid
from interpulse.tables.layout import fill, terminal_width

EPILOG = """\
Examples:

  interpulse scheme immediate --part atc19-ll --operation erase

  interpulse scheme loop-boundary --read-at 500us --read-at 1.4ms --out loop.svg

  interpulse scheme exact --part atc19-ll --operation erase --set suspend.erase.resume-ramp=200us

  interpulse scheme loop-boundary --part mynand.toml

  interpulse scheme exact --operation erase --write-at 2ms --set suspend.erase.for-host-writes=true

`interpulse list schemes` names the schemes, `interpulse list parts` the parts; docs/schemes has their pages."""

_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_BAR_COLUMNS = 72


class Long(StrEnum):
    """Suspended operation."""

    PROGRAM = "program"
    ERASE = "erase"


def scheme(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A scheme of `interpulse list schemes`.")],
    operation: Annotated[
        Long,
        typer.Option(
            metavar="WHAT",
            help="The operation on the die when reads arrive: program or erase.",
            case_sensitive=False,
        ),
    ] = Long.PROGRAM,
    part: Annotated[
        str, typer.Option(metavar="PART", help="The part of the die: a preset, or a part file (.toml).")
    ] = "a4-tlc",
    read_at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIME",
            help="When a read arrives, such as 500us, counted from the arrival of the operation; may be repeated.",
            show_default="in an early pulse, then in a late verify",
        ),
    ] = None,
    write_at: Annotated[
        list[str] | None, typer.Option(metavar="TIME", help="When a program of host data arrives; may be repeated.")
    ] = None,
    sets: Annotated[
        list[str] | None, set_option("Override one setting, such as suspend.erase.max-suspends=1; may be repeated.")
    ] = None,
    out: Annotated[Path | None, path_option("FILE", "Draw the timing diagram into this .svg or .png.")] = None,
    json: Json = False,
) -> None:
    """Show how a suspension scheme stops a program or an erase: one die, single pulses, reads at chosen times.

    Prints the phases of the die, the wait of each read and the cost of each suspension.
    """
    form = "" if out is None else image_form("--out", out, "a diagram")
    if out is not None:
        from interpulse.plotting.plots import need_matplotlib

        need_matplotlib()
    reads = [_time("--read-at", text) for text in read_at or []]
    writes = [_time("--write-at", text) for text in write_at or []]
    die = Die(part, operation.value, name, [parse_set(text) for text in sets or []])
    if read_at is None and not writes:
        reads = die.two_reads()
    timeline = die.run(reads, writes)
    if out is not None:
        from interpulse.cli.out_folder import OutFolder
        from interpulse.plotting.die_diagram import to_bytes

        OutFolder.open(out.parent).store(out.name, to_bytes(die, timeline, form))
    emit(json_text.dumps(to_dict(die, timeline)) if json else render(die, timeline))


def to_dict(die: Die, timeline: Timeline) -> dict[str, Any]:
    """The timeline for `--json`; times are integer nanoseconds since the arrival of the operation."""
    return {
        "scheme": die.scheme,
        "operation": die.operation,
        "part": die.part,
        "set": dict(die.sets),
        "operation_alone_ns": die.alone_ns,
        "read_alone_ns": die.read_alone_ns,
        "suspends": timeline.suspends,
        "operations": [
            _known(
                kind=each.kind,
                arrived_ns=each.arrived_ns,
                done_ns=each.done_ns,
                waited_ns=waited_ns(die, each) if each.kind == "read" else None,
            )
            for each in timeline.operations
        ],
        "costs_ns": dict(_costs(timeline)),
        "phases": [
            _known(
                from_ns=phase.from_ns,
                to_ns=phase.to_ns,
                what=phase.what,
                operation=phase.operation or None,
                running_on=phase.running_on,
                again=phase.again,
            )
            for phase in timeline.phases
        ],
    }


def _known(**figures: object) -> dict[str, object]:
    """The figures without unknown ones."""
    return {name: figure for name, figure in figures.items() if figure is not None}


def render(die: Die, timeline: Timeline) -> str:
    """The timeline as text: a bar, the phases, the operations, the suspension costs."""
    head = (
        f"{die.scheme}: {die.operation} on a die of {die.part}, {_us(die.alone_ns)} us when nothing stops it; "
        f"a read of {_page(die)}: {_us(die.read_alone_ns)} us"
    )
    columns = ("from us", "to us", "takes us", "what")
    happened = grid(
        ([_us(from_ns), _us(to_ns), _us(to_ns - from_ns), what] for from_ns, to_ns, what in _rows(timeline)),
        columns,
        right=columns[:3],
    )
    fate = ("operation", "arrived us", "done us", "took us", "longer than alone us")
    became = []
    for k, each in enumerate(timeline.operations):
        alone = die.alone_ns if k == 0 else die.read_alone_ns if each.kind == "read" else None
        took = None if each.done_ns is None else each.done_ns - each.arrived_ns
        longer = None if took is None or alone is None else took - alone
        figures = [_us(figure) if figure is not None else "-" for figure in (each.done_ns, took, longer)]
        became.append([each.kind, _us(each.arrived_ns), *figures])
    fates = grid(became, fate, right=fate[1:])
    spent = ", ".join(f"{what} {_us(ns)}" for what, ns in _costs(timeline) if ns) or "nothing"
    width = terminal_width()
    foot = fill(f"suspensions: {timeline.suspends}; in us: {spent}", width)
    return "\n\n".join((fill(head, width), _bar(die, timeline, width), happened, fates, foot))


def _page(die: Die) -> str:
    """The page type that the reads of a die have; one with a single type has no name for it."""
    return f"its {die.page_type} page" if die.page_type else "a page"


def _costs(timeline: Timeline) -> list[tuple[str, int]]:
    """Times of stops and suspensions by kind."""
    parts = [("ran-on", timeline.ran_on_ns)]
    parts += [(what, timeline.spent_ns(what)) for what in ("discharge", "entry", "hold", "reload", "resume", "ramp")]
    return [*parts, ("again", timeline.again_ns)]


def _rows(timeline: Timeline) -> list[tuple[int, int, str]]:
    """The phases, with those of a read or of a train of pulses merged."""
    rows: list[tuple[int, int, str]] = []
    for phase in timeline.phases:
        label = _label(phase)
        # A read starts with its command, before its sensing.
        if rows and (rows[-1][2] == label or (rows[-1][2] == "command" and label == "read")):
            rows[-1] = (rows[-1][0], phase.to_ns, label)
        else:
            rows.append((phase.from_ns, phase.to_ns, label))
    return rows


def _label(phase: Phase) -> str:
    if phase.what in READING:
        return "read"
    if phase.what not in PULSES:
        return phase.what
    notes = ["runs on to the stop"] * phase.running_on + ["done again"] * phase.again
    return f"{phase.operation} pulses" + (f" ({', '.join(notes)})" if notes else "")


def _bar(die: Die, timeline: Timeline, width: int) -> str:
    """The timeline in one line; a column with several phases shows the rarest."""
    end = max(phase.to_ns for phase in timeline.phases) if timeline.phases else 1
    length = min(width, _BAR_COLUMNS)
    columns = [(0, ".")] * length
    for phase in timeline.phases:
        other = phase.operation not in (None, die.operation) and phase.what in PULSES | {"load"}
        mark = (3, "P") if other else _mark(phase)
        first = phase.from_ns * length // end
        last = max(first + 1, -(-phase.to_ns * length // end))
        for column in range(first, min(last, length)):
            columns[column] = max(columns[column], mark)
    key = {
        "L": "load",
        "=": "pulses",
        ">": "runs on",
        "~": "done again",
        "P": "program in the suspended erase",
        "s": "enters, leaves or holds",
    }
    key["R"] = "read"
    line = "".join(mark for _, mark in columns)
    return f"{line}\n{fill(', '.join(f'{mark} {name}' for mark, name in key.items() if mark in line), width, hang='')}"


def _mark(phase: Phase) -> tuple[int, str]:
    if phase.what in READING:
        return 6, "R"
    if phase.what in PULSES:
        return (3, ">") if phase.running_on else (4, "~") if phase.again else (1, "=")
    return {"load": (2, "L"), "command": (1, "="), "idle": (0, "."), "bus": (0, ".")}.get(phase.what, (5, "s"))


def _us(ns: int) -> str:
    """Exact microseconds."""
    return f"{Decimal(ns) / 1000:,f}"


def _time(option: str, text: str) -> int:
    """A time with its unit in ns."""
    match = re.fullmatch(r"(\d{1,12}(?:\.\d{1,9})?) ?(ns|us|ms|s)", text.strip())
    if match is None:
        raise UserError(f"{option} '{text}': a time is a number with its unit (ns, us, ms or s), such as 100us")
    ns = Decimal(match[1]) * _UNITS[match[2]]
    if ns != int(ns):
        raise UserError(f"{option} '{text}': a time is a whole number of nanoseconds")
    if ns > LONGEST_NS:
        raise UserError(f"{option} '{text}': at most {LONGEST_NS // _UNITS['s']}s")
    return int(ns)
