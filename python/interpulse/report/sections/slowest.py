"""Section on the slowest requests: list, explanation and swimlanes."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from functools import partial

from interpulse.report import latency_text, slow_request, swimlanes, timeline_files
from interpulse.report.elements import Cell, Chart, Html, Section, prose, table
from interpulse.report.runs import Report
from interpulse.report.slow_request import SlowRequest

NAME = "slowest"

MISSING = (
    "No timeline lies beside this result: run with --report, or with --timeline worst:5:each, which follows the "
    "slowest requests in a second run."
)

MOST_CASES = 12
"""Cases of one page; more do not fit."""

_ABOUT = (
    "From a little before the request came (0) until a little after it was done (dotted lines). From the top: the "
    "request by what it waited for; the programs and erases of its die; what that die did, pulses and sensings high, "
    "verifies and transfers low, a suspended program with the reads in between; its channel; how many commands "
    "waited for the die."
)

_NO_ACCOUNT = (
    "No account is kept of requests of an array, which are several commands each: what follows is read from the dies, "
    "mostly the one whose data came last before the request was done."
)


def section(report: Report) -> Section:
    """A list and a drawing for each case with a timeline."""
    found, without = [], []
    for number, series in enumerate(report.series, 1):
        run = series.runs[0] if number <= MOST_CASES and series.runs else None
        timeline = None if run is None else timeline_files.beside(run, series.case)
        if timeline is None:
            without.append(series.label)
        else:
            found.append((number, series, timeline))
    if not found:
        return Section(NAME, "The slowest requests", [prose(MISSING, kind="note")])
    parts: list[Chart | Html] = []
    budget = report.pieces // max(1, sum(len(timeline.slowest) for *_, timeline in found))
    for number, series, timeline in found:
        label = f"{series.label}{f', seed {series.seeds[0]}' if len(series.raws) > 1 else ''}"
        requests = slow_request.of(timeline, series.first.get("config", {}))
        parts += _case(f"{NAME}-{number}", label, requests, min(budget, 600))
        if timeline.why:
            parts.append(prose(f"{label}: {timeline.why}.", kind="note"))
    if without:
        parts.append(prose(f"No timeline of {', '.join(without)}.", kind="note"))
    return Section(NAME, "The slowest requests", parts, "what each waited for, on which die, pulse by pulse")


def _case(name: str, label: str, requests: Sequence[SlowRequest], budget: int) -> Iterator[Chart | Html]:
    if not requests:
        return
    yield Html(f"<h3>{html.escape(label)}</h3>")
    yield prose(*(latency_text.lead(each) for each in requests if each.rank == 1))
    if any(each.inferred for each in requests):
        yield prose(_NO_ACCOUNT, kind="note")
    yield _list(name, label, requests, pickable=budget > 0)
    if not budget:
        yield prose(f"{label}: there is no room on this page for drawings of them.", kind="note")
        return
    drawn = {each.name: (each, swimlanes.pieces(each, max(budget, 60))) for each in requests if each.dies}
    if drawn:
        rows = [[pick, *piece] for pick, (_, pieces) in drawn.items() for piece in pieces]
        labels = {row[3] for row in rows}
        used = [key for key, of in swimlanes.KEYS.items() if of.label in labels]
        views = [swimlanes.view(*each) for each in drawn.values()]
        title = f"Around the slowest requests: {label}"
        yield Chart(name, title, _ABOUT, swimlanes.COLUMNS, rows, partial(swimlanes.draw, used), views)


def _list(name: str, label: str, requests: Sequence[SlowRequest], *, pickable: bool) -> Html:
    # One request is enough of a kind that is not drawn.
    kinds = {each.request["kind"] for each in requests if each.dies}
    shown = [each for each in requests if each.rank == 1 or each.request["kind"] in kinds]
    rows: list[list[Cell]] = [
        [
            _button(name, each, pickable=pickable),
            latency_text.us(each.latency),
            each.dies[0].name if each.dies else "-",
            Html(_wait_list(each)),
        ]
        for each in shown
    ]
    head = ["request", "latency, µs", "where", "what it waited for"]
    return table(f"The slowest requests: {label}", head, rows, figures=False)


def _button(name: str, it: SlowRequest, *, pickable: bool) -> Html:
    text = f"{it.request['kind'].capitalize()} {it.rank}"
    if not (it.dies and pickable):
        return Html(html.escape(text))
    pick = f'data-in="{html.escape(name)}" data-pick="{html.escape(it.name)}"'
    said = html.escape(f"Show {text}, {it.name}")
    return Html(
        f'<button type="button" class="pick" aria-pressed="false" {pick} aria-label="{said}">'
        f"{html.escape(text)}</button>"
    )


def _wait_list(it: SlowRequest) -> str:
    lines = [f"<b>{time}</b> {html.escape(what)}".replace("<b></b> ", "") for time, what in latency_text.parts(it)]
    lines += (html.escape(note) for note in latency_text.notes(it))
    return f'<ul class="waits">{"".join(f"<li>{line}</li>" for line in lines)}</ul>'
