"""A row of the comparison: one drive and load, as another simulator and interpulse run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from peers.figures import Figures
from peers.process import Command


@dataclass(frozen=True)
class Ready:
    """A row whose files are written.

    Args:
        command: run of the other simulator that is measured.
        figures: figures of that run, from its standard output and the files that it wrote.
        imported: words of `interpulse import` for its files.
        changes: settings `KEY=VALUE` of the imported configuration, such as a load that its files do not have.
        recorded: another run of the other simulator, which records every request and is not measured; None if the
            measured run gives all figures.
    """

    command: Command
    figures: Callable[[str], Figures]
    imported: list[str]
    changes: tuple[str, ...] = ()
    recorded: Command | None = None


@dataclass(frozen=True)
class Row:
    """A row: `prepare` writes its files into a folder, for the program at a path and a number of requests."""

    name: str
    peer: str
    requests: int
    prepare: Callable[[Path, Path, int], Ready]
