"""Pareto front page of a study; a click on a point opens the report of its run."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError
from interpulse.report import page as report_page
from interpulse.report import run_page, runs
from interpulse.report.charts import MUTED, Drawing, Key, colour
from interpulse.report.elements import Cell, Chart, Html, Section, prose, table
from interpulse.runs.result import Result
from interpulse.search.study import Study
from interpulse.search.trials import Trial, counted
from interpulse.tables.format import short_figure

if TYPE_CHECKING:
    from bokeh.plotting import figure

NAME = "front.html"
FOLDER = "runs"

MOST_PAGES = 40
"""Maximum number of run pages; each takes about 2 MB."""

_FRONT, _OTHER = "on the front", "not on it"


def front_files(
    study: Study,
    trials: Sequence[Trial],
    front: Sequence[Trial],
    run: Callable[[Trial], tuple[Result, list[dict[str, str]]]],
    note: Callable[[str], None],
) -> Iterator[tuple[str, bytes]]:
    """The front page and the pages of its runs, as pairs of name and content."""
    links = {}
    for trial in front[:MOST_PAGES]:
        name = f"{FOLDER}/trial-{trial.number}.html"
        result, entries = run(trial)
        try:
            content = run_page.page([runs.Run(f"trial {trial.number}", result, entries)])
        except (ConfigError, ValueError) as error:
            note(f"no {name}: {error}")
            continue
        links[trial.number] = name
        yield name, content
    if len(front) > MOST_PAGES:
        note(f"{len(front) - MOST_PAGES} of {len(front)} points of the front have no page of their own")
    yield NAME, page(study, trials, front, links)


def page(study: Study, trials: Sequence[Trial], front: Sequence[Trial], links: Mapping[int, str]) -> bytes:
    """The page as a file.

    Args:
        study: what it is about.
        trials: all of them.
        front: those on the Pareto front.
        links: the pages of runs by the number of the trial, relative to this one.
    """
    about = f"case {study.case}; {', '.join(counted(trials, front))}"
    sections = [_plots(study, trials, front, links), _front(study, front, links)]
    return report_page.render(study.title or study.name, about, sections)


def _plots(study: Study, trials: Sequence[Trial], front: Sequence[Trial], links: Mapping[int, str]) -> Section:
    words = prose(
        "Each point is a trial that is feasible. A click on one of the front opens the report of its run (of its first "
        "seed); the table below has the same links. Trials that were cut after one seed, or that rest on a window that "
        "was not steady or on too few requests, are never on the front."
    )
    names = [objective.name for objective in study.objectives]
    shown = [trial for trial in trials if trial.feasible]
    if not shown:
        return Section("front", "Pareto front", [prose("No trial was feasible.")])
    pairs = [(names[0], other) for other in names[1:]] or [("trial", names[0])]
    charts = [_chart(number, x, y, shown, front, links) for number, (x, y) in enumerate(pairs, start=1)]
    return Section("front", "Pareto front", [words, *charts])


def _chart(
    number: int, x: str, y: str, shown: Sequence[Trial], front: Sequence[Trial], links: Mapping[int, str]
) -> Chart:
    chosen = {trial.number for trial in front}
    rows = [[trial.number, _at(trial, x), _at(trial, y), trial.number in chosen] for trial in shown]
    about = (
        f"{y} over {x}, means over the seeds of each trial; {len(front)} of {len(shown)} feasible trials on the front."
    )
    draw = partial(_draw, x, y, shown, chosen, links)
    return Chart(f"front-{number}", f"{y} over {x}", about, ("trial", x, y, "on_front"), rows, draw)


def _at(trial: Trial, name: str) -> float:
    return float(trial.number) if name == "trial" else trial.objectives[name]


def _draw(
    x: str, y: str, shown: Sequence[Trial], chosen: set[int], links: Mapping[int, str], drawing: Drawing
) -> figure:
    from bokeh.models import OpenURL, TapTool

    values = {axis: [_at(trial, name) for trial in shown] for axis, name in {"x": x, "y": y}.items()}
    ranges = []
    for each in values.values():
        margin = (max(each) - min(each)) * 0.05 or abs(max(each)) * 0.05 or 1.0
        ranges.append(drawing.range(min(each) - margin, max(each) + margin))
    made = drawing.figure(x, y, *ranges, crisp=False, height=420)
    renderers = []
    for label, wanted in ((_OTHER, False), (_FRONT, True)):
        of = [trial for trial in shown if (trial.number in chosen) is wanted]
        source = {
            "x": [_at(trial, x) for trial in of],
            "y": [_at(trial, y) for trial in of],
            "trial": [trial.number for trial in of],
            "what": [said(trial.columns) for trial in of],
            "page": [links.get(trial.number, "") for trial in of],
        }
        style: dict[str, Any] = (
            {"color": colour(1), "size": 11} if wanted else {"color": MUTED, "size": 6, "alpha": 0.6}
        )
        renderers.append(made.scatter("x", "y", source=source, name=label, marker="circle", **style))
    drawing.hover(made, [("trial", "@trial"), (x, "@x{0,0.[000]}"), (y, "@y{0,0.[000]}"), ("", "@what")], renderers)
    made.add_tools(TapTool(renderers=renderers[1:], callback=OpenURL(url="@page")))
    drawing.legend(made, [Key(_FRONT, colour(1), "", " "), Key(_OTHER, colour(6), "", " ")])
    return made


def _front(study: Study, front: Sequence[Trial], links: Mapping[int, str]) -> Section:
    if not front:
        return Section("trials", "Trials on the front", [prose("There is none.")])
    names = [objective.name for objective in study.objectives]
    rows: list[list[Cell]] = [
        [
            _link(trial, links),
            *(short_figure(trial.objectives[name]) for name in names),
            "; ".join(f"{key}={value}" for key, value in trial.sets),
        ]
        for trial in front
    ]
    head = ("trial", *names, "settings")
    return Section("trials", "Trials on the front", [table("Trials on the front", head, rows, figures=False)])


def _link(trial: Trial, links: Mapping[int, str]) -> Html:
    name = html.escape(str(trial.number))
    where = links.get(trial.number)
    return Html(name if where is None else f'<a href="{html.escape(where)}">{name}</a>')


def said(columns: Mapping[str, Any]) -> str:
    """Active parameters as text."""
    return ", ".join(f"{name} {value}" for name, value in columns.items() if value is not None)
