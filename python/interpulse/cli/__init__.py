"""The command line: one file per command, and how any of them ends."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import NoReturn

import typer
from typer.exceptions import TyperException

from interpulse import ConfigError, InternalError, Interrupted, RunError, __version__
from interpulse.cli.exits import INTERNAL, INTERRUPTED, USER_ERROR, UserError, polite_as_ctrl_c
from interpulse.cli.loading import Commands
from interpulse.cli.streams import emit, finish, prepare, say
from interpulse.layout import ELSEWHERE, terminal_width

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


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line and leaves the process with its exit code."""
    prepare()
    code = finish(run_app(arguments))
    # Where an interrupt has passed through code that is executed from text, as dataclasses are made, the interpreter
    # under `-m` ends by that signal whatever the exit code, unless more such code has ended well.
    eval("0")
    raise SystemExit(code)


def run_app(arguments: Sequence[str] | None) -> int:
    """Runs the command line; every way to end becomes an exit code and at most one line on standard error."""
    came: list[int] = []
    try:
        with polite_as_ctrl_c() as came:
            code = _run_app(arguments)
    except KeyboardInterrupt:  # It came just before or after there was something to interrupt.
        code = INTERRUPTED
    # A terminal that has gone takes the output with it, which is no other end than its signal.
    return 128 + came[0] if came and code in (INTERRUPTED, USER_ERROR) else code


def _run_app(arguments: Sequence[str] | None) -> int:
    try:
        width = min(terminal_width(), ELSEWHERE)
        code = app(args=arguments, prog_name="interpulse", standalone_mode=False, terminal_width=width)
    except (Interrupted, KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except TyperException as error:
        text = error.format_message()
        if text.startswith("Usage:"):  # A command without arguments: all there is to say is what to give it.
            from interpulse.cli import first

            say(first.of_run() if text.startswith("Usage: interpulse run ") else text)
            return error.exit_code
        return _fail(f"{text} (--help shows what is possible)", error.exit_code)
    except InternalError as error:
        return _fail(f"{error} (please report this: it is a bug of interpulse {__version__})", INTERNAL)
    except (ConfigError, RunError, UserError) as error:
        return _fail(str(error), USER_ERROR)
    except MemoryError:
        return _fail("there is no memory left for the command line itself; ulimit -v may be too low", USER_ERROR)
    except UnicodeEncodeError as error:
        needs = (
            "arguments and names of files have to be, and beyond ASCII the locale too (LC_ALL=C.UTF-8, PYTHONUTF8=1)"
        )
        return _fail(f"{error.object!r} is not UTF-8 text: {needs}", USER_ERROR)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(f"{place}{error.strerror or error}", USER_ERROR)
    except Exception as error:  # noqa: BLE001 - the last resort, where a bug turns into its exit code
        traceback.print_exc()
        return _fail(f"{type(error).__name__}: {error} (please report this: it is a bug)", INTERNAL)
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int) -> int:
    """Says what went wrong on standard error: one line, unless the message itself has more, that moves no cursor."""
    shown = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in message)
    say(f"error: {shown}")
    return code
