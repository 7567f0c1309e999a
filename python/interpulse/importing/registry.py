"""Registry of programs whose files can be imported: one line each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

from interpulse.importing.report import Imported


@dataclass(frozen=True)
class Importer:
    """A program, the module that reads its files, and what these files are.

    Attributes:
        program: its name.
        module: module with the function `read`, and `PAGE`, the tables of its parameters.
        files: names of the files, in the order of the command line.
        least: files that are required.
        as_written: whether `--as-written` has an effect.
    """

    program: str
    module: str
    files: tuple[str, ...]
    least: int = 1
    as_written: bool = False


IMPORTERS = {
    "mqsim": Importer("MQSim", "mqsim.files", ("ssdconfig.xml", "workload.xml"), as_written=True),
}


def read(name: str, paths: Sequence[Path], *, as_written: bool) -> Imported:
    """Reads the files of a program of `IMPORTERS`.

    Raises:
        ConfigError: a file cannot be read, or a value has no counterpart.
    """
    importer = IMPORTERS[name]
    function = cast("Callable[..., Imported]", import_module(f"interpulse.importing.{importer.module}").read)
    return function(paths, as_written=as_written) if importer.as_written else function(paths)
