"""`interpulse advise` command."""

from __future__ import annotations

import json as json_text
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from interpulse.cli.exit_codes import UserError
from interpulse.cli.options import CaseNames, ConfigPath, Json, On, Sets, Workers, path_option
from interpulse.cli.output_streams import emit
from interpulse.cli.search_options import Out, search_progress, with_limits_if_any
from interpulse.search.limits import said
from interpulse.tables.layout import Column, Sheet, fill, terminal_width

if TYPE_CHECKING:
    from interpulse.configuration.config import Config
    from interpulse.search.advice import Advice, Option

EPILOG = """\
Examples:

  interpulse advise examples/choose.toml --case steady --rank read-p99.99

  interpulse advise examples/choose.toml --read-p99.99 1.5ms --write-p99.9 30ms --max-suspends 10

  interpulse advise examples/choose.toml --case steady --read-p99.99 500us --set suspend.erase.stress=1% --wear 20%

  interpulse advise examples/choose.toml --case dense --read-p99.99 1.5ms --without exact --json

  interpulse advise examples/life.toml --case plain --read-p99.9 1ms --life 3y --profile examples/profile.toml

Limits hold in every case of the configuration; --rank orders the schemes of each case by one
figure. docs/SEARCH.md describes the search, docs/CHOOSING.md the reasons."""

MOST_SHOWN = 8

FEW_ERASES = 10
"""Fewer erases in a window do not tell erase schemes apart."""


@with_limits_if_any
def advise(
    config: ConfigPath,
    limits: dict[str, str],
    rank: Annotated[
        str | None,
        typer.Option(
            metavar="FIGURE",
            help="Rank all pairs of schemes by this figure, such as read-p99.99, instead of searching for limits.",
        ),
    ] = None,
    max_suspends: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=2**31,
            help="Most suspensions of one operation in the part's data sheet.",
            show_default="as configured",
        ),
    ] = None,
    wear: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Most wear that suspensions may add to that of the erases, such as 2%; suspend.*.stress is the "
            "wear of one suspension.",
        ),
    ] = None,
    life: Annotated[
        str | None,
        typer.Option(metavar="AGE", help="The age that the drive has to reach, such as 5y. docs/LIFE.md."),
    ] = None,
    dwpd: Annotated[
        float | None,
        typer.Option(metavar="N", help="Host writes per day until then, in capacities.", show_default="1"),
    ] = None,
    profile: Annotated[
        Path | None,
        path_option("FILE", "Periods of temperature, load and power until then, such as examples/profile.toml."),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="SCHEME", help="A scheme that the part lacks; may be repeated.")
    ] = None,
    cases: CaseNames = None,
    sets: Sets = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            max=1000,
            help="The number of seeds for each combination.",
            show_default="5; 3 with --rank",
        ),
    ] = None,
    out: Out = None,
    on: On = None,
    jobs: Workers = None,
    json: Json = False,
) -> int:
    """Find the suspension schemes that keep latency limits at the least cost, or rank all by one figure."""
    from interpulse.configuration.config import load_with_sets

    if rank is None and not limits:
        raise UserError(
            "no limit is given; expected at least one, such as --read-p99.9 1ms, or --rank FIGURE, such as "
            "--rank read-p99.99"
        )
    if rank is not None and (limits or wear is not None):
        other = next(iter(limits), "--wear")
        raise UserError(f"--rank with {other}: expected either a figure to rank by, or limits to keep")
    given = load_with_sets(config, sets or [])
    shared: dict[str, Any] = {
        "max_suspends": max_suspends,
        "life": life,
        "dwpd": dwpd,
        "profile": profile,
        "without": without or [],
        "out": out,
        "cases": cases,
        "on": on,
        "jobs": jobs,
        **({} if seeds is None else {"seeds": seeds}),
    }
    if rank is not None:
        return _rank(config, given, rank, shared, json=json)
    from interpulse.search import advise as search
    from interpulse.search.limits import read_share

    share = None if wear is None else read_share(wear, "--wear")
    with search_progress(config.stem, on, jobs) as progress:
        found = search.advise(given, limits, wear=share, progress=progress, **shared)
    emit(json_text.dumps(found.to_dict()) if json else "\n".join(_text(found)))
    return 0


def _rank(config: Path, given: Config, figure: str, shared: dict[str, Any], *, json: bool) -> int:
    from interpulse.cli import ranking
    from interpulse.files.atomic_file import whole_file
    from interpulse.search import rank as search

    with search_progress(config.stem, shared["on"], shared["jobs"]) as progress:
        found = search.rank(given, figure, progress=progress, **shared)
    if found.path is not None:
        for name, content in ranking.plots(found):
            with whole_file(found.path.parent / name) as file:
                file.write(content)
    emit(json_text.dumps(found.to_dict()) if json else "\n".join(ranking.lines(found, terminal_width())))
    return 0


def _text(found: Advice) -> Iterator[str]:
    width = terminal_width()
    limits = ", ".join(f"{limit.name} at most {said(limit, limit.bound)}" for limit in found.limits)
    limits += f", {found.life.text}" if found.life is not None else ""
    yield fill(f"{limits}, in each of {len(found.configured.judgements)} cases", width)
    yield ""
    if found.best is not None:
        yield from _best(found, found.best, width)
    else:
        yield from _nothing(found, width)
    yield ""
    yield fill(
        "Each operation alone, one seed; ruled out is what misses a limit both with ideal suspension of the other "
        "operation and without any:",
        width,
    )
    sheet = Sheet([Column("operation", "label"), Column("variant", "text"), Column("extra die time, %"),
                   Column("suspends"), Column("limits", "text")], narrow="records")  # fmt: skip
    for operation, of in found.ways.items():
        for way, option in of:
            why = option.ruled_out
            sheet.add_row(operation, way.label, *_cost(option), f"misses: {why}" if why else "not ruled out")
    yield sheet.text(width)
    yield from (fill(line, width) for line in _few_erases(found))
    for operation, refused in found.refused.items():
        for scheme, why in refused.items():
            yield fill(f"{operation} {scheme}: not tried: {why}", width)
    if found.untried:
        yield fill(f"{found.untried} combinations of higher expected cost were not tried", width)
    yield f"{found.simulated} simulated, {found.kept} reused; all files are in {found.path}"


def _best(found: Advice, best: Option, width: int) -> Iterator[str]:
    for key, value in best.candidate.sets:
        yield f"  --set {key}={value}"
    if best is found.configured:
        yield "The configuration as it is keeps the limits; no tried combination keeps them at less cost."
    yield ""
    for way in (best.candidate.program, best.candidate.erase):
        if way is not None and way.doc:
            yield fill(f"{way.operation}s: {way.scheme}: {way.doc}", width)
    for same in best.same:
        yield fill(f"same figures: {same}", width)
    yield ""
    yield f"Limits, kept with 95 % confidence over {found.seeds} seeds:"
    sheet = Sheet([Column("case", "label"), *(Column(limit.name, "whole") for limit in found.limits)], narrow="records")
    for case, judgement in best.judgements.items():
        sheet.add_row(
            case, *(reading.text().removeprefix(reading.limit.name).strip() for reading in judgement.readings)
        )
    yield sheet.text(width)
    yield from (fill(f"expected life in years, {case}: {life.text}", width) for case, life in best.lives.items())
    yield from (fill(line, width) for line in _margin(best))
    unsure = sum(judgement.unsure for judgement in best.judgements.values())
    if unsure:
        yield fill(f"{unsure} windows were too short to decide whether they were steady", width)
    yield ""
    yield "Alternatives by cost (ratios: the best over this one, same seeds):"
    table = Sheet([Column("", "text"), Column("extra die time, %"), Column("suspends"), Column("limits", "text"),
                   *([Column("life, years", "text")] if found.life is not None else []),
                   Column("best / this", "text")], narrow="records")  # fmt: skip
    for option in [best, *(each for each in [*found.options, found.configured] if each is not best)][:MOST_SHOWN]:
        label = option.candidate.label
        table.add_row(label, *_cost(option), _state(option), *_life(found, option), _against(found, label))
    yield table.text(width)


def _margin(best: Option) -> Iterator[str]:
    """The figure that is nearest to its limit, by the upper end of its interval."""
    shares = [
        ((reading.high or reading.value) / reading.limit.bound, case, reading)
        for case, judgement in best.judgements.items()
        for reading in judgement.readings
        if reading.value is not None
    ]
    if shares:
        share, case, reading = max(shares, key=lambda each: each[0])
        where = f"{case}: " if len(best.judgements) > 1 else ""
        yield f"nearest to its limit: {where}{reading.limit.name}, up to {100 * share:.0f} % of it"


def _few_erases(found: Advice) -> Iterator[str]:
    """A warning if erase schemes were tried in windows with hardly an erase, where all of them look alike."""
    counts = [
        raw["nand"].get("erases", 0)
        for _, option in found.ways.get("erase", ())
        for raws in option.raws.values()
        for raw in raws
    ]
    if counts and min(counts) < FEW_ERASES:
        yield (
            f"warning: a window in which erase schemes were compared had {min(counts)} erases, too few to tell them "
            "apart: a larger run.requests or run.time shows what they do"
        )


def _against(found: Advice, label: str) -> str:
    """The two ratios farthest from 1 among those whose intervals exclude 1."""
    ratios = {
        figure: ratio
        for figure, ratio in found.ratios.get(label, {}).items()
        if ratio.low is not None and ratio.high is not None and not ratio.low <= 1 <= ratio.high
    }
    most = sorted(ratios, key=lambda figure: -max(ratios[figure].value, 1 / ratios[figure].value))[:2]
    return "; ".join(f"{figure} {ratios[figure].text()}" for figure in most) or "-"


def _nothing(found: Advice, width: int) -> Iterator[str]:
    if found.impossible:
        yield fill(
            f"No scheme can: uncapped ideal suspension of programs and erases misses too: {found.impossible}", width
        )
    else:
        yield fill("No tried combination was shown to keep the limits.", width)
        for operation, of in found.ways.items():
            if of and all(option.ruled_out for _, option in of):
                yield fill(
                    f"Every variant for {operation}s misses a limit, with ideal suspension of the other operation and "
                    "without any.",
                    width,
                )
    near = found.nearest
    yield fill(f"Nearest: {near.candidate.label}: {_state(near)}", width)


def _cost(option: Option) -> tuple[str, str]:
    if option.cost is None:
        return "-", "-"
    return f"{100 * option.cost.extra:.2f}", f"{option.cost.suspends:.1f}"


def _life(found: Advice, option: Option) -> list[str]:
    """The shortest expected life over the cases, where a life is demanded."""
    if found.life is None:
        return []
    lives = sorted(option.lives.values(), key=lambda each: (each.lives is not False, each.end.value if each.end else 0))
    return [lives[0].text if lives else "-"]


def _state(option: Option) -> str:
    if option.seeds == 1 and option.state != "misses":
        figures = [reading for judgement in option.judgements.values() for reading in judgement.readings]
        shown = "; ".join(f"{reading.limit.name} {said(reading.limit, reading.value)}" for reading in figures)
        return f"one seed: {shown}" if shown else "not run"
    return f"{option.state}: {option.why}" if option.why else str(option.state)
