"""`interpulse part` command: part files from the lines of a data sheet."""

from __future__ import annotations

import json as json_text
import re
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.models import OptionInfo

from interpulse._core import ConfigError
from interpulse.cli.exit_codes import UserError
from interpulse.cli.options import Json, with_options
from interpulse.cli.output_streams import emit, say
from interpulse.configuration.config import Config, parse_set
from interpulse.flash.datasheet import ASSUMED, LOOPS, PRINTED, check_density, density, part_file, part_values
from interpulse.flash.parts import figures, is_file
from interpulse.tables.format import grid

EPILOG = """\
Examples:

  interpulse part new mynand --tr 60us --tprog 700us --tbers 5ms --pages 2304 --blocks 1400 --planes 4 --page-size \
16KiB --bits tlc

  interpulse part new typical --typical

  interpulse part show mynand.toml

  interpulse scheme loop-boundary --part mynand.toml

A configuration takes the file with `[part] file = "mynand.toml"`. docs/PARTS.md describes data sheets."""

MINIATURE = 'drive = "a4-mini"\n[precondition]\nfill = "100%"\noverwrite = "uniform"\n[run]\nrequests = 1\n[[flow]]\n'
"""The drive of examples/small.toml."""
FEW_BLOCKS = (32, 48, 64, 96, 160, 256, 512, 1024)
"""Blocks per plane of a miniature, in the order of trying."""

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})


@app.callback(epilog=EPILOG)
def part() -> None:
    """Write and show part files of flash, from the lines of a data sheet."""


PartName = Annotated[
    str, typer.Argument(metavar="PART", help="A name of `interpulse list parts`, or a file that ends in .toml.")
]


_METAVARS = {"tr": "TIME[,TIME]", "tprog": "TIME", "tbers": "TIME", "page_size": "SIZE", "bits": "CELLS"}
"""Metavariables of data sheet lines that are not plain numbers."""

_FURTHER = {
    "program_loops": ("N", "Loops of a program.", f"{', '.join(map(str, LOOPS.values()))} for 1 to 5 bits"),
    "program_verify": ("TIME", "All verifies of a program loop.", "a share of the loop"),
    "erase_loops": ("N", "Loops of an erase of a fresh block.", "about 5"),
    "erase_verify": ("TIME", "Verify of an erase loop.", "100us"),
    "program_suspend_entry": ("TIME", "From a legal stop of a program to a read.", "20us"),
    "program_resume": ("TIME", "From the resume command to progress.", "5us"),
    "erase_suspend_entry": ("TIME", "From a legal stop of an erase to a read.", "100us"),
    "erase_resume": ("TIME", "From the resume command to progress.", "5us"),
    "bus_rate": ("RATE", "Bus transfers per second.", "1.2GT/s"),
    "endurance": ("N", "Rated program/erase cycles.", "by bits per cell"),
}
_CHECKED = {"density": ("SIZE", "Density of a die, such as 512Gb: other geometry is refused.", "")}
"""Lines that are compared with the others only."""

"""Further figures with an option: metavariable, help, and the assumption without it."""


def _options() -> dict[str, tuple[Any, Any]]:
    """Options of all figures."""
    every = {line: (_METAVARS.get(line, "N"), f"Data sheet: {what}.", "") for line, what in PRINTED.items()}
    every |= _FURTHER | _CHECKED
    return {
        name: (Annotated[str | None, _figure(metavar, text, assumed)], None)
        for name, (metavar, text, assumed) in every.items()
    }


def _figure(metavar: str, text: str, assumed: str) -> OptionInfo:
    default = f"assumed: {assumed}" if assumed else False
    option: OptionInfo = typer.Option(metavar=metavar, help=text, show_default=default)
    return option


def _given(options: dict[str, str | None]) -> dict[str, str]:
    return {name: text for name, text in options.items() if text is not None}


def _first_run(path: Path, shown: str) -> str:
    """The command of a first run: a miniature of as few blocks as the part allows, or why there is none."""
    why = ""
    for blocks in FEW_BLOCKS:
        try:
            Config.from_toml(MINIATURE).set("part.file", str(path)).set("part.blocks-per-plane", blocks).resolve()
        except ConfigError as error:
            why = why or str(error).partition(": ")[2]
            continue
        return f"interpulse run examples/small.toml --set part.file={shown} --set part.blocks-per-plane={blocks}"
    return f"a miniature drive of this part is not possible: {why}"


@app.command("new", epilog=EPILOG, no_args_is_help=True)
@with_options(_options(), "lines", _given)
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the part.")],
    lines: dict[str, str],
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Any other figure of the data sheet by its key of [part], such as layers=176; may be repeated.",
        ),
    ] = None,
    typical: Annotated[
        bool, typer.Option("--typical", help="Assume figures that are not given, and mark them in the file.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write.", show_default="NAME.toml")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write a part file from the lines of a data sheet: complete, commented, with a source on every figure.

    Figures that a data sheet does not print are assumed and marked in the file.
    """
    path = out if out is not None else Path(f"{name}.toml")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise UserError(f"NAME {name!r}: letters, digits, dots, dashes and underscores, at most 64")
    if path.suffix != ".toml":
        raise UserError(f"--out {path}: a part file is a file that ends in .toml")
    others = {key.replace("_", "-"): text for key, text in lines.items() if key in _FURTHER}
    for key, value in map(parse_set, sets or []):
        key = key.removeprefix("part.")  # noqa: PLW2901 - the same key
        if others.get(key, value) != value:
            raise UserError(f"--set {key}={value}: seen {key} = {others[key]} too; expected one of both")
        others[key] = value
    text = part_file(name, {line: lines[line] for line in PRINTED if line in lines}, others, typical=typical)
    if "density" in lines:
        check_density(lines["density"], part_values(text))
    if path.exists() and not force:
        raise UserError(f"{path}: exists already; --force replaces it")
    from interpulse.cli.out_folder import OutFolder

    OutFolder.open(path.parent).store(path.name, text.encode())
    # A die whose capacity is not that of the data sheet shows a wrong line at once.
    values = {entry.key.removeprefix("part."): entry.value for entry in figures(str(path))}
    say(f"wrote {path}: a die of {density(values)} (without spare areas); {_sources(text)}")
    shown = shlex.quote(str(path))
    emit(
        f'A configuration takes it as its part: [part] file = "{path}"\n'
        f"interpulse scheme loop-boundary --part {shown}\n" + _first_run(path, shown)
    )


@app.command("show")
def show(part: PartName, json: Json = False) -> None:
    """Print every figure of a part with its source."""
    entries = figures(part)
    if json:
        rows = [{"key": e.key, "value": e.value, "origin": e.origin, "doc": e.doc} for e in entries]
        emit(json_text.dumps(rows, ensure_ascii=False))
        return
    shown = ((e.key.removeprefix("part."), e.value, e.origin) for e in entries if e.value != "not set")
    emit(grid(shown, ("figure", "value", "source"), whole=("figure", "value")))


@app.command("check")
def check(part: PartName) -> None:
    """Check a part file: report all missing figures at once, and the assumed ones."""
    labels = ("part.file", "part.preset", "part.name")
    entries = [entry for entry in figures(part) if entry.value != "not set" and entry.key not in labels]
    assumed = [entry for entry in entries if f"({ASSUMED}" in entry.origin]
    emit(f"{part}: a part of {len(entries)} figures, {len(assumed)} of them assumed")
    for entry in assumed:
        emit(f"  {entry.key.removeprefix('part.')} = {entry.value}")
    if not is_file(part):
        say("a preset is always complete")


def _sources(text: str) -> str:
    """Numbers of figures by source."""
    every, assumed = text.count("source = "), text.count(f'source = "{ASSUMED}')
    return f"{every} figures, {every - assumed} from the data sheet, {assumed} assumed"
