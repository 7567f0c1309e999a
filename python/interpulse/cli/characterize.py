"""`interpulse characterize` command."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interpulse.cli.exit_codes import UserError
from interpulse.cli.options import AllRows, set_option
from interpulse.cli.studies import Wanted, run_studies, show_entries, study_options
from interpulse.configuration.config import parse_set
from interpulse.flash.parts import figures

if TYPE_CHECKING:
    from interpulse.characterize.registry import Kind

EPILOG = """\
Examples:

  interpulse characterize --list

  interpulse characterize suspend --quick

  interpulse characterize suspend --scheme exact --out exact --json

  interpulse characterize suspend --on tcp://scheduler:8786

docs/CHARACTERIZE.md describes what each kind measures. The folder holds tables, plots and part.toml, the part file \
for a configuration: [part] file = "part.toml". Completed jobs are stored in the cache folder: after Ctrl-C the same \
command continues from there."""

PREFIXES = ("cell.", "part.")
"""Prefixes of the keys of `--set` on the tester."""

CELLS_DECIDE = ("part.program-loops", "part.program-loops-sd", "part.erase-loops")
"""Figures that the tester measures instead of taking them from a part file."""

LABELS = ("part.file", "part.name")


class Poll(StrEnum):
    """Detector of the end of a program."""

    HOST = "host"
    DEVICE = "device"


@study_options(
    quick="Rougher figures in half a minute; the same shape, fewer cells, 3 seeds.",
    out="The folder for tables, plots and the part.",
    default="interpulse-characterize-KIND, and none with --json",
)
def characterize(
    kind: Annotated[
        str | None, typer.Argument(metavar="KIND", help="What to characterize; --list has the kinds.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the kinds instead.")] = False,
    preset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The preset of the cells.", show_default="the kind's, see --list"),
    ] = None,
    sets: Annotated[list[str] | None, set_option("Override cell.KEY or part.KEY; may be repeated.")] = None,
    part: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A part file over the part of the cells; --set overrides both."),
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="suspend: a scheme of `interpulse list schemes`.", show_default="loop-boundary"
        ),
    ] = None,
    poll: Annotated[
        Poll | None,
        typer.Option(
            help="suspend: detector of the end of a program: the host after a delay, or the device at once.",
            case_sensitive=False,
            show_default="host",
        ),
    ] = None,
    compensation: Annotated[
        float | None,
        typer.Option(
            metavar="STEPS",
            min=0.0,
            max=1.0,
            help="suspend: fall of the program voltage at a resume per e-fold of the suspended time, in steps of it.",
            show_default="0",
        ),
    ] = None,
    word_lines: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=2**20, help="Word lines of the sample.", show_default="the kind's"),
    ] = None,
    cells: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=2**20, help="Cells of a word line.", show_default="the kind's, fewer with --quick"
        ),
    ] = None,
    all_: AllRows = False,
    *,
    wanted: Wanted,
) -> int:
    """Measure simulated cells on a chip tester and write the part file of a drive."""
    from interpulse.characterize.registry import KINDS, find

    if list_:
        if kind is not None:
            raise UserError(f"--list takes no kind, got '{kind}'")
        show_entries("kinds", ("name", "summary", "source", "quick", "full", "preset"), KINDS, json=wanted.json)
        return 0
    if kind is None:
        raise UserError("what to characterize? `interpulse characterize --list` has the kinds")
    chosen = find(kind)
    given = {
        "scheme": scheme,
        "poll": poll and poll.value,
        "compensation": compensation,
        "word_lines": word_lines,
        "cells": cells,
    }
    settings, overrides, stated = _settings(chosen, given), _overrides(sets or []), _part(part)
    onto = [(f"part.{key}", value) for key, (value, _) in stated.items() if f"part.{key}" not in CELLS_DECIDE]
    return run_studies(
        [chosen],
        wanted,
        every=all_,
        preset=preset,
        sets=onto + overrides,
        settings=settings,
        part="" if part is None else str(part),
        given=stated,
        overrides=tuple(overrides),
    )


def _settings(kind: Kind, given: dict[str, Any]) -> dict[str, Any]:
    """The given options; rejects one that the kind does not have."""
    settings = {key: value for key, value in given.items() if value is not None}
    for key in settings:
        if key not in kind.takes:
            raise UserError(f"--{key.replace('_', '-')} does not apply to characterize {kind.name}")
    return settings


def _part(path: Path | None) -> dict[str, tuple[str, str]]:
    """Values of a part file with their sources, by key of the section `[part]`."""
    if path is None:
        return {}
    found = {}
    for entry in figures(str(path)):
        if entry.key not in LABELS and entry.value != "not set" and entry.origin != "default":
            place, _, source = entry.origin.partition(" (")
            found[entry.key.removeprefix("part.")] = (entry.value, source.removesuffix(")") or place)
    return found


def _overrides(texts: list[str]) -> list[tuple[str, str]]:
    """Keys and values of `--set`."""
    overrides = [parse_set(text) for text in texts]
    for key, value in overrides:
        if not key.startswith(PREFIXES):
            raise UserError(f"--set {key}={value}: on the tester keys begin with {' or '.join(PREFIXES)}")
    return overrides
