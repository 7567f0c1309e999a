"""`interpulse report` command."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from interpulse._core import ConfigError, Plan
from interpulse.cli.exit_codes import UserError
from interpulse.cli.options import path_argument, path_option
from interpulse.cli.out_folder import OutFolder
from interpulse.cli.output_streams import say
from interpulse.files.paths import open_file

if TYPE_CHECKING:
    from interpulse.runs.result import Result

EPILOG = """\
Examples:

  interpulse report out

  interpulse report before after --out difference.html

  interpulse report a-1 a-2 a-3 b-1 b-2 b-3

One self-contained page: plots that zoom, tables, CSV of every plot. Results that differ only in \
their seeds are averaged; others are compared with the first. docs/REPORT.md explains it."""


def report(
    results: Annotated[
        list[Path],
        path_argument("DIR", "Folders of `run --out` or `run --repeat`, or files result.json; several are compared."),
    ],
    out: Annotated[
        Path | None, path_option("FILE", "The page.", "report.html in the folder of one result, and here for several")
    ] = None,
) -> None:
    """Write one HTML page about results: plots that explain them, and differences between several."""
    from interpulse.report import page, run_page, runs

    page.need_bokeh()
    only = results[0] if len(results) == 1 else None
    target = out if out is not None else (only if only is not None and only.is_dir() else Path()) / page.NAME
    found = runs.load(results)
    folder = _folder_of(target)
    try:
        content = run_page.page(found)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        # The file claims to be a result and violates docs/result.schema.json.
        what = f"{type(error).__name__}: {error}"
        raise UserError(
            f"{', '.join(map(str, results))}: no whole result by docs/result.schema.json ({what})"
        ) from None
    except ValueError as error:
        raise UserError(str(error)) from None
    try:
        folder.store(target.name, content)
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror or error}") from None
    say(f"wrote {target} ({len(content) / 1e6:.1f} MB)")


def _folder_of(target: Path) -> OutFolder:
    """Folder of the page; rejects a target that exists and is not an earlier page."""
    from interpulse.report.page import MARK

    if target.is_dir():
        raise UserError(f"--out {target}: this is a folder; name the page, such as {target / 'report.html'}")
    try:
        with open_file(target) as file:
            if MARK not in file.read(4096):
                raise UserError(
                    f"{target} exists and is no page of interpulse: it is not replaced; choose another --out"
                )
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"cannot read {target}: {error.strerror or error}") from None
    return OutFolder.open(target.parent)


def page_files(ended: Sequence[tuple[str, Result, Plan]]) -> Iterator[tuple[str, bytes]]:
    """Report page of completed runs as a file, or a message if the page cannot be built.

    Args:
        ended: folder, result and plan of each run.
    """
    from interpulse.cli.show import resolved_json
    from interpulse.report import page, run_page, runs

    found = [
        runs.Run(place, result, json.loads(resolved_json(plan))["entries"], Path(place))
        for place, result, plan in ended
    ]
    try:
        yield page.NAME, run_page.page(found)
    except (ConfigError, ValueError) as error:
        say(f"no {page.NAME}: {error}")
