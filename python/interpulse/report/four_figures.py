"""Four figures of a page about runs: two tails of reads, one of writes, throughput, each with change and interval."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interpulse.report.charts import Key, colour, dash
from interpulse.report.elements import Html, swatch
from interpulse.report.rounding import FACTOR, half, percent, places, rounded
from interpulse.report.runs import Report, Series
from interpulse.runs.comparison import number_at
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


def chosen(report: Report) -> list[Figure]:
    """The four figures: without reads, or without writes, three tails of what there is."""
    kinds = [kind for kind in ("read", "write") if any(_count(series, kind) for series in report.series)]
    if kinds == ["read", "write"]:
        tails = [("read", "p99.9"), ("read", "p99.99"), ("write", "p99.9")]
    else:
        tails = [(kinds[0] if kinds else "all", name) for name in ("p99", "p99.9", "p99.99")]
    found = [
        Figure(
            f"{kind.capitalize()}s: slowest {_SHARES[name]}",
            f"{name}, µs",
            ("latency_us", kind, name),
            f"{kind} {name}",
        )
        for kind, name in tails
    ]
    return [*found, Figure("Throughput", "requests/s", ("iops",), "all IOPS")]


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
    return Html(f'<div class="four">{"".join(_card(report, figure, cases) for figure in four)}</div>')


def _card(report: Report, figure: Figure, cases: Sequence[tuple[int, Series]]) -> str:
    ratios = _ratios(report, figure.name)
    of = {index: figure.of(series) for index, series in cases}
    decimals = _decimals([each for each in of.values() if each is not None])
    rows = []
    for index, series in cases:
        label = html.escape(series.label)
        one = of[index]
        own = decimals if decimals is not None or one is None else min(places(one.value, one.low, one.high), 6)
        value, sure = _value(figure, series, one, own or 0)
        cells = f'<td class="value">{value}</td><td>{sure}</td>'
        if len(report.series) > 1:
            cells += _change(ratios.get(series.label))
        name = f'<th scope="row" title="{label}">{swatch(key(index, series))} {label}</th>'
        rows.append(f"<tr>{name}{cells}</tr>")
    heads = [figure.unit, "± 95 %", *(["change"] if len(report.series) > 1 else [])]
    head = "".join(f'<th scope="col">{html.escape(each)}</th>' for each in heads)
    return (
        f"<div><table><caption>{html.escape(figure.title)}</caption><thead><tr><td></td>{head}</tr></thead>"
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


def _change(ratio: tuple[float, float | None, float | None] | None) -> str:
    """A change, half its interval, and whether that leaves out none."""
    if ratio is None:
        return "<td></td>"
    value, low, high = ratio
    if low is None or high is None:
        return f'<td class="change">{percent(value)}</td>'
    differs = " sure" * (not low <= 1 <= high)
    around = "" if value >= FACTOR else f" <small>{half(100 * low, 100 * high, 0)}</small>"
    return f'<td class="change{differs}">{percent(value)}{around}</td>'


def _ratios(report: Report, name: str) -> Mapping[str, tuple[float, float | None, float | None]]:
    """Ratios of a figure with their intervals, by the label of the case that is compared."""
    found: dict[str, Any] = {}
    for pair in report.pairs:
        for row in pair.rows:
            if row.figure == name and row.ratio is not None:
                found[pair.after.label] = (row.ratio, row.low, row.high)
    return found
