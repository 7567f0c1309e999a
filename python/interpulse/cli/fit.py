"""`interpulse fit`."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from interpulse.cli.options import Json, On, Workers, path_argument
from interpulse.cli.search_options import Out, watched
from interpulse.cli.streams import emit
from interpulse.tables.layout import Column, Sheet, fill, terminal_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interpulse.fitting.result import Fit

EPILOG = """\
Examples:

  interpulse fit examples/fit.toml

  interpulse fit examples/fit.toml --out mine --json

  interpulse fit examples/fit.toml --on tcp://scheduler:8786

The file says which drive to begin with, what is printed of yours or the file that fio wrote, and what may be chosen. \
The folder has drive.toml, a configuration, and fit.json. docs/FIT.md has the keys and says how it is done."""


def fit(
    file: Annotated[Path, path_argument("FIT", "A TOML file, such as examples/fit.toml.")],
    out: Out = None,
    on: On = None,
    jobs: Workers = None,
    json: Json = False,
) -> int:
    """Model a drive of one's own from its data sheet or from fio's output."""
    from interpulse.configuration.extras import require

    require("scipy", "fit", "a fit")
    from interpulse.fitting import fit as fitting

    with watched(file.stem, on, jobs) as told:
        found = fitting.fit(file, out=out, on=on, jobs=jobs, progress=told)
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
    for title, figures in (("Chosen by:", found.used), ("Predicted, held out while choosing:", found.held_out)):
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
    yield ""
    for note in found.notes:
        yield fill(note, width)
    tried = f"{found.points} drives tried, figures are means over {found.seeds} seeds"
    yield fill(f"{tried}; {found.simulated} simulated, {found.kept} kept from before; the drive is {found.path}", width)


def _verdict(found: Fit) -> str:
    sure = sum(each.determined for each in found.parameters)
    off = [
        f"{len(figures)} {name}{'s' * (len(figures) > 1)} typically {100 * (found.off(figures) or 0):.1f} % off"
        for name, figures in (("figure", found.used), ("prediction", found.held_out))
        if figures
    ]
    return f"{sure} of {len(found.parameters)} parameters are determined; {', '.join(off)}"
