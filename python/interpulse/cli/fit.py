"""`interpulse fit` command."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interpulse.cli.options import Json, On, Workers, path_argument
from interpulse.cli.output_streams import emit, say
from interpulse.cli.search_options import Out, search_progress
from interpulse.tables.layout import Column, Sheet, fill, terminal_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interpulse.fitting.result import Fit

Budget = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="End after this time with the best drive so far, such as 20min; none: no limit.",
        show_default="that of the file, or 5min",
    ),
]
Scale = Annotated[
    bool | None,
    typer.Option(
        "--scale/--no-scale",
        help="Simulate a scale model of the drive, with all dies but few and short blocks.",
        show_default="drives of more than 64 GiB",
    ),
]

EPILOG = """\
Examples:

  interpulse fit examples/fit.toml

  interpulse fit examples/fit.toml --out mine --json

  interpulse fit mine.toml --budget 20min

  interpulse fit examples/fit.toml --on tcp://scheduler:8786

The file names the initial drive, the published figures of yours or the output of fio, and the free parameters. \
The folder has drive.toml, a configuration, and fit.json. docs/FIT.md has the keys and describes the method."""


def fit(
    file: Annotated[Path, path_argument("FIT", "A TOML file, such as examples/fit.toml.")],
    out: Out = None,
    on: On = None,
    jobs: Workers = None,
    budget: Budget = None,
    scale: Scale = None,
    json: Json = False,
) -> int:
    """Fit a drive model to a data sheet or to fio's output."""
    from interpulse.configuration.extras import require

    require("scipy", "fit", "a fit")
    from interpulse.fitting.fit import fit as fit_drive
    from interpulse.fitting.result import DRIVE_FILE

    try:
        with search_progress(file.stem, on, jobs) as progress:
            found = fit_drive(file, out=out, on=on, jobs=jobs, progress=progress, budget=budget, scale=scale)
    except KeyboardInterrupt:
        drive = (file.with_suffix("").name if out is None else out) / Path(DRIVE_FILE)
        if drive.exists():
            say(f"the best drive so far is {drive}")
        raise
    emit(json_text.dumps(found.to_dict()) if json else "\n".join(_text(found)))
    return 0


def _text(found: Fit) -> Iterator[str]:
    width = terminal_width()
    yield fill(_verdict(found), width)
    yield ""
    sheet = Sheet([Column("parameter", "label"), Column("value", "text"), Column("known", "text")], narrow="records")
    for each in found.parameters:
        sheet.add_row(each.parameter.name, each.text, each.known)
    yield sheet.text(width)
    for title, figures in (("Fitted to:", found.used), ("Predicted, held out of the fit:", found.held_out)):
        if not figures:
            continue
        yield ""
        yield title
        table = Sheet(
            [
                Column("load", "label"),
                Column("figure", "text"),
                *(Column(name) for name in ("known", "simulated", "ratio")),
            ],
            narrow="records",
        )
        for figure in figures:
            target, ratio = figure.target, figure.ratio
            table.add_row(
                figure.load.name,
                target.figure,
                target.said(target.value),
                target.said(figure.simulated),
                "-" if ratio is None else f"{ratio:.3f}",
            )
        yield table.text(width)
    for load in found.sources:
        yield ""
        read = ", ".join(target.figure for target in load.targets)
        yield fill(f"Read of job {load.name}: {read}", width)
        yield fill(f"  not used: {'; '.join(f'{each.figure} ({each.why})' for each in load.unused)}", width)
    yield ""
    for note in found.notes:
        yield fill(note, width)
    tried = f"{found.points} drives tried, figures are means over {found.seeds} seeds"
    yield fill(f"{tried}; {found.simulated} simulated, {found.kept} reused; the drive is {found.path}", width)


def _verdict(found: Fit) -> str:
    sure = sum(each.determined for each in found.parameters)
    off = [
        f"{len(figures)} {name}{'s' * (len(figures) > 1)} typically {100 * (found.off(figures) or 0):.1f} % off"
        for name, figures in (("figure", found.used), ("prediction", found.held_out))
        if figures
    ]
    return f"{sure} of {len(found.parameters)} parameters are determined; {', '.join(off)}"
