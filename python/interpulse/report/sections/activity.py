"""Section on garbage collection and suspensions: rates, counts and time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from interpulse.report.charts import HATCHES, Drawing, Key, colour, logarithmic
from interpulse.report.elements import Chart, Html, Section, table
from interpulse.report.runs import Report, Series
from interpulse.report.sections.over_time import lines, over_time, per_second
from interpulse.runs.comparison import number_at
from interpulse.tables.format import number

if TYPE_CHECKING:
    from bokeh.plotting import figure

_RATES = {
    "suspends.program": "program suspensions",
    "suspends.erase": "erase suspensions",
    "gc_runs": "victims emptied",
    "gc_pages_moved": "units moved by collection",
    "erases": "erases",
}

_COUNTS = {
    "programs": ("nand", "programs"),
    "erases": ("nand", "erases"),
    "program suspensions": ("nand", "suspends", "program"),
    "erase suspensions": ("nand", "suspends", "erase"),
    "most suspensions of one program": ("nand", "program_us", "most_suspends"),
    "most suspensions of one erase": ("nand", "erase_us", "most_suspends"),
    "victims emptied by collection": ("ftl", "gc_runs"),
    "  of them with nothing valid": ("ftl", "direct_gc_runs"),
    "units moved by collection": ("ftl", "gc_pages_moved"),
    "die time of collection, s": ("ftl", "gc_time_s"),
}


def section(report: Report) -> Section:
    """Charts over time where batches are known, counts in any case."""
    found = lines(report)
    parts: list[Chart | Html] = []
    for name, label in _RATES.items():
        read = partial(per_second, name)
        if any(read(batch) for _, _, batches in found for batch in batches):
            title = f"{label.capitalize()} per second"
            about = f"{label.capitalize()} per simulated second, batch by batch.{report.only_first()}"
            parts.append(over_time(f"activity-{name.replace('.', '-')}", title, about, found, per_s=read))
    for operation in ("program", "erase"):
        counted = [(k, series) for k, series in enumerate(report.series) if _times(series, operation)]
        if any(len(_times(series, operation)) > 1 for _, series in counted):
            parts.append(_by_suspends(operation, counted, report))
    rows = []
    for label, path in _COUNTS.items():
        values = [number_at(path, series.first) for series in report.series]
        if any(values):
            rows.append([label, *(number(value, 3 if isinstance(value, float) else 0) for value in values)])
    caption = "Collection and suspension in the window" + (
        f" ({report.only_first().strip()[:-1]})" if report.only_first() else ""
    )
    parts.append(table(caption, ["figure", *(series.label for series in report.series)], rows))
    return Section("activity", "Collection and suspension", parts, _brief(report), shares="over-time")


def _brief(report: Report) -> str:
    """Suspensions of the case that has the most."""
    counts = [
        (number_at(("nand", "suspends", kind), each.first) or 0.0, kind)
        for each in report.series
        for kind in ("program", "erase")
    ]
    most, kind = max(counts)
    return f"up to {most:,.0f} suspensions of {kind}s" if most else "nothing was suspended"


def _times(series: Series, operation: str) -> list[int]:
    """Operations by number of suspensions, from none on."""
    found: list[int] = series.first.get("nand", {}).get(f"{operation}_us", {}).get("by_suspends", [])
    return found


def _by_suspends(operation: str, counted: Sequence[tuple[int, Series]], report: Report) -> Chart:
    rows = [
        [series.label, times, count] for _, series in counted for times, count in enumerate(_times(series, operation))
    ]
    about = f"{operation.capitalize()}s that ended in the window, by how often each was suspended.{report.only_first()}"
    title = f"Suspensions of a {operation}" if operation == "program" else "Suspensions of an erase"
    name = f"activity-by-{operation}"
    return Chart(name, title, about, ("case", "suspensions", f"{operation}s"), rows, partial(_bars, operation, counted))


def _bars(operation: str, counted: Sequence[tuple[int, Series]], drawing: Drawing) -> figure:
    every = [_times(series, operation) for _, series in counted]
    widest, highest = max(map(len, every)), max(max(times) for times in every)
    found = drawing.figure(
        f"suspensions of one {operation}",
        f"{operation}s",
        drawing.range(-0.6, widest - 0.4),
        drawing.range(0.5, 2.0 * highest),
        y_axis_type="log",
    )
    logarithmic(found.yaxis)
    width = 0.8 / len(counted)
    bars, keys = [], []
    for place, (index, series) in enumerate(counted):
        pairs = [(times, count) for times, count in enumerate(_times(series, operation)) if count]
        key = Key(series.label, colour(index), hatch=HATCHES[index % len(HATCHES)])
        data = {
            "x": [times - 0.4 + (place + 0.5) * width for times, _ in pairs],
            "times": [times for times, _ in pairs],
            "count": [count for _, count in pairs],
            "case": [series.label] * len(pairs),
        }
        like = {"line_color": None, "hatch_alpha": 0.6, **key.filling}
        bars.append(found.vbar("x", top="count", bottom=0.5, width=width * 0.95, source=data, **like))
        keys.append(key)
    tips = [("case", "@case"), ("suspensions", "@times"), (f"{operation}s", "@count{0,0}")]
    drawing.hover(found, tips, bars)
    drawing.legend(found, keys)
    return found
