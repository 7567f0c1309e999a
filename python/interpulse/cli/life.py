"""`interpulse life` command."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interpulse.cli.options import CaseNames, ConfigPath, Json, On, Sets, Workers, path_option
from interpulse.cli.output_streams import emit, say
from interpulse.cli.search_options import Out, search_progress
from interpulse.tables.format import short_figure
from interpulse.tables.layout import Column, Sheet, fill, terminal_width

if TYPE_CHECKING:
    from interpulse.configuration.config import Config
    from interpulse.lifetime.result import Age, Life, Lifetime

EPILOG = """\
Examples:

  interpulse life examples/life.toml

  interpulse life examples/life.toml --years 3 --dwpd 3 --windows 6 --case suspended

  interpulse life examples/life.toml --years 3 --profile examples/profile.toml --report

Windows of the load are simulated at growing ages; between them wear, data ages, block reads and bad blocks are \
sampled. docs/LIFE.md describes the model."""

UNSET = "not set"
"""Value of an optional setting that a configuration leaves out."""

_YEAR = 365
_COLUMNS = {
    "p99": "read_p99_us",
    "p99.9": "read_p99_9_us",
    "p99.99": "read_p99_99_us",
    "p99.9 write": "write_p99_9_us",
    "WAF": "waf",
    "retried": "retried_share",
    "failed reads": "uncorrectable_reads",
    "bad blocks": "bad_blocks",
    "spare": "spare_blocks",
    "mW": "power_mw",
}
"""Columns of the table; those without figures are left out."""


def life(
    config: ConfigPath,
    years: Annotated[float, typer.Option(metavar="N", help="The length of the life.")] = 5.0,
    dwpd: Annotated[float, typer.Option(metavar="N", help="Host writes per day, in capacities.")] = 1.0,
    windows: Annotated[int, typer.Option(metavar="N", min=2, max=1000, help="The number of simulated windows.")] = 12,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="The number of seeds: drives.")] = 4,
    profile: Annotated[
        Path | None,
        path_option("FILE", "Periods of temperature, load and power, such as examples/profile.toml."),
    ] = None,
    cases: CaseNames = None,
    sets: Sets = None,
    out: Out = None,
    on: On = None,
    jobs: Workers = None,
    report: Annotated[bool, typer.Option("--report", help="Also write life.html, a page with plots over age.")] = False,
    json: Json = False,
) -> int:
    """Simulate a drive from its first write to its last day."""
    from interpulse.configuration.config import load_with_sets
    from interpulse.lifetime.life import life as live

    if report:
        from interpulse.report.page import need_bokeh

        need_bokeh()
    given = load_with_sets(config, sets or [])
    with search_progress(config.stem, on, jobs) as progress:
        found = live(
            given,
            years=years,
            dwpd=dwpd,
            windows=windows,
            seeds=seeds,
            profile=profile,
            cases=cases,
            out=out,
            on=on,
            jobs=jobs,
            progress=progress,
        )
    if report:
        _write_page(found, _title(given) or f"A drive's life: {config.name}")
    emit(json_text.dumps(found.to_dict()) if json else _text(found))
    return 0


def _title(config: Config) -> str:
    """Title of the configuration; empty without."""
    found = next((entry.value for entry in config.resolve().entries() if entry.key == "title"), UNSET)
    return "" if found == UNSET else found


def _write_page(found: Life, title: str) -> None:
    from interpulse.cli.exit_codes import UserError
    from interpulse.files.atomic_file import whole_file
    from interpulse.lifetime import page

    assert found.path is not None
    place = found.path.with_name(page.NAME)
    try:
        with whole_file(place) as file:
            file.write(page.page(found, title))
    except OSError as error:
        raise UserError(f"{place}: {error.strerror or error}; the figures are in {found.path}") from None
    say(f"wrote {place}")


def _text(found: Life) -> str:
    from interpulse.lifetime.sentences import sentences

    width = terminal_width()
    head = f"{found.years:g} years at {found.dwpd:g} drive writes per day; {found.seeds} seeds, means"
    parts = [fill(head, width)]
    for each in found.cases:
        lines = [fill(line, width) for line in [*sentences(each, found), *each.notes]]
        parts.append(
            "\n".join([f"{each.case}: latencies in us, at ages in years", _table(each, found).text(width), *lines])
        )
    ran = f"{found.simulated} simulated, {found.kept} reused; all figures, with 95 % intervals, are in {found.path}"
    return "\n\n".join([*parts, fill(ran, width)])


def _table(each: Lifetime, life: Life) -> Sheet:
    shown = {name: key for name, key in _COLUMNS.items() if any(key in age.values for age in each.ages)}
    changes = ("DWPD", "°C") if life.periods else ()
    columns = [*changes, "cycles", *shown, "drives"]
    sheet = Sheet([Column("age", "label"), *(Column(name) for name in columns)])
    for age in each.ages:
        cells = [_cell(age, key) for key in shown.values()]
        now = _period(life, age.day) if changes else ()
        sheet.add_row(f"{age.day / _YEAR:.2f}", *now, f"{age.cycles:,.0f}", *cells, str(len(age.seeds)))
    return sheet


def _period(life: Life, day: float) -> tuple[str, str]:
    """Load and temperature of a window."""
    assert life.profile is not None
    period = life.profile.load(day)
    return f"{period.dwpd:g}", "-" if period.celsius is None else f"{period.celsius:g}"


def _cell(age: Age, key: str) -> str:
    mean = age.estimate(key)
    if mean is None:
        return "-"
    return f"{100 * mean.value:.1f} %" if key == "retried_share" else short_figure(mean.value)
