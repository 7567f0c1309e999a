"""`interpulse export` command: files of other simulators from a configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interpulse.cli.exit_codes import UserError
from interpulse.cli.options import ConfigPath, Sets, path_option
from interpulse.cli.output_streams import emit, say
from interpulse.configuration.config import load_with_sets
from interpulse.importing import registry

EPILOG = """\
Examples:

  interpulse export mqsim examples/quickstart.toml --out exported

The folder gets ssdconfig.xml, workload.xml and export-report.md, which lists what MQSim has no counterpart of."""

Program = Annotated[str, typer.Argument(metavar="PROGRAM", help=f"{', '.join(registry.EXPORTERS)}.")]


def export_(
    program: Program,
    config: ConfigPath,
    out: Annotated[Path, path_option("DIR", "The folder to write to.")],
    sets: Sets = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Write the files of another simulator with the drive and the flows of a configuration."""
    if program not in registry.EXPORTERS:
        raise UserError(f"PROGRAM {program!r}: expected one of {', '.join(registry.EXPORTERS)}")
    exported = registry.export(program, load_with_sets(config, sets or [], []))
    files = exported.files()
    existing = [name for name, _ in files if (out / name).exists()]
    if existing and not force:
        raise UserError(f"{out / existing[0]}: exists already; --force replaces it")
    from interpulse.cli.out_folder import OutFolder

    OutFolder.open(out).write((name, text.encode()) for name, text in files)
    for note in exported.notes:
        say(f"note: {note}")
    if exported.left:
        say(f"{len(exported.left)} keys without counterpart: {out / files[-1][0]}")
    emit("\n".join(str(out / name) for name, _ in files[:-1]))
