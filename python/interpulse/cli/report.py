"""`interpulse report` command."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from interpulse._core import ConfigError, Plan
from interpulse.cli.exit_codes import UserError
from interpulse.cli.options import image_form, path_argument, path_option
from interpulse.cli.out_folder import OutFolder
from interpulse.cli.output_streams import note, say
from interpulse.files.paths import open_file

if TYPE_CHECKING:
    from interpulse.runs.result import Result

EPILOG = """\
Examples:

  interpulse report out

  interpulse report before after --out difference.html

  interpulse report a-1 a-2 a-3 b-1 b-2 b-3

  interpulse report out --image tails.svg

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
    image: Annotated[
        Path | None, path_option("FILE", "Instead of the page, draw its plot of the tail of reads as .svg or .png.")
    ] = None,
) -> None:
    """Write one HTML page about results: plots that explain them, and differences between several."""
    from interpulse.report import page, run_page, runs

    if image is not None:
        if out is not None:
            raise UserError("--out names the page, and --image draws a plot instead of it: omit one")
        _draw(results, image)
        return
    page.need_bokeh()
    only = results[0] if len(results) == 1 else None
    target = out if out is not None else (only if only is not None and only.is_dir() else Path()) / page.NAME
    found = runs.load(results)
    folder = _folder_of(target)
    with _whole(results):
        content = run_page.page(found)
    _store(folder, target, content)


def _draw(results: Sequence[Path], image: Path) -> None:
    """Writes the plot of the tail of reads."""
    from interpulse.plotting.plots import need_matplotlib
    from interpulse.report import runs, tail_image
    from interpulse.report.sections.latency import NO_HISTOGRAM

    form = image_form("--image", image, "a plot")
    need_matplotlib()
    found = runs.load(results)
    folder = OutFolder.open(image.parent, "--image")
    with _whole(results):
        report = runs.of(found)
        content = tail_image.image(report, form)
        is_whole = tail_image.is_whole(report)
    notes = [each for each in report.notes if not each.startswith(runs.NOT_COMPARED)]
    for each in (*notes, *[NO_HISTOGRAM] * (not is_whole)):
        note(each)
    _store(folder, image, content)


@contextmanager
def _whole(results: Sequence[Path]) -> Iterator[None]:
    """Rejects results that claim to be whole and violate docs/result.schema.json."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise UserError(
            f"{', '.join(map(str, results))}: no whole result by docs/result.schema.json ({what})"
        ) from None
    except ValueError as error:
        raise UserError(str(error)) from None


def _store(folder: OutFolder, target: Path, content: bytes) -> None:
    try:
        folder.store(target.name, content)
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror or error}") from None
    size = f"{len(content) / 1e6:.1f} MB" if len(content) >= 100_000 else f"{len(content) / 1e3:.0f} kB"
    say(f"wrote {target} ({size})")


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
