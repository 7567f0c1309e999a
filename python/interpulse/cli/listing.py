"""`interpulse list` command."""

from __future__ import annotations

import json as json_text
from enum import StrEnum
from typing import Annotated, Any

import typer

from interpulse.cli.exit_codes import UserError
from interpulse.cli.options import Json
from interpulse.cli.output_streams import emit
from interpulse.configuration.lists import listed
from interpulse.tables.format import grid

EPILOG = """\
Examples:

  interpulse list schemes

  interpulse list policies --json

`interpulse scheme NAME` shows what a scheme does to a program or an erase, pulse by pulse. The lists come from the
registries of the simulator: a configuration can use exactly these names."""


class Kind(StrEnum):
    """Available lists."""

    PARTS = "parts"
    DRIVES = "drives"
    SCHEMES = "schemes"
    POLICIES = "policies"
    TWINS = "twins"
    FORMATS = "formats"
    ERROR_TABLES = "error-tables"
    COUNTERS = "counters"


def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="LIST",
            help=f"Which list to print: {', '.join(Kind)}.",
            show_default="all of them",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List what a configuration may name (parts, drives, schemes, policies, ...) and what a result counts."""
    names = list(Kind) if kind is None else [each for each in Kind if each == kind.lower()]
    if not names:
        raise UserError(f"no list '{kind}': there are {', '.join(Kind)}")
    chosen = {name: listed()[name] for name in names}
    if json:
        emit(json_text.dumps(chosen, ensure_ascii=False))
    else:
        emit("\n\n".join(_table(name, rows) for name, rows in chosen.items()))


def _table(name: str, rows: list[dict[str, Any]]) -> str:
    columns = [column for column in ("kind", "name", "unit", "doc") if any(column in row for row in rows)]
    return f"{name}:\n" + grid([str(row.get(column, "")) for column in columns] for row in rows)
