"""Pareto front page of a study; a click on a point opens the report of its run."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError
from interpulse.report import page as report_page
from interpulse.report import run_page, runs
from interpulse.report.charts import MUTED, Drawing, Key, colour
from interpulse.report.elements import Cell, Chart, Html, Section, prose, table
from interpulse.runs.result import Result
from interpulse.search.study import Objective, Study
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
    words = prose(
        "Each point is a trial that is feasible. A click on one of the front opens the report of its run (of its first "
        "seed); the table has the same links. Trials that were cut after one seed, or that rest on a window that was "
        "not steady or on too few requests, are never on the front.",
        "The axes show the front and what is near it; a triangle at an edge is a trial beyond it.",
    )
    charts = _charts(study, trials, front, links)
    sections = [_answer(study, front, charts[:1], links)]
    if charts[1:]:
        sections.append(Section("more", "More objectives", charts[1:], f"{len(charts) - 1} plots"))
    sections += [_front(study, front, links), Section("method", "How to read it", [words])]
    return report_page.render(study.title or study.name, about, sections)


def _answer(study: Study, front: Sequence[Trial], charts: Sequence[Chart], links: Mapping[int, str]) -> Section:
    """First screen: what the front spans, the best trial of each objective, the front."""
    lines = [f"<li>{html.escape(each)}.</li>" for each in _sentences(study, front, feasible=bool(charts))]
    parts: list[Chart | Html] = [Html(f'<ul class="answer">{"".join(lines)}</ul>')]
    if front:
        cards = "".join(_card(study, objective, front, links) for objective in study.objectives[:4])
        parts.append(Html(f'<div class="four">{cards}</div>'))
    parts += charts
    return Section("front", "Pareto front", parts, folds=False)


def _sentences(study: Study, front: Sequence[Trial], *, feasible: bool) -> Iterator[str]:
    if not feasible:
        yield "No trial was feasible"
    elif not front:
        yield "No feasible trial is sure enough to be on the front"
    elif len(front) == 1:
        yield f"One trial is best in every objective: {_settings(front[0])}"
    else:
        ends = []
        for objective in study.objectives:
            values = [trial.objectives[objective.name] for trial in front]
            name, _, unit = _print(objective.name).partition(", ")
            ends.append(f"{name} {short_figure(min(values))} to {short_figure(max(values))} {unit}".rstrip())
        yield f"{len(front)} trials of which none is beaten in every objective: {'; '.join(ends)}"


def _card(study: Study, objective: Objective, front: Sequence[Trial], links: Mapping[int, str]) -> str:
    """The trial of the front that is best in one objective, with what it costs in the others."""
    best = (max if objective.maximise else min)(front, key=lambda trial: trial.objectives[objective.name])
    rows = "".join(
        f'<tr><th scope="row">{html.escape(_print(each.name))}</th>'
        f'<td class="value">{short_figure(best.objectives[each.name])}</td></tr>'
        for each in study.objectives
    )
    caption = f"Best {html.escape(_print(objective.name.partition(',')[0]))}: trial {_link(best, links).text}"
    settings = f"<small>{html.escape(_settings(best))}</small>"
    return f"<div><table><caption>{caption}</caption><tbody>{rows}</tbody></table>{settings}</div>"


def _settings(trial: Trial) -> str:
    return said(trial.columns) or "; ".join(f"{key}={value}" for key, value in trial.sets)


def _print(name: str) -> str:
    return name.removesuffix(" us") + " µs" if name.endswith(" us") else name


def _charts(study: Study, trials: Sequence[Trial], front: Sequence[Trial], links: Mapping[int, str]) -> list[Chart]:
    names = [objective.name for objective in study.objectives]
    shown = [trial for trial in trials if trial.feasible]
    if not shown:
        return []
    pairs = [(names[0], other) for other in names[1:]] or [("trial", names[0])]
    return [_chart(number, x, y, shown, front, links) for number, (x, y) in enumerate(pairs, start=1)]


def _chart(
    number: int, x: str, y: str, shown: Sequence[Trial], front: Sequence[Trial], links: Mapping[int, str]
) -> Chart:
    chosen = {trial.number for trial in front}
    rows = [[trial.number, _at(trial, x), _at(trial, y), trial.number in chosen] for trial in shown]
    about = (
        f"{y} over {x}, means over the seeds of each trial; {len(front)} of {len(shown)} feasible trials on the front."
    )
    draw = partial(_draw, x, y, shown, chosen, links)
    title = f"{_print(y)} over {_print(x)}"
    return Chart(f"front-{number}", title, about, ("trial", x, y, "on_front"), rows, draw, short=True)


def _at(trial: Trial, name: str) -> float:
    return float(trial.number) if name == "trial" else trial.objectives[name]


def _draw(
    x: str, y: str, shown: Sequence[Trial], chosen: set[int], links: Mapping[int, str], drawing: Drawing
) -> figure:
    from bokeh.models import NumeralTickFormatter, OpenURL, TapTool

    of_front = [trial for trial in shown if trial.number in chosen]
    ends = {name: _ends([_at(t, name) for t in shown], [_at(t, name) for t in of_front]) for name in (x, y)}
    made = drawing.figure(
        _print(x), _print(y), drawing.range(*ends[x]), drawing.range(*ends[y]), crisp=False, height=360
    )
    for axis in (made.xaxis, made.yaxis):
        axis.formatter = NumeralTickFormatter(format="0,0.[000]")
    if len(of_front) > 1 and x != "trial":
        joined = sorted(of_front, key=lambda trial: _at(trial, x))
        points = [_at(trial, x) for trial in joined], [_at(trial, y) for trial in joined]
        made.line(*points, line_color=colour(1), line_width=1.5, line_dash="dotted", name=_FRONT)
    _beyond(made, x, y, shown, ends)
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


def _ends(every: Sequence[float], front: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis: those of the front with its width on both sides at most: trials far away would squeeze it."""
    low, high = min(every), max(every)
    if len(front) > 1 and max(front) > min(front):
        width = max(front) - min(front)
        low, high = max(low, min(front) - width), min(high, max(front) + width)
    margin = (high - low) * 0.06 or abs(high) * 0.05 or 1.0
    return low - margin, high + margin


def _beyond(made: figure, x: str, y: str, shown: Sequence[Trial], ends: Mapping[str, tuple[float, float]]) -> None:
    """Triangles at the edges for the trials beyond them."""
    for name, angle in ((x, -90), (y, 0)):
        far = [trial for trial in shown if _at(trial, name) > ends[name][1]]
        if far:
            at = {
                axis: [min(_at(trial, axis), ends[axis][1] - 0.02 * (ends[axis][1] - ends[axis][0])) for trial in far]
                for axis in (x, y)
            }
            made.scatter(
                at[x], at[y], marker="triangle", angle=math.radians(angle), size=8, color=MUTED, alpha=0.7, name=_OTHER
            )


def _front(study: Study, front: Sequence[Trial], links: Mapping[int, str]) -> Section:
    if not front:
        return Section("trials", "Trials on the front", [prose("There is none.")], "none")
    names = [objective.name for objective in study.objectives]
    rows: list[list[Cell]] = [
        [
            _link(trial, links),
            *(short_figure(trial.objectives[name]) for name in names),
            "; ".join(f"{key}={value}" for key, value in trial.sets),
        ]
        for trial in front
    ]
    head = ("trial", *map(_print, names), "settings")
    return Section(
        "trials",
        "Trials on the front",
        [table("None of these is beaten in every objective", head, rows, figures=False)],
        str(len(front)),
    )


def _link(trial: Trial, links: Mapping[int, str]) -> Html:
    name = html.escape(str(trial.number))
    where = links.get(trial.number)
    return Html(name if where is None else f'<a href="{html.escape(where)}">{name}</a>')


def said(columns: Mapping[str, Any]) -> str:
    """Active parameters as text."""
    return ", ".join(f"{name} {value}" for name, value in columns.items() if value is not None)
