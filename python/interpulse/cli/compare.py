"""`interpulse compare` command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperCommand

from interpulse.cli.exit_codes import UserError
from interpulse.cli.options import Json
from interpulse.cli.output_streams import emit
from interpulse.tables.layout import terminal_width

if TYPE_CHECKING:
    from typer._click.core import Context

EPILOG = """\
Examples:

  interpulse compare before/result.json after

  interpulse compare before-1 before-2 before-3 -- after-1 after-2 after-3

  interpulse compare out out --case no-suspend=suspend-10

Runs are paired by case and seed. With several seeds on each side every ratio has a 95 % interval, and a mark if the \
interval excludes 1. docs/RESULTS.md explains it."""


class Sides(TyperCommand):
    """Parser that takes the arguments behind `--` as side B."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Rewrites arguments behind `--` to `--against`, because the parser drops `--`."""
        if "--" in args:
            at = args.index("--")
            args = [*args[:at], *(part for path in args[at + 1 :] for part in ("--against", path))]
        return super().parse_args(ctx, args)


COMMAND = Sides


def compare(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT",
            help="Files result.json, or folders of --out: A and B, or all of A, then --, then all of B.",
        ),
    ],
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="B", help="A result of side B, as behind --; may be repeated. All others are A."),
    ] = None,
    cases: Annotated[
        list[str] | None,
        typer.Option(
            "--case",
            metavar="NAME",
            help="Only this case, or A=B for one case of A and another of B; may be repeated.",
            show_default="all that both sides have",
        ),
    ] = None,
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the figures as CSV instead.")] = False,
) -> None:
    """Compare two results, or two sets of runs with several seeds, figure by figure."""
    from interpulse.runs import comparison

    if json and csv:
        raise UserError("--json or --csv, not both")
    if not against and len(results) != 2:
        given = f"{len(results)} result{'s' * (len(results) != 1)}"
        raise UserError(f"{given}: compare takes two, or all of A, then --, then all of B")
    a, b = (results, against) if against else (results[:1], results[1:])
    found = comparison.compare(a, b, cases=cases or ())
    emit(found.to_json() if json else found.to_csv().rstrip("\n") if csv else found.text(terminal_width()))
