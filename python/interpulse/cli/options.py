"""Options that several commands share, worded once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from typer.models import ArgumentInfo, OptionInfo

from interpulse._core import ConfigError
from interpulse.files.paths import named

Command: TypeAlias = Callable[..., int | None]


def with_options(
    options: Mapping[str, tuple[Any, Any]], into: str, read: Callable[[dict[str, Any]], Any]
) -> Callable[[Command], Command]:
    """Gives a command further options where its parameter `into` stands, which takes what `read` makes of them.

    Args:
        options: an annotation, as Typer takes it, and a default, by name.
        into: the parameter.
        read: is given the values by name.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def gathered(**given: Any) -> int | None:  # noqa: ANN401 - as Typer calls it
            own = {name: given.pop(name) for name in options}
            return command(**given, **{into: read(own)})

        # Typer asks the signature, with annotations that are no text any more.
        signature = inspect.signature(command, eval_str=True)
        parameters: list[inspect.Parameter] = []
        for each in signature.parameters.values():
            kind = inspect.Parameter.KEYWORD_ONLY
            more = [inspect.Parameter(name, kind, annotation=a, default=d) for name, (a, d) in options.items()]
            parameters += more if each.name == into else [each.replace(kind=kind)]
        gathered.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        gathered.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": int | None}
        del gathered.__wrapped__
        return gathered

    return decorate


def named_path(text: str) -> Path:
    """A path of the command line; an empty one, as an unset variable of a shell leaves it, is refused."""
    try:
        return named(text, "a file or folder")
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from None


def path_argument(metavar: str, text: str) -> ArgumentInfo:
    """An argument that names a file or folder."""
    argument: ArgumentInfo = typer.Argument(parser=named_path, metavar=metavar, help=text)
    return argument


def path_option(metavar: str, text: str, default: str | bool = False) -> OptionInfo:
    """An option that names a file or folder; `default` is what the help says of none."""
    option: OptionInfo = typer.Option(parser=named_path, metavar=metavar, help=text, show_default=default)
    return option


ConfigPath = Annotated[Path, path_argument("CONFIG", "A TOML file, such as examples/quickstart.toml.")]


def set_option(text: str) -> OptionInfo:
    """The option `--set` with this help."""
    option: OptionInfo = typer.Option("--set", metavar="KEY=VALUE", help=text)
    return option


Sets = Annotated[
    list[str] | None, set_option("Override one setting; may be repeated. `interpulse show CONFIG` lists the keys.")
]
Trace = Annotated[
    Path | None,
    path_option(
        "FILE", "Replay this block trace instead of the configured one (plain, .gz or .zst; see `list formats`)."
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=0, max=2**64 - 1, help="The seed of every random stream.", show_default="the configured one"
    ),
]
MOST_SEEDS = 1000
"""With how many seeds a study may be run; more are a mistake: a thousand narrow an interval thirty times."""


def _repeat(quick: int) -> Any:  # noqa: ANN401 - an annotation that Typer reads
    """With how many seeds, where a quick run has so many."""
    option = typer.Option(
        metavar="N",
        min=1,
        max=MOST_SEEDS,
        help="Run the whole study with N seeds, the first of which is --seed: every row is their mean with a 95 % "
        "interval.",
        show_default=f"{quick} with --quick; without, the seeds that the study says itself",
    )
    return Annotated[int | None, option]


Repeat, RepeatPapers = _repeat(3), _repeat(1)
OwnSeed = Annotated[int, typer.Option(metavar="N", min=0, max=2**64 - 1, help="The seed of every random stream.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Cases that run at a time, fewer where memory is short; never changes a result.",
        show_default="one per core",
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither read nor write snapshots and finished cases.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]
AllRows = Annotated[
    bool,
    typer.Option("--all", help="Print all rows with all that is known of them instead of the published ones alone."),
]
On = Annotated[
    str | None,
    typer.Option(
        metavar="SCHEDULER",
        help="A Dask scheduler: tcp://HOST:PORT, tls://HOST:PORT, or its file (.json).",
        show_default="workers of this machine",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        max=1024,
        help="Workers of this machine, fewer where memory is short; never changes a result.",
        show_default="one per core",
    ),
]
CacheDir = Annotated[
    Path | None,
    path_option(
        "DIR",
        "The folder for snapshots of preconditioned drives.",
        "INTERPULSE_CACHE_DIR, or interpulse in the user's cache folder",
    ),
]
