"""`interpulse part`: parts of one's own, from the lines of a data sheet."""

from __future__ import annotations

import json as json_text
import re
from pathlib import Path
from typing import Annotated

import typer
from typer.models import OptionInfo

from interpulse.cli.exits import UserError
from interpulse.cli.options import Json
from interpulse.cli.streams import emit, say
from interpulse.config import parse_set
from interpulse.datasheet import ASSUMED, LOOPS, PRINTED, part_file
from interpulse.parts import figures, is_file
from interpulse.text import grid

EPILOG = """\
Examples:

  interpulse part new mynand --tr 60us --tprog 700us --tbers 5ms --pages 2304 --blocks 1400 --planes 4 --page-size \
16KiB --bits tlc

  interpulse part new typical --typical

  interpulse part show mynand.toml

  interpulse scheme loop-boundary --part mynand.toml

A configuration takes the file with `[part] file = "mynand.toml"`. docs/PARTS.md goes from a data sheet to a drive."""

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})


@app.callback(epilog=EPILOG)
def part() -> None:
    """Write and show flash parts of one's own, from the lines of a data sheet."""


PartName = Annotated[
    str,
    typer.Argument(
        metavar="PART", help="A name of `interpulse list parts`, or a file that ends in .toml.", show_default=False
    ),
]


def _printed(option: str, metavar: str) -> OptionInfo:
    made: OptionInfo = typer.Option(metavar=metavar, help=f"Data sheet: {PRINTED[option]}.", show_default=False)
    return made


def _further(metavar: str, help_: str, assumed: str) -> OptionInfo:
    made: OptionInfo = typer.Option(metavar=metavar, help=help_, show_default=f"assumed: {assumed}")
    return made


@app.command("new", epilog=EPILOG, no_args_is_help=True)
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the part is called.", show_default=False)],
    tr: Annotated[str | None, _printed("tr", "TIME[,TIME]")] = None,
    tprog: Annotated[str | None, _printed("tprog", "TIME")] = None,
    tbers: Annotated[str | None, _printed("tbers", "TIME")] = None,
    pages: Annotated[str | None, _printed("pages", "N")] = None,
    blocks: Annotated[str | None, _printed("blocks", "N")] = None,
    planes: Annotated[str | None, _printed("planes", "N")] = None,
    page_size: Annotated[str | None, _printed("page_size", "SIZE")] = None,
    bits: Annotated[str | None, _printed("bits", "CELLS")] = None,
    program_loops: Annotated[
        str | None, _further("N", "Loops of a program.", ", ".join(map(str, LOOPS.values())) + " for 1 to 4 bits")
    ] = None,
    program_verify: Annotated[
        str | None, _further("TIME", "All verifies of a program loop.", "a share of the loop")
    ] = None,
    erase_loops: Annotated[str | None, _further("N", "Loops of an erase of a fresh block.", "about 5")] = None,
    erase_verify: Annotated[str | None, _further("TIME", "Verify of an erase loop.", "100us")] = None,
    program_suspend_entry: Annotated[
        str | None, _further("TIME", "From a legal stop of a program to a read.", "20us")
    ] = None,
    program_resume: Annotated[str | None, _further("TIME", "From the resume command to progress.", "5us")] = None,
    erase_suspend_entry: Annotated[
        str | None, _further("TIME", "From a legal stop of an erase to a read.", "100us")
    ] = None,
    erase_resume: Annotated[str | None, _further("TIME", "From the resume command to progress.", "5us")] = None,
    bus_rate: Annotated[str | None, _further("RATE", "Bus transfers per second.", "1.2GT/s")] = None,
    endurance: Annotated[str | None, _further("N", "Rated program/erase cycles.", "by bits per cell")] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Any other figure of the data sheet by its key of [part], such as layers=176; may be repeated.",
            show_default=False,
        ),
    ] = None,
    typical: Annotated[
        bool, typer.Option("--typical", help="Assume what the data sheet does not say, and say so in the file.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write.", show_default="NAME.toml")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a part file from the lines of a data sheet: complete, commented, with a source on every figure.

    What a data sheet does not print is assumed, and the file says so figure by figure.
    """
    path = out if out is not None else Path(f"{name}.toml")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise UserError(f"NAME {name!r}: letters, digits, dots, dashes and underscores, at most 64")
    if path.suffix != ".toml":
        raise UserError(f"--out {path}: a part file is a file that ends in .toml")
    lines = {
        "tr": tr, "tprog": tprog, "tbers": tbers, "pages": pages, "blocks": blocks, "planes": planes,
        "page_size": page_size, "bits": bits,
    }  # fmt: skip
    further = {
        "program-loops": program_loops, "program-verify": program_verify, "erase-loops": erase_loops,
        "erase-verify": erase_verify, "program-suspend-entry": program_suspend_entry, "program-resume": program_resume,
        "erase-suspend-entry": erase_suspend_entry, "erase-resume": erase_resume, "bus-rate": bus_rate,
        "endurance": endurance,
    }  # fmt: skip
    others = [parse_set(text) for text in sets or []]
    further |= {key.removeprefix("part."): value for key, value in others}
    text = part_file(name, _given(lines), _given(further), typical=typical)
    if path.exists() and not force:
        raise UserError(f"{path}: is there already; --force writes over it")
    from interpulse.cli.outfolder import OutFolder

    OutFolder.open(path.parent).store(path.name, text.encode())
    say(f"wrote {path}: {_sources(text)}")
    emit(
        f'A configuration takes it as its part: [part] file = "{path}"\n'
        f"interpulse scheme loop-boundary --part {path}\n"
        f"interpulse run examples/small.toml --set part.file={path} --set drive.capacity=32GiB"
    )


@app.command("show")
def show(part: PartName, json: Json = False) -> None:
    """Print every figure of a part with where it comes from."""
    entries = figures(part)
    if json:
        rows = [{"key": e.key, "value": e.value, "origin": e.origin, "doc": e.doc} for e in entries]
        emit(json_text.dumps(rows, ensure_ascii=False))
        return
    shown = ((e.key.removeprefix("part."), e.value, e.origin) for e in entries if e.value != "not set")
    emit(grid(shown, ("figure", "value", "source"), whole=("figure", "value")))


@app.command("check")
def check(part: PartName) -> None:
    """Say whether a file is a part, all that is missing at once, and how much of it is assumed."""
    labels = ("part.file", "part.preset", "part.name")
    entries = [entry for entry in figures(part) if entry.value != "not set" and entry.key not in labels]
    assumed = [entry for entry in entries if f"({ASSUMED}" in entry.origin]
    emit(f"{part}: a part of {len(entries)} figures, {len(assumed)} of them assumed")
    for entry in assumed:
        emit(f"  {entry.key.removeprefix('part.')} = {entry.value}")
    if not is_file(part):
        say("a preset is always complete")


def _given(options: dict[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in options.items() if value is not None}


def _sources(text: str) -> str:
    """How many figures a part file has, and how many of them are assumed."""
    every, assumed = text.count("source = "), text.count(f'source = "{ASSUMED}')
    return f"{every} figures, {every - assumed} from the data sheet, {assumed} assumed"
