"""Typer application: all commands, the help page, and messages about wrong arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from typer.exceptions import TyperException

from interpulse._core import version as __version__
from interpulse.cli.command_loader import Commands
from interpulse.cli.exit_codes import INTERRUPTED
from interpulse.cli.output_streams import emit, fail, say
from interpulse.tables.layout import ELSEWHERE, terminal_width

if TYPE_CHECKING:
    from collections.abc import Sequence

app = typer.Typer(
    name="interpulse",
    add_completion=False,
    # Rich tables cut options off on narrow terminals.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_EPILOG = """\
First steps:

  interpulse run examples/quickstart.toml

  interpulse show examples/quickstart.toml

  interpulse list schemes

  interpulse scheme loop-boundary --out loop-boundary.svg

  interpulse experiment --list

  interpulse papers --quick

  interpulse characterize --list

Exit codes: 0 done, 1 a bug of interpulse, 2 a mistake in the arguments or files, 130 stopped by \
Ctrl-C, 143 by SIGTERM, 129 by SIGHUP."""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"interpulse {__version__}")
        raise typer.Exit


@app.callback(cls=Commands, epilog=_EPILOG, invoke_without_command=True)
def interpulse(
    context: typer.Context,
    _: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Simulates an SSD whose programs and erases are trains of pulses that can be stopped, read past and resumed.

    A configuration file describes a drive (a flash part and overrides), a workload and the cases to compare.
    """
    if context.invoked_subcommand is None:
        from interpulse.cli import welcome

        emit(welcome.screen())


def call(arguments: Sequence[str] | None) -> int:
    """Runs the command of the arguments; prints Typer's messages and returns the exit code."""
    try:
        width = min(terminal_width(), ELSEWHERE)
        code = app(args=arguments, prog_name="interpulse", standalone_mode=False, terminal_width=width)
    except typer.Abort:
        return INTERRUPTED
    except TyperException as error:
        text = error.format_message()
        if text.startswith("Usage:"):  # A command without arguments.
            from interpulse.cli import welcome

            say(welcome.run_screen() if text.startswith("Usage: interpulse run ") else text)
            return error.exit_code
        return fail(f"{text} (--help lists the options)", error.exit_code)
    return code if isinstance(code, int) else 0
