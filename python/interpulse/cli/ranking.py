"""Ranking of suspension schemes as text: the answer, a table and a plot for each case, and the plot as a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from interpulse._core import ConfigError
from interpulse.cli.output_streams import say
from interpulse.runs.answer import time
from interpulse.search.rank import words
from interpulse.tables.interval_plot import interval_plot
from interpulse.tables.layout import Column, Sheet, fill

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from interpulse.runs.estimate import Estimate
    from interpulse.search.limits import Limit
    from interpulse.search.ranking import CaseRanking, Pair, Ranking

MOST_SHOWN = 12
"""Most ranked pairs in the table of a case; the JSON has all."""

EXTRA, POWER, WEAR, LIFE = "extra die time, %", "power, %", "added wear, %", "life, years"
"""Names of columns."""

MOST_REASONS = 4
"""Most reasons why pairs are not ranked; the JSON has all."""


def lines(found: Ranking, width: int) -> Iterator[str]:
    """Lines of at most `width` columns."""
    for of in found.cases:
        yield from (fill(line, width) for line in _answer(found, of))
    for of in found.cases:
        yield ""
        if len(found.cases) > 1:
            yield f"Case {of.case}"
        rows = _rows(of)
        yield _table(found, of, rows).text(width)
        intervals = [(label, pair.value) for label, pair in rows if pair.value is not None]
        yield ""
        yield from interval_plot([(label, e.value, e.low, e.high) for label, e in intervals], found.figure.name, width)
        yield from (fill(line, width) for line in _remarks(found, of))
    yield ""
    yield from (fill(line, width) for line in _foot(found))


def _answer(found: Ranking, of: CaseRanking) -> Iterator[str]:
    """The sentence that answers."""
    start = f"{of.case}: " if len(found.cases) > 1 else ""
    best, none, figure = of.best, of.none, found.figure
    if best is None or best.value is None:
        why = of.doubtful[0].doubt if of.doubtful else "the part allows none"
        yield f"{start}no pair can be ranked by {figure.name}: {why}"
        return
    against = ""
    if best.candidate.sets != none.candidate.sets and none.value is not None:
        change = "" if none.doubt else f", {_percent(best.value.value / none.value.value)}"
        against = f" instead of {_time(none.value)} without suspension{change}"
        against += f" ({none.doubt})" if none.doubt else ""
    yield f"{start}lowest {figure.name}: {best.candidate.label}: {_between(best.value)}{against}"
    costs = [each for each in _costs(found, best, none) if each]
    if best.candidate.sets != none.candidate.sets:
        yield f"its cost against no suspension: {'; '.join(costs) or 'none within 2 %'}"
    ties = of.as_good
    if ties:
        names = "; ".join(_short(pair) for pair in ties[:3])
        more = f" and {len(ties) - 3} more" if len(ties) > 3 else ""
        yield f"within chance of it over {found.seeds} seeds: {names}{more}"
        least = min([best, *ties], key=lambda pair: pair.extra)
        if least is not best:
            share, other = (f"{100 * each.extra:.2g} %" for each in (least, best))
            yield f"of these {_short(least)} costs the least die time: {share} instead of {other}"


def _costs(found: Ranking, best: Pair, none: Pair) -> Iterator[str]:
    if found.other is not None and not none.doubt:
        pair = [each.estimate(found.other) for each in (none, best)]
        if pair[0] is not None and pair[1] is not None and abs(pair[1].value / pair[0].value - 1) > 0.05:
            yield f"{found.other.name} {_time(pair[0])} -> {_time(pair[1])} ({_percent(pair[1].value / pair[0].value)})"
    if none.iops and abs(best.iops / none.iops - 1) > 0.02:
        yield f"IOPS {_percent(best.iops / none.iops)}"
    if best.power and none.power and abs(best.power / none.power - 1) > 0.02:
        yield f"power {_percent(best.power / none.power)}"
    yield f"{100 * best.extra:.2g} % more die time" if best.extra >= 0.0005 else ""
    yield f"{100 * best.wear:.2g} % more wear" if best.wear else ""


def _rows(of: CaseRanking) -> list[tuple[str, Pair]]:
    """Labelled pairs of the table and the plot: the ranked ones, then what they are compared with."""
    rows = [(str(number), pair) for number, pair in enumerate(of.ranked[:MOST_SHOWN], start=1)]
    rows.append(("none", of.none))
    if of.configured.figures != of.none.figures:
        rows.append(("now", of.configured))
    if of.ideal is not None:
        rows.append(("ideal", of.ideal))
    return rows


def _table(found: Ranking, of: CaseRanking, rows: Sequence[tuple[str, Pair]]) -> Sheet:
    columns = [Column("", "label"), Column("programs", "whole"), Column("erases", "whole")]
    columns += [Column(found.figure.name), Column("95 % interval", "whole")]
    shared = _shared(found, of, rows)
    figures = [each for each in _figures(found, rows) if each.name not in shared]
    sheet = Sheet([*columns, *figures], narrow="records")
    for label, pair in rows:
        cells = _cells(found, of, pair)
        mark = "=" if pair in of.as_good else ""
        first = [f"{label}{mark}", *_names(found, pair), _time(pair.value), _interval(pair.value)]
        sheet.add_row(*first, *(cells[each.name] for each in figures))
    return sheet


def _names(found: Ranking, pair: Pair) -> tuple[str, str]:
    ways = [each for each in (pair.candidate.program, pair.candidate.erase) if each is not None]
    names = [_own(found, each.operation, each.label) for each in ways]
    return (names[0], names[1]) if names else ("as configured", "")


def _figures(found: Ranking, rows: Sequence[tuple[str, Pair]]) -> list[Column]:
    """Columns of what a pair costs."""
    names = [*([found.other.name] if found.other is not None else []), "IOPS", EXTRA, POWER]
    more = [*([WEAR] if any(pair.wear for _, pair in rows) else []), *([LIFE] if found.life is not None else [])]
    return [Column(name) for name in [*names, *more]]


def _cells(found: Ranking, of: CaseRanking, pair: Pair) -> dict[str, str]:
    power = pair.power / of.none.power - 1 if pair.power and of.none.power else None
    cells = {
        "IOPS": f"{pair.iops:,.0f}" if pair.raws else "-",
        EXTRA: f"{100 * pair.extra:.2f}" if pair.raws else "-",
        POWER: "-" if power is None else f"{100 * power:+.1f}",
        WEAR: f"{100 * (pair.wear or 0):.2g}",
        LIFE: "-" if pair.life is None else pair.life.text,
    }
    return cells | ({found.other.name: _time(pair.estimate(found.other))} if found.other is not None else {})


def _shared(found: Ranking, of: CaseRanking, rows: Sequence[tuple[str, Pair]]) -> dict[str, str]:
    """Figures that are the same in every row: a line below the table has them, so that it is narrower."""
    cells = [_cells(found, of, pair) for _, pair in rows]
    return {name: cells[0][name] for name in (each.name for each in _figures(found, rows)) if _is_same(cells, name)}


def _is_same(cells: Sequence[Mapping[str, str]], name: str) -> bool:
    return len(cells) > 1 and len({each[name] for each in cells}) == 1


def _own(found: Ranking, operation: str, label: str) -> str:
    """A label without the settings that all schemes share."""
    for key, value in found.common[operation].items():
        label = label.replace(f", {key.rsplit('.', 1)[1]}={value}", "")
    return label


def _remarks(found: Ranking, of: CaseRanking) -> Iterator[str]:
    for pair in of.ranked[:MOST_SHOWN]:
        if pair.same:
            yield f"same figures as {_short(pair)}: {_some([_without(found, each) for each in pair.same])}"
    if shared := _shared(found, of, _rows(of)):
        yield f"in every row: {', '.join(f'{name} {value}' for name, value in shared.items())}"
    for name, pair in (("without suspension", of.none), ("as configured", of.configured)):
        if pair.doubt:
            yield f"{name}: not to be trusted: {pair.doubt}"
    reasons: dict[str, list[str]] = {}
    for pair in of.doubtful:
        end = f" ({pair.life.text})" if pair.life is not None and not pair.doubt else ""
        reasons.setdefault(pair.excluded, []).append(f"{_short(pair)}{end}")
    for doubt, names in [*reasons.items()][:MOST_REASONS]:
        yield f"not ranked: {_some(names)}: {doubt}"
    if len(reasons) > MOST_REASONS:
        yield f"not ranked: {sum(map(len, [*reasons.values()][MOST_REASONS:]))} more pairs"
    if of.screened:
        values = [pair.value.value for pair in of.screened if pair.value is not None]
        between = f"{time(min(values))} to {time(max(values))}"
        yield f"{len(of.screened)} more pairs with one seed: {found.figure.name} {between}"


def _foot(found: Ranking) -> Iterator[str]:
    if found.life is not None:
        yield f"ranked pairs have {found.life.text}, or an interval that contains it"
    yield "=: within chance of the first. none: no suspension. now: as configured. ideal: in no part, a bound for reads"
    for operation, of in found.common.items():
        if of:
            yield f"all schemes for {operation}s: {words(of)}"
    for operation, refused in found.refused.items():
        for scheme, why in refused.items():
            yield f"{operation} {scheme}: not tried: {why}"
    yield (
        "The limits of suspends and intervals are not varied: with latency limits instead of --rank, such as "
        "--read-p99.9 1ms, `advise` searches the cheapest settings that keep them"
    )
    yield f"{found.simulated} simulated, {found.kept} reused; all files are in {found.path}"


def _short(pair: Pair) -> str:
    ways = [pair.candidate.program, pair.candidate.erase]
    return " + ".join(way.scheme for way in ways if way is not None) or pair.candidate.label


def _without(found: Ranking, label: str) -> str:
    for operation in found.common:
        label = _own(found, operation, label)
    return label


def _some(names: Sequence[str]) -> str:
    return "; ".join(names[:3]) + (f"; {len(names) - 3} more" if len(names) > 3 else "")


def _time(of: Estimate | None) -> str:
    return "-" if of is None else time(of.value)


def _interval(of: Estimate | None) -> str:
    if of is None or of.low is None or of.high is None:
        return "-"
    low, high = time(of.low), time(of.high)
    unit = high.rpartition(" ")[2]
    return f"{low.removesuffix(f' {unit}')} to {high}"


def _between(of: Estimate) -> str:
    inside = _interval(of)
    return _time(of) if inside == "-" else f"{_time(of)} ({inside})"


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.0f} %"


def plots(found: Ranking) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the plot's files; none, with a message, where Matplotlib is not installed."""
    from interpulse.plotting.plots import Plot, need_matplotlib, to_bytes

    try:
        need_matplotlib()
    except ConfigError as error:
        say(f"no ranking.png and ranking.svg: {error}")
        return
    for form, content in to_bytes(Plot("ranking", lambda: _draw(found))):
        yield f"ranking.{form}", content


def _draw(found: Ranking) -> Figure:
    """The ranked figure against the other tail, or against the extra die time, a panel for each case."""
    from interpulse.plotting.plots import COLOURS, logarithmic, panels

    figure, axes = panels(1, len(found.cases), width=6.0, height=4.2)
    for axis, of in zip(axes, found.cases, strict=True):
        kinds = {"none": COLOURS[1], "now": COLOURS[2], "ideal": COLOURS[5]}
        for label, pair in _rows(of):
            value, beside = pair.value, _beside(found.other, pair)
            if value is None or beside is None:
                continue
            low, high = value.low or value.value, value.high or value.value
            colour = kinds.get(label, COLOURS[0])
            spread = [[value.value - low], [high - value.value]]
            axis.errorbar([value.value], [beside], xerr=spread, fmt="o", markersize=4, color=colour, capsize=2)
            axis.annotate(label, (value.value, beside), xytext=(4, 4), textcoords="offset points", fontsize=8)
        other = "extra die time, %" if found.other is None else f"{found.other.name}, us"
        axis.set(xlabel=f"{found.figure.name}, us", ylabel=other, title=of.case if len(found.cases) > 1 else "")
        logarithmic(axis, x=True, y=found.other is not None)
    return figure


def _beside(other: Limit | None, pair: Pair) -> float | None:
    if other is None:
        return 100 * pair.extra
    found = pair.estimate(other)
    return None if found is None else found.value
