"""Section on settings: values, origins, and those that differ from part and drive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from interpulse.report.elements import Cell, Html, Section, prose, table
from interpulse.report.runs import Report, Run

_OWN = ("default", "drive preset ", "part preset ", "part file ")
"""How the origin of a setting begins that nobody chose for this run."""


def section(report: Report) -> Section:
    """The settings of each side: what was changed first, then all."""
    parts: list[Html] = [*_between(report)] if len(report.sides) > 1 else []
    for side, runs in report.sides.items():
        name = f" of {side}" if len(report.sides) > 1 else ""
        parts += _side(runs[0], name, report)
    return Section(
        "configuration", "Configuration", parts, "what was chosen, what differs, every setting and its source"
    )


def _between(report: Report) -> Iterator[Html]:
    """What differs between the sides."""
    rows = [
        [each.key, each.a or "not there", each.b or "not there", each.case]
        for found in report.comparisons
        for each in found.differences
    ]
    if rows:
        yield table("What differs in the configuration", ["setting", "before", "after", "case"], rows, figures=False)
    elif not any("does not hold its configuration" in note for found in report.comparisons for note in found.notes):
        yield prose("The configurations are the same.")


def changed(origin: str) -> bool:
    """Whether somebody chose this setting for the run: in its file, or by an override."""
    return not origin.startswith(_OWN)


def _side(run: Run, name: str, report: Report) -> list[Html]:
    cases = {series.case: series.first.get("config", {}) for series in report.series if run.result.seed in series.seeds}
    cases = {case: config for case, config in cases.items() if any(of.case == case for of in run.result.cases)}
    own = {each.case: each.raw.get("config", {}) for each in run.result.cases if each.case in cases}
    parts = []
    if run.entries:
        # What the result is to hold is no property of what was run.
        chosen = [e for e in run.entries if changed(e["origin"]) and not e["key"].startswith("report.")]
        rows: list[list[Cell]] = [[Html(_key(entry)), entry["value"], entry["origin"]] for entry in chosen]
        caption = f"What differs from the defaults of the part and the drive{name}"
        parts.append(table(caption, ["setting", "value", "source"], rows, figures=False))
    else:
        text = "Where the settings are from is not known: config.resolved.json does not lie beside this result."
        parts.append(prose(text, kind="note"))
    if len(own) > 1:
        keys = list(dict.fromkeys(key for config in own.values() for key in config))
        differing = [key for key in keys if len({config.get(key) for config in own.values()}) > 1]
        lines = [[key, *(config.get(key, "not there") for config in own.values())] for key in differing]
        parts.append(table(f"What differs between the cases{name}", ["setting", *own], lines, figures=False))
    parts.append(_all(run, name, next(iter(own.values()), {})))
    return parts


def _all(run: Run, name: str, config: Mapping[str, str]) -> Html:
    entries: Sequence[Mapping[str, str]] = run.entries or [
        {"key": key, "value": value, "origin": "", "doc": ""} for key, value in config.items()
    ]
    rows: list[list[Cell]] = []
    for entry in entries:
        mark = "chosen: " if run.entries and changed(entry["origin"]) else ""
        rows.append([Html(_key(entry)), entry["value"], f"{mark}{entry['origin']}", entry["doc"]])
    found = table(
        f"Every setting{name}",
        ["setting", "value", "source", "what it is"],
        rows,
        figures=False,
        marked=lambda k: bool(run.entries) and changed(entries[k]["origin"]),
    )
    text = f"All {len(rows)} settings{name}; those that were chosen are marked"
    return Html(f"<details><summary>{text}</summary>{found.text}</details>")


def _key(entry: Mapping[str, str]) -> str:
    import html

    return f"<code>{html.escape(entry['key'])}</code>"
