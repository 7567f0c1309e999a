"""The command line as Typer reads it: every command, its help, and what is said where it was called wrongly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from typer.exceptions import TyperException

from interpulse._core import version as __version__
from interpulse.cli.exits import INTERRUPTED
from interpulse.cli.loading import Commands
from interpulse.cli.streams import emit, fail, say
from interpulse.tables.layout import ELSEWHERE, terminal_width

if TYPE_CHECKING:
    from collections.abc import Sequence

app = typer.Typer(
    name="interpulse",
    add_completion=False,
    # Its tables cut options off where the terminal is narrow.
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

Exit codes: 0 done, 1 a bug of interpulse, 2 a mistake in what it was given, 130 stopped by \
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
        from interpulse.cli import first

        emit(first.screen())


def call(arguments: Sequence[str] | None) -> int:
    """Runs the command that the arguments name; what Typer has to say of them ends here."""
    try:
        width = min(terminal_width(), ELSEWHERE)
        code = app(args=arguments, prog_name="interpulse", standalone_mode=False, terminal_width=width)
    except typer.Abort:
        return INTERRUPTED
    except TyperException as error:
        text = error.format_message()
        if text.startswith("Usage:"):  # A command without arguments: all there is to say is what to give it.
            from interpulse.cli import first

            say(first.of_run() if text.startswith("Usage: interpulse run ") else text)
            return error.exit_code
        return fail(f"{text} (--help shows what is possible)", error.exit_code)
    return code if isinstance(code, int) else 0
