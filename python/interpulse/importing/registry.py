"""Registry of programs whose files can be imported: one line each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from interpulse.importing.report import Imported

if TYPE_CHECKING:
    from interpulse.configuration.config import Config
    from interpulse.importing.mqsim.export import Export


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
    "ssdsim": Importer("SSDSim", "ssdsim", ("page.parameters", "TRACE")),
    "simplessd": Importer("SimpleSSD", "simplessd", ("simplessd.cfg",)),
    "femu": Importer("FEMU", "femu", ("run-blackbox.sh",)),
    "nvmevirt": Importer("NVMeVirt", "nvmevirt", ("ssd_config.h", "Kbuild", "insmod.sh")),
    "disksim": Importer("DiskSim", "disksim", ("ssd.parv", "TRACE")),
}


EXPORTERS = {
    "mqsim": "mqsim.export",
}
"""Module of each program that files can be written for."""


def export(name: str, config: Config) -> Export:
    """Files of a program of `EXPORTERS` from a configuration.

    Raises:
        ConfigError: the configuration is wrong, or the program has no such drive or load.
    """
    module = import_module(f"interpulse.importing.{EXPORTERS[name]}")
    return cast("Callable[[Config], Export]", module.export)(config)


def read(name: str, paths: Sequence[Path], *, as_written: bool) -> Imported:
    """Reads the files of a program of `IMPORTERS`.

    Raises:
        ConfigError: a file cannot be read, or a value has no counterpart.
    """
    importer = IMPORTERS[name]
    function = cast("Callable[..., Imported]", import_module(f"interpulse.importing.{importer.module}").read)
    return function(paths, as_written=as_written) if importer.as_written else function(paths)
