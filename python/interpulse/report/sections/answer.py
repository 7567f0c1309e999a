"""First screen: the sentence that answers, four figures, the tail, the causes of the slowest reads."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from interpulse.report import cause_bars, four_figures
from interpulse.report.elements import Chart, Html, Section, micro, swatch
from interpulse.report.runs import Report, Series
from interpulse.report.sections import latency
from interpulse.report.sections.slowest import NAME as SLOWEST
from interpulse.runs import summary
from interpulse.runs.comparison import number_at
from interpulse.runs.estimate import mean_of

MOST = 3
"""Sentences that are there at once; further ones are folded away."""

HEIGHT = 300
"""Of the plot: with it, the first screen fits a laptop's."""

_CHANGE = re.compile(
    r"[\d.,]+\u00a0(?:µs|ms|s) → [\d.,]+\u00a0(?:µs|ms|s) \((?![^)]*within chance)[^)]*\)|(?<= )[+\u2212][\d.,]+\u00a0%"
)
"""A change that chance does not explain."""


def section(report: Report) -> Section:
    """Never folded away."""
    kind = "read" if any(latency.has(series, "read") for series in report.series) else "write"
    chart = latency.chart(report, kind, height=HEIGHT) or latency.chart(report, "all", height=HEIGHT)
    cases = four_figures.shown(report, four_figures.chosen(report)[0])
    bars = cause_bars.bars(report, cases)
    parts: list[Chart | Html] = [_sentences(report), four_figures.cards(report)]
    if chart is not None:
        parts += [
            Html('<div class="split">'),
            replace(chart, short=True),
            Html(f"<div>{'' if bars is None else bars.text}{_links()}</div></div>"),
        ]
    return Section("answer", "Answer", parts, folds=False)


def cases(report: Report) -> list[Mapping[str, Any]]:
    """The cases as sentences are made of them: of several seeds their means."""
    if len(report.runs) == 1:
        return [case.raw for case in report.runs[0].result.cases]
    return [_mean(series) for series in report.series]


def _mean(series: Series) -> dict[str, Any]:
    """The case with the means of its seeds; the rest is that of the first seed that is not steady, if one is not."""
    unsteady = (raw for raw in series.raws if raw.get("steady", {}).get("verdict", "yes") != "yes")
    raw = next(unsteady, series.first)
    found: dict[str, Any] = {**raw, "case": series.label, "latency_us": {}}
    for kind, names in raw.get("latency_us", {}).items():
        means = {name: mean_of([number_at(("latency_us", kind, name), each) for each in series.raws]) for name in names}
        few = {name for each in series.raws for name in each["latency_us"].get(kind, {}).get("few", ())}
        found["latency_us"][kind] = {name: value for name, value in means.items() if value is not None}
        found["latency_us"][kind] |= {"few": sorted(few)} if few else {}
    if (iops := mean_of([number_at(("iops",), each) for each in series.raws])) is not None:
        found["iops"] = iops
    if (power := mean_of([number_at(("power", "mean_mw", "total"), each) for each in series.raws])) is not None:
        found["power"] = {"mean_mw": {"total": power}}
    return found


def warnings(of: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What is not to be trusted."""
    yield from summary.reservations(of)
    if any(case.get("steady", {}).get("verdict") != "yes" for case in of):
        yield from summary.steadiness(of)


def changes(report: Report) -> list[str]:
    """What changed, as `interpulse run` says it."""
    every = cases(report)
    of, kind = summary.measured(every)
    if len(report.sides) == 1:
        return list(summary.changes(of, kind, whole=len(of) == len(every)))
    if len(report.pairs) > summary.MOST_COMPARED:
        return [summary.extremes(of, kind)]
    return [summary.change_sentence(_mean(pair.before), _mean(pair.after)) for pair in report.pairs]


def _sentences(report: Report) -> Html:
    of, _ = summary.measured(cases(report))
    doubts = [*(f"{note}" for note in report.notes), *warnings(of)]
    said = changes(report)
    lines = [f'<li class="warning">{html.escape(micro(each))}.</li>' for each in doubts[:MOST]]
    lines += [_sentence(each, report) for each in said[:MOST]]
    body = f'<ul class="answer">{"".join(lines)}</ul>'
    if left := [*doubts[MOST:], *said[MOST:]]:
        items = "".join(f"<li>{html.escape(micro(each))}.</li>" for each in left)
        body += f'<details><summary>{len(left)} more</summary><ul class="answer">{items}</ul></details>'
    return Html(body)


def _sentence(text: str, report: Report) -> str:
    """A sentence with the look of its case, and what changed in bold."""
    index = next((k for k, series in enumerate(report.series) if text.startswith(f"{series.label}, against ")), None)
    mark = "" if index is None else f"{swatch(four_figures.key(index, report.series[index]))} "
    shown = _CHANGE.sub(lambda found: f"<b>{found[0]}</b>", html.escape(micro(text), quote=False))
    return f"<li>{mark}{shown}.</li>"


def _links() -> str:
    return (
        f'<p><a class="action" href="#{SLOWEST}">The slowest requests, pulse by pulse</a>'
        '<a class="action second" href="#figures">Every figure</a></p>'
    )
