"""`interpulse slo` command."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING, Annotated

import typer

from interpulse.cli.options import CaseNames, ConfigPath, Json, On, Sets, Workers
from interpulse.cli.output_streams import emit
from interpulse.cli.search_options import Out, Seeds, search_progress, with_limits
from interpulse.search.limits import said
from interpulse.tables.layout import Column, Sheet, fill, terminal_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interpulse.search.slo import Slo, Sustained, Tried

EPILOG = """\
Examples:

  interpulse slo examples/slo.toml --read-p99.9 1.2ms

  interpulse slo examples/choose.toml --case steady --read-p99.9 1ms --write-p99.9 5ms --set suspend.erase.scheme=exact

  interpulse slo examples/slo.toml --read-p99.9 1.2ms --precision 20% --json

The load is the rate of open arrivals, the depth of closed loops, or the speed of a recorded trace; several flows \
increase together. Each load is simulated with several seeds and judged with 95 % confidence. docs/SEARCH.md describes \
the search."""


@with_limits
def slo(
    config: ConfigPath,
    limits: dict[str, str],
    cases: CaseNames = None,
    sets: Sets = None,
    seeds: Seeds = 5,
    precision: Annotated[
        str, typer.Option(metavar="SHARE", help="Largest width of the interval of the result, as a share of the load.")
    ] = "5%",
    out: Out = None,
    on: On = None,
    jobs: Workers = None,
    json: Json = False,
) -> int:
    """Find the largest load that a configuration sustains under latency limits."""
    from interpulse.configuration.config import load_with_sets
    from interpulse.search import slo as search
    from interpulse.search.limits import read_share

    given = load_with_sets(config, sets or [])
    width = read_share(precision, "--precision")
    with search_progress(config.stem, on, jobs) as progress:
        found = search.slo(
            given, limits, out=out, cases=cases, seeds=seeds, precision=width, on=on, jobs=jobs, progress=progress
        )
    emit(json_text.dumps(found.to_dict()) if json else _text(found))
    return 0


def _text(found: Slo) -> str:
    width = terminal_width()
    names = ("sustains", "fails from", "by", "there", "just above")
    sheet = Sheet([Column("case", "text"), *(Column(name, "text") for name in names)], narrow="records")
    for each in found.cases:
        below, above = each.at(each.sustains), each.at(each.fails)
        sheet.add_row(
            each.case,
            each.load.said(each.sustains),
            each.load.said(each.fails),
            each.binding or "-",
            _at(each, below),
            _at(each, above),
        )
    lines = [line for each in found.cases for line in _notes(each)]
    limits = ", ".join(f"{limit.name} at most {said(limit, limit.bound)}" for limit in found.limits)
    head = f"{limits}; {found.seeds} seeds each, judged with 95 % confidence"
    ran = f"{found.simulated} simulated, {found.kept} reused; all files are in {found.path}"
    return "\n".join([fill(head, width), "", sheet.text(width), "", *(fill(line, width) for line in [*lines, ran])])


def _at(each: Sustained, tried: Tried | None) -> str:
    if tried is None:
        return "-"
    judgement = tried.judgement
    if judgement.behind:
        return judgement.behind
    by = each.binding if each.binding and each.binding != "what is offered" else judgement.nearest().limit.name
    return next(reading for reading in judgement.readings if reading.limit.name == by).text()


def _notes(each: Sustained) -> Iterator[str]:
    above = each.at(each.fails)
    if above is not None:
        others = [reading.text() for reading in above.judgement.missed()[1:]]
        if others:
            yield f"{each.case}: at {each.load.said(each.fails)} also missed: {'; '.join(others)}"
        if above.blame:
            causes = ", ".join(f"{cause.replace('_', ' ')} {100 * share:.0f} %" for cause, share in above.blame.items())
            yield f"{each.case}: at {each.load.said(each.fails)} the slowest 0.1 % of reads wait for {causes}"
    between = [t for t in each.tried if t.judgement.state == "open"]
    if between:
        first, last = between[0].load, between[-1].load
        at = each.load.said(first) if first == last else f"{each.load.said(first)} to {each.load.said(last)}"
        why = next((r.why for t in between for r in t.judgement.readings if r.state == "open" and r.why), "")
        yield f"{each.case}: at {at} the result is open" + (f" ({why})" if why else " (the interval holds the limit)")
    unsure = sum(t.judgement.unsure > 0 for t in each.tried)
    if unsure:
        of = f"{unsure} of {len(each.tried)} loads"
        yield f"{each.case}: at {of} windows were too short to decide whether they were steady"
    longest = max((t.times for t in each.tried), default=1)
    if longest > 1:
        yield f"{each.case}: windows were up to {longest:g} times as long as configured"
    if each.note:
        yield f"{each.case}: {each.note}"
