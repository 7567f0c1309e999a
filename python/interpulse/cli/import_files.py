"""`interpulse import` command: configurations from the files of other simulators."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from interpulse.cli.exit_codes import UserError
from interpulse.cli.options import Json, named_path, path_option
from interpulse.cli.output_streams import emit, say
from interpulse.importing.registry import IMPORTERS, read
from interpulse.importing.report import Imported

EPILOG = """\
Examples:

  interpulse import mqsim ssdconfig.xml workload.xml --out imported

  interpulse run imported/scenario-1.toml

The folder gets a configuration for each scenario, and import-report.md and .json, which list every parameter with \
what became of it. docs/IMPORT.md has the tables of all programs."""

_SHOWN_NOTES = 20

Program = Annotated[str, typer.Argument(metavar="PROGRAM", help=f"{', '.join(IMPORTERS)}.")]
Files = Annotated[
    list[Path],
    typer.Argument(parser=named_path, metavar="FILE...", help="The program's files, its drive first."),
]


def import_(
    program: Program,
    files: Files,
    out: Annotated[Path, path_option("DIR", "The folder to write to.")],
    as_written: Annotated[
        bool,
        typer.Option(
            "--as-written", help="Follow the file where the program does something else with a value (mqsim)."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    json: Json = False,
) -> None:
    """Write configurations from the files of another simulator.

    Every parameter is mapped, or listed with the reason why it has no counterpart.
    """
    if program not in IMPORTERS:
        raise UserError(f"PROGRAM {program!r}: expected one of {', '.join(IMPORTERS)}")
    importer = IMPORTERS[program]
    if not importer.least <= len(files) <= len(importer.files):
        raise UserError(f"seen {len(files)} files; expected {_expected(importer.files, importer.least)}")
    if as_written and not importer.as_written:
        raise UserError(f"--as-written: {importer.program} does with every value what its file says")
    imported = read(program, files, as_written=as_written)
    for draft in imported.drafts:
        draft.check(str(out / draft.name))
    _write(imported, out, force)
    if json:
        emit(json_text.dumps(imported.document(), ensure_ascii=False))
        return
    _summary(imported, out)


def _expected(files: tuple[str, ...], least: int) -> str:
    return " ".join(name if place < least else f"[{name}]" for place, name in enumerate(files))


def _write(imported: Imported, out: Path, force: bool) -> None:
    report = json_text.dumps(imported.document(), indent=2, ensure_ascii=False)
    texts = [(draft.name, draft.toml()) for draft in imported.drafts]
    texts += [("import-report.md", imported.markdown()), ("import-report.json", f"{report}\n")]
    existing = [name for name, _ in texts if (out / name).exists()]
    if existing and not force:
        raise UserError(f"{out / existing[0]}: exists already; --force replaces it")
    from interpulse.cli.out_folder import OutFolder

    OutFolder.open(out).write((name, text.encode()) for name, text in texts)


def _summary(imported: Imported, out: Path) -> None:
    rows = imported.rows()
    for row in imported.unknown():
        say(f"note: {row['file']}:{row['line']}: {row['name']}: {row['reason']}")
    notes = list(dict.fromkeys(note for draft in imported.drafts for note in draft.notes))
    for note in notes[:_SHOWN_NOTES]:
        say(f"note: {note}")
    if len(notes) > _SHOWN_NOTES:
        say(f"note: {len(notes) - _SHOWN_NOTES} more are in the report")
    count = {outcome: sum(row["outcome"] == outcome for row in rows) for outcome in ("mapped", "without counterpart")}
    say(
        f"{count['mapped']} parameters mapped, {count['without counterpart']} without counterpart, "
        f"{len(imported.unknown())} unknown: {out / 'import-report.md'}"
    )
    for draft in imported.drafts:
        emit(f"interpulse run {out / draft.name}")
