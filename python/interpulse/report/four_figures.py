"""Four figures of a page about runs: two tails of reads, one of writes, throughput, each with change and interval."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from interpulse.report.charts import Key, colour, dash
from interpulse.report.elements import Html, swatch
from interpulse.report.rounding import FACTOR, half, percent, places, rounded
from interpulse.report.runs import Pair, Report, Series
from interpulse.runs.answer import TAIL_UNCHANGED, is_chance
from interpulse.runs.comparison import Row, number_at
from interpulse.runs.estimate import Estimate, mean_of
from interpulse.runs.latency import UNSURE

FAR = 30
"""From this ratio on, figures of a card are rounded each by itself."""

MOST = 4
"""Cases of a card: the first, and of the others those with the least tails."""

_SHARES = {"p50": "half", "p99": "1 %", "p99.9": "0.1 %", "p99.99": "0.01 %"}


@dataclass(frozen=True)
class Figure:
    """One of the four: what it is called and where a result has it."""

    title: str
    measure: str
    """A percentile, or its unit in words."""
    unit: str
    path: tuple[str, ...]
    name: str
    """As comparisons call it."""

    def of(self, series: Series) -> Estimate | None:
        """The figure of a case: over seeds, or with its interval within the only run; None where there is none."""
        values = [number_at(self.path, raw) for raw in series.raws]
        if (mean := mean_of(values)) is None:
            return None
        if len(values) > 1:
            return Estimate.of([value for value in values if value is not None])
        inside = series.first.get("latency_us", {}).get(self.path[1], {}) if self.path[0] == "latency_us" else {}
        low, high = inside.get("interval", {}).get(self.path[-1], (None, None))
        return Estimate(mean, low, high)

    def few(self, series: Series) -> bool:
        """Whether fewer than ten requests lie beyond it."""
        if self.path[0] != "latency_us":
            return False
        return any(
            self.path[-1] in raw.get("latency_us", {}).get(self.path[1], {}).get("few", ()) for raw in series.raws
        )


@dataclass(frozen=True)
class Change:
    """Change of a figure of a case against the one that it is compared with."""

    ratio: float
    low: float | None
    high: float | None
    chance: bool | None
    """Whether chance explains it; None where that is unknown."""

    @property
    def looks(self) -> str:
        """`sure` where seeds exclude chance, `same` where chance, or the figure's last digit, explains it."""
        percents = abs(round(100 * (self.ratio - 1)))
        if self.low is None or self.high is None:
            return "same" if self.chance or not percents else ""
        return "same" if self.chance or percents <= round(50 * (self.high - self.low)) else "sure"


def chosen(report: Report) -> list[Figure]:
    """The four figures: without reads, or without writes, three tails of what there is.

    With both, the tails of reads are p99.9 and p99.99; p99 replaces p99.99 where a case changes p99 and not p99.9, or
    p99 changes and p99.99 does not.
    """
    kinds = [kind for kind in ("read", "write") if any(_count(series, kind) for series in report.series)]
    if kinds == ["read", "write"]:
        near, far, farthest = (_tail("read", name) for name in ("p99", "p99.9", "p99.99"))
        moved = _changed(report, near)
        is_near = moved and (moved - _changed(report, far) or not _changed(report, farthest))
        found = [*([near, far] if is_near else [far, farthest]), _tail("write", "p99.9")]
    else:
        found = [_tail(kinds[0] if kinds else "all", name) for name in ("p99", "p99.9", "p99.99")]
    return [*found, Figure("Throughput", "requests/s", "1/s", ("iops",), "all IOPS")]


def _tail(kind: str, name: str) -> Figure:
    title = f"{kind.capitalize()}s: slowest {_SHARES[name]}"
    return Figure(title, name, "µs", ("latency_us", kind, name), f"{kind} {name}")


def _changed(report: Report, figure: Figure) -> set[str]:
    """Cases whose change is neither chance nor one that sentences call none."""
    found = _changes(report, figure).items()
    return {label for label, of in found if not of.chance and abs(of.ratio - 1) > TAIL_UNCHANGED}


def _count(series: Series, kind: str) -> int:
    found: int = series.first.get("latency_us", {}).get(kind, {}).get("count", 0)
    return found


def key(index: int, series: Series) -> Key:
    """How a case looks in legends."""
    return Key(series.label, colour(index), dash(index))


def shown(report: Report, figure: Figure) -> list[tuple[int, Series]]:
    """The cases of a card, in their order."""
    every = list(enumerate(report.series))
    if len(every) <= MOST:
        return every
    tails = {index: figure.of(series) for index, series in every}
    ranked = sorted(every[1:], key=lambda pair: of.value if (of := tails[pair[0]]) else float("inf"))
    return sorted([every[0], *ranked[: MOST - 1]], key=lambda pair: pair[0])


def cards(report: Report) -> Html:
    """The four cards."""
    four = chosen(report)
    # The same cases on each of them.
    cases = shown(report, four[0])
    # Names of cases share out the width.
    return Html(f'<div class="four named">{"".join(_card(report, figure, cases) for figure in four)}</div>')


def _card(report: Report, figure: Figure, cases: Sequence[tuple[int, Series]]) -> str:
    changes = _changes(report, figure)
    of = {index: figure.of(series) for index, series in cases}
    decimals = _decimals([each for each in of.values() if each is not None])
    compared = len(report.series) > 1
    # An empty column would take space from the names.
    known = any(each is not None and each.low is not None for each in of.values())
    rows = []
    for index, series in cases:
        label = html.escape(series.label)
        one = of[index]
        own = decimals if decimals is not None or one is None else min(places(one.value, one.low, one.high), 6)
        value, sure = _value(figure, series, one, own or 0)
        cells = f'<td class="value">{value}</td>{f"<td>{sure}</td>" * known}'
        cells += _change(changes.get(series.label)) * compared
        name = f'<th scope="row" title="{label}"><span>{swatch(key(index, series))} {label}</span></th>'
        rows.append(f"<tr>{name}{cells}</tr>")
    heads = [figure.unit, *["±95\u202f%"] * known, *["change"] * compared]
    head = "".join(f'<th scope="col">{html.escape(each)}</th>' for each in heads)
    measure = f" <small>{figure.measure}</small>" * bool(figure.measure)
    return (
        f"<div><table><caption>{html.escape(figure.title)}{measure}</caption><thead><tr><td></td>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _decimals(of: Sequence[Estimate]) -> int | None:
    """Decimals that all cases of a card have, so that their figures are aligned: those of the least certain one.

    The smallest figure keeps two digits. None where figures are too far apart to be aligned.
    """
    positive = [each.value for each in of if each.value > 0]
    if positive and max(positive) > FAR * min(positive):
        return None
    known = [min(places(each.value, each.low, each.high), 6) for each in of]
    least = min((each.value for each in of if each.value > 0), default=1.0)
    return max(min(known, default=0), min(places(least, digits=2), max(known, default=0)))


def _value(figure: Figure, series: Series, of: Estimate | None, decimals: int) -> tuple[str, str]:
    """A figure and half its interval."""
    if of is None:
        return "-", ""
    text = f"{UNSURE * figure.few(series)}{rounded(of.value, decimals)}"
    return text, "" if of.low is None or of.high is None else half(of.low, of.high, decimals)


def _change(change: Change | None) -> str:
    """A change and half its interval."""
    if change is None:
        return "<td></td>"
    around = ""
    if change.low is not None and change.high is not None and change.ratio < FACTOR:
        sure = half(100 * change.low, 100 * change.high, 0)
        around = f" <small>{sure}</small>" * bool(sure)
    return f'<td class="{" ".join(filter(None, ("change", change.looks)))}">{percent(change.ratio)}{around}</td>'


def _changes(report: Report, figure: Figure) -> Mapping[str, Change]:
    """Changes of a figure by the label of the case that is compared."""
    return {
        pair.after.label: Change(row.ratio, row.low, row.high, _is_chance(figure, pair, row))
        for pair in report.pairs
        for row in pair.rows
        if row.figure == figure.name and row.ratio is not None
    }


def _is_chance(figure: Figure, pair: Pair, row: Row) -> bool | None:
    """Over seeds, or of single runs from the intervals within them; None where neither is known."""
    if row.differs is not None:
        return not row.differs
    if figure.path[0] != "latency_us" or row.ratio is None:
        return None
    if abs(row.ratio - 1) <= TAIL_UNCHANGED:
        # As sentences have it: from seed to seed a percentile moves by as much.
        return True
    _, kind, name = figure.path
    old, new = (series.first.get("latency_us", {}).get(kind, {}) for series in (pair.before, pair.after))
    known = all(name in of.get("interval", {}) for of in (old, new))
    return is_chance(old, new, name) if known else None
