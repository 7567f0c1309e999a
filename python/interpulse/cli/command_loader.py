"""Command loader: imports the file of a command only when the command is called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import typer
from typer.core import TyperGroup
from typer.main import get_group

if TYPE_CHECKING:
    from typer._click.core import Command, Context

FILES = {
    "run": "run",
    "report": "report",
    "compare": "compare",
    "sweep": "sweep",
    "slo": "slo",
    "life": "life",
    "fit": "fit",
    "advise": "advise",
    "optimize": "optimize",
    "show": "show",
    "list": "listing",
    "scheme": "scheme",
    "experiment": "experiment",
    "characterize": "characterize",
    "papers": "papers",
    "bench": "bench",
    "cache": "cache",
    "doctor": "doctor",
    "part": "part",
    "trace": "trace",
    "import": "import_files",
    "export": "export_files",
    "serve": "serve",
    "state": "state",
    "top": "top",
    "view": "view",
    "explore": "explore",
}
"""Files of the commands, in the order of the help page: a file has either a command group `app`, or a function named
like the command, optionally with its class `COMMAND`."""

_ALONE = ("list", "papers", "bench", "cache", "doctor", "explore")
"""Commands that run without arguments; other commands then print their help."""


class Commands(TyperGroup):
    """The commands of `FILES`; only the help page and unknown names import all files."""

    def list_commands(self, ctx: Context) -> list[str]:  # noqa: ARG002 - as Typer calls it
        """Names of all commands."""
        return list(FILES)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """The command of this name, or None."""
        for name in (cmd_name,) if cmd_name in FILES else FILES:  # All, for suggestions.
            if name not in self.commands:
                self.commands[name] = _load(name)
        return super().get_command(ctx, cmd_name)


def _load(name: str) -> Command:
    file = import_module(f"interpulse.cli.{FILES[name]}")
    alone = typer.Typer(rich_markup_mode=None)
    if hasattr(file, "app"):
        summary = _summary(getattr(file, name))
        alone.add_typer(file.app, name=name, epilog=file.EPILOG, short_help=summary)
    else:
        made = alone.command(
            name, cls=getattr(file, "COMMAND", None), epilog=file.EPILOG, no_args_is_help=name not in _ALONE
        )
        made(getattr(file, name, None) or getattr(file, f"{name}_"))
    commands = [*alone.registered_commands, *(file.app.registered_commands if hasattr(file, "app") else ())]
    for command in commands:
        # Typer would cut the summary at the end of its line.
        command.short_help = _summary(command.callback)
    return get_group(alone).commands[name]


def _summary(function: object) -> str:
    return (getattr(function, "__doc__", None) or "").split("\n", maxsplit=1)[0]
