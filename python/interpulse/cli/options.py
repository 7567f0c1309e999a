"""Options shared by several commands."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from typer.models import ArgumentInfo, OptionInfo

from interpulse._core import ConfigError
from interpulse.cli.exit_codes import UserError
from interpulse.files.paths import named

Command: TypeAlias = Callable[..., int | None]


def with_options(
    options: Mapping[str, tuple[Any, Any]], into: str, read: Callable[[dict[str, Any]], Any]
) -> Callable[[Command], Command]:
    """Decorator that replaces the parameter `into` of a command by `options`, and passes `read(values)` as `into`.

    Args:
        options: Typer annotation and default, by name.
        into: name of the replaced parameter.
        read: converts the option values, given by name.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def gathered(**given: Any) -> int | None:  # noqa: ANN401 - as Typer calls it
            own = {name: given.pop(name) for name in options}
            return command(**given, **{into: read(own)})

        # Typer reads the signature and needs evaluated annotations.
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
    """A path argument; rejects an empty one, which an unset shell variable gives."""
    try:
        return named(text, "a file or folder")
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from None


def path_argument(metavar: str, text: str) -> ArgumentInfo:
    """Argument for a file or folder."""
    argument: ArgumentInfo = typer.Argument(parser=named_path, metavar=metavar, help=text)
    return argument


def path_option(metavar: str, text: str, default: str | bool = False) -> OptionInfo:
    """Option for a file or folder; the help shows `default` for an absent option."""
    option: OptionInfo = typer.Option(parser=named_path, metavar=metavar, help=text, show_default=default)
    return option


def image_form(option: str, path: Path, what: str) -> str:
    """Format of an image, `svg` or `png`, by the name of its file."""
    form = path.suffix.lower().removeprefix(".")
    if form not in ("svg", "png"):
        raise UserError(f"{option} {path}: {what} is written as .svg or .png")
    return form


ConfigPath = Annotated[Path, path_argument("CONFIG", "A TOML file, such as examples/quickstart.toml.")]


CaseNames = Annotated[
    list[str] | None,
    typer.Option("--case", metavar="NAME", help="Only this case; may be repeated.", show_default="all cases"),
]


def check_workers(on: str | None, jobs: int | None) -> None:
    """Rejects `--on` together with `--jobs`."""
    if on is not None and jobs is not None:
        raise UserError("--jobs is for workers of this machine; with --on, the cluster sets the number of workers")


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
        metavar="N", min=0, max=2**64 - 1, help="The seed of every random stream.", show_default="as configured"
    ),
]
MOST_SEEDS = 1000
"""Most seeds of a study; a thousand already narrow an interval thirtyfold."""


def _repeat(quick: int) -> Any:  # noqa: ANN401 - an annotation that Typer reads
    """Option for the number of seeds; `quick` is the number of a quick run."""
    option = typer.Option(
        metavar="N",
        min=1,
        max=MOST_SEEDS,
        help="Run the whole study with N seeds, starting with --seed: every row is the mean over seeds with a 95 % "
        "interval.",
        show_default=f"{quick} with --quick; otherwise the study's own number",
    )
    return Annotated[int | None, option]


Repeat, RepeatPapers = _repeat(3), _repeat(1)
OwnSeed = Annotated[int, typer.Option(metavar="N", min=0, max=2**64 - 1, help="The seed of every random stream.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Cases that run at a time, fewer if memory is short; never changes a result.",
        show_default="one per core",
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither read nor write snapshots and finished cases.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]
AllRows = Annotated[
    bool,
    typer.Option("--all", help="Print all rows and columns instead of the published figures only."),
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
        help="Workers of this machine, fewer if memory is short; never changes a result.",
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
