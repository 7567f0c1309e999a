"""The commands, each in a file that is read when the command is called: a run starts without all others."""

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
    "part": "part",
    "trace": "trace",
    "view": "view",
}
"""The commands in the order of the help page, and the file of each in this folder: what it has as `app` is a group of
commands; otherwise the function that is called as the command is it, of the class `COMMAND` where there is one."""

_ALONE = ("list", "papers", "bench", "cache")
"""Commands that do something without arguments; the others print their help."""


class Commands(TyperGroup):
    """The commands of `FILES`: only a name that is not among them, and the help page, have all of them read."""

    def list_commands(self, ctx: Context) -> list[str]:  # noqa: ARG002 - as Typer calls it
        """All names."""
        return list(FILES)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """The command of this name, None where there is none."""
        for name in (cmd_name,) if cmd_name in FILES else FILES:  # All, so that a mistyped name is told of its like.
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
        # A summary that Typer takes from the text itself is cut off where its line ends.
        command.short_help = _summary(command.callback)
    return get_group(alone).commands[name]


def _summary(function: object) -> str:
    return (getattr(function, "__doc__", None) or "").split("\n", maxsplit=1)[0]
