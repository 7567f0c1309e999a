"""Section on latency attribution: causes of the slowest reads and of all requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse.report.cause_names import LOOKS, REST
from interpulse.report.charts import PAPER, Drawing, Key, stacked
from interpulse.report.elements import Chart, Section, prose
from interpulse.report.runs import Report

if TYPE_CHECKING:
    from bokeh.plotting import figure

_SHOWN = 0.005
"""The least share of some bar that a cause has a colour for."""

_OTHER = "everything else"

_TAILS = {"p99.99": "slowest 0.01 %", "p99.9": "slowest 0.1 %", "p99": "slowest 1 %"}


def section(report: Report) -> Section:
    """A chart of shares; where nothing is blamed, why."""
    bars = list(_bars(report))
    if not bars:
        why = "No causes: nothing was read or written, or by an array, whose requests are several commands each."
        return Section("blame", "Where the time went", [prose(why)])
    causes = list(dict.fromkeys(cause for bar in bars for cause in bar["us"]))
    shown = [cause for cause in causes if any(bar["us"].get(cause, 0) >= _SHOWN * bar["mean"] for bar in bars)]
    rows = [
        [bar["case"], bar["of"], bar["count"], bar["above"], cause, us, us / bar["mean"]]
        for bar in bars
        for cause, us in bar["us"].items()
    ]
    about = (
        "Mean latency by cause, as shares: of all reads and writes, and of the slowest reads. Every nanosecond of a "
        "request has one cause." + report.only_first()
    )
    columns = ("case", "requests", "count", "slower_than_us", "cause", "mean_us", "share")
    chart = Chart("blame", "Latency by cause", about, columns, rows, partial(_draw, bars, shown))
    return Section(
        "blame", "Where the time went", [chart], "causes of all requests, and of the slowest 1, 0.1 and 0.01 %"
    )


def _bars(report: Report) -> Iterator[dict[str, Any]]:
    """The bars from the top: case by case, tails, then means."""
    for series in report.series:
        raw = series.first
        for name, label in _TAILS.items():
            if tail := raw.get("tail_blame", {}).get(name):
                us = {cause: share * tail["mean_us"] for cause, share in tail["shares"].items()}
                bar = {
                    "of": label,
                    "count": tail["reads"],
                    "above": tail["above_us"],
                    "mean": tail["mean_us"],
                    "us": us,
                }
                yield {"case": series.label, **bar}
        for kind in ("read", "write"):
            us = raw.get(f"{kind}_wait_us", {})
            if us and sum(us.values()) > 0:
                count = raw["latency_us"][kind]["count"]
                bar = {"of": f"all {kind}s", "count": count, "above": None, "mean": sum(us.values()), "us": us}
                yield {"case": series.label, **bar}


def _layers(bars: Sequence[dict[str, Any]], shown: Sequence[str]) -> Iterator[tuple[Key, list[float]]]:
    """The causes and their shares of each bar in %, those together last that have no colour of their own."""
    for cause in [*shown, _OTHER]:
        look, pattern = LOOKS.get(cause, REST)
        us = [bar["us"].get(cause, 0.0) for bar in bars]
        if cause == _OTHER:
            us = [sum(value for name, value in bar["us"].items() if name not in shown) for bar in bars]
        shares = [100 * value / bar["mean"] for value, bar in zip(us, bars, strict=True)]
        yield Key(cause.replace("_", " "), look, hatch=pattern), shares


def _draw(bars: Sequence[dict[str, Any]], shown: Sequence[str], drawing: Drawing) -> figure:
    from bokeh.models import FactorRange

    names = [(bar["case"], bar["of"]) for bar in bars]
    found = drawing.figure(
        "share of latency, %",
        "",
        drawing.range(0, 100),
        FactorRange(factors=names[::-1], group_padding=0.8, range_padding=0.02),
        height=110 + 26 * len(bars),
    )
    found.yaxis.group_text_color = "#1a1a1a"
    found.yaxis.separator_line_color = None
    found.ygrid.grid_line_color = None
    drawn, keys = [], []
    for key, shares, before, after in stacked(_layers(bars, shown)):
        source = {
            "y": names,
            "left": before,
            "right": after,
            "share": shares,
            "us": [share * bar["mean"] / 100 for share, bar in zip(shares, bars, strict=True)],
            "cause": [key.label] * len(bars),
            "case": [bar["case"] for bar in bars],
            "of": [f"{bar['of']} ({bar['count']:,}), mean {bar['mean']:,.1f} µs" for bar in bars],
        }
        like = {"line_color": PAPER, **key.filling}
        drawn.append(found.hbar("y", left="left", right="right", height=0.8, source=source, **like))
        keys.append(key)
    tips = [
        ("case", "@case"),
        ("requests", "@of"),
        ("cause", "@cause"),
        ("share", "@share{0.0} %"),
        ("mean", "@us{0,0.0} µs"),
    ]
    drawing.hover(found, tips, drawn)
    drawing.legend(found, keys)
    return found
