"""Options that searches share, and how one that was stopped ends."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interpulse.cli.engine_progress import watch_engine
from interpulse.cli.exits import UserError
from interpulse.cli.options import path_option
from interpulse.cli.streams import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interpulse.sweeps.engine import Told

Out = Annotated[
    Path | None,
    path_option("DIR", "The folder for the answer and for what is kept.", "the name of the file without .toml"),
]
CaseNames = Annotated[
    list[str] | None,
    typer.Option("--case", metavar="NAME", help="Only this case; may be repeated.", show_default="all cases"),
]
Seeds = Annotated[int, typer.Option(metavar="N", min=2, max=1000, help="With how many seeds each load is judged.")]


@contextmanager
def watched(name: str, on: str | None, jobs: int | None) -> Iterator[Told]:
    """Shows how a search gets on; one that is stopped says what becomes of it."""
    if on is not None and jobs is not None:
        raise UserError("--jobs is for workers of this machine; with --on, the cluster has as many as it has")
    try:
        with watch_engine(name) as told:
            yield told
    except KeyboardInterrupt:
        say("interrupted: every simulation that has ended is kept, and the same command goes on from there")
        raise
