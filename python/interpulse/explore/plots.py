"""Plots of the page: latency tails, causes, and the timeline of a die. Made once; results replace their data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interpulse.explore.die import COLUMNS, KEYS, DieTimeline
from interpulse.report.cause_names import LOOKS, REST
from interpulse.report.charts import COLOURS, DASHES, INK, MUTED, PAPER, Drawing, Key, logarithmic
from interpulse.report.sections.latency import counted, curve, distinct

if TYPE_CHECKING:
    from bokeh.models import ColumnDataSource
    from bokeh.plotting import figure as Figure  # noqa: N812 - a class that is called so

MOST_PINS = 4
"""Curves that can be pinned."""

ACCENT = COLOURS[0]

SLOTS = {
    "now": Key("now", ACCENT, "solid"),
    "without": Key("no suspension", MUTED, "dashed"),
    **{f"pin{k}": Key(f"pin {'ABCD'[k]}", COLOURS[k + 1], DASHES[(k + 2) % 4]) for k in range(MOST_PINS)},
}
"""Curves of a tail plot."""

FEW = 10
"""Requests beyond a point of a curve that make it sure."""

UNSURE = "too short to be sure"

TICKS = {0.5: "50 %", 0.1: "90 %", 1e-2: "99 %", 1e-3: "99.9 %", 1e-4: "99.99 %", 1e-5: "99.999 %"}

FASTEST = 0.995
"""The axis begins where so many requests are slower."""

TAILS = {"p99.9": "slowest 0.1 %", "p99": "slowest 1 %"}
"""Tails whose causes are shown, in order of preference."""

SHOWN = 0.01
"""Least share of some bar that a cause has a colour for."""

Curves = Mapping[str, Mapping[str, Any]]
"""Result of a case by its slot."""


def _put(source: ColumnDataSource, data: Mapping[str, Sequence[Any]]) -> None:
    """Replaces the data of a source, unless they are the same: each change is a message to the page."""
    if source.data != data:
        source.data = dict(data)


@dataclass(frozen=True)
class Tail:
    """Tail plot of one kind of requests."""

    figure: Figure
    kind: str
    sure: dict[str, ColumnDataSource]
    rest: dict[str, ColumnDataSource]
    label: ColumnDataSource

    def show(self, of: Curves) -> None:
        """Replaces the curves."""
        ends: list[tuple[float, float, float]] = []
        begins: tuple[float, float] | None = None
        for slot in SLOTS:
            points = _points(of.get(slot, {}), self.kind)
            sure = [point for point in points if point[2] >= FEW]
            rest = points[max(len(sure) - 1, 0) :]
            _put(self.sure[slot], _columns(sure))
            _put(self.rest[slot], _columns(rest))
            if points:
                begin = next((x for x, share, _ in points if share < FASTEST), points[0][0])
                ends.append((begin, points[-1][0], min(share for _, share, _ in points if share)))
            if slot == "now" and len(rest) > 1:
                begins = rest[0][:2]
        if not ends:
            return
        lows, highs, shares = zip(*ends, strict=True)
        # Ranges in steps, so that small changes do not move the axes.
        low, high = max(_step(min(lows), up=False), 1e-3), _step(max(highs), up=True)
        self.figure.x_range.update(start=low, end=high)
        self.figure.y_range.update(start=1.15, end=min(shares) / 1.6)
        _put(self.label, _label(begins, low, high))


def _label(begins: tuple[float, float] | None, low: float, high: float) -> dict[str, list[Any]]:
    """The text where a curve becomes unsure, on the side that has room for it."""
    if begins is None:
        return {"x": [], "y": [], "text": [], "align": [], "offset": []}
    is_left = math.log(begins[0] / low) < 0.5 * math.log(high / low)
    align, offset = ("left", 8) if is_left else ("right", -8)
    return {"x": [begins[0]], "y": [begins[1]], "text": [UNSURE], "align": [align], "offset": [offset]}


def tail(kind: str, height: int) -> Tail:
    """An empty tail plot."""
    from bokeh.models import ColumnDataSource, FixedTicker, Step

    drawing = Drawing()
    found = drawing.figure(
        f"{kind} latency, µs",
        f"{kind}s as fast or faster",
        drawing.range(10, 10_000),
        drawing.range(1.15, 1e-5),
        height=height,
        crisp=False,
        x_axis_type="log",
        y_axis_type="log",
        name=f"tail-{kind}",
    )
    found.yaxis.ticker = FixedTicker(ticks=[*TICKS])
    found.ygrid.ticker = found.yaxis.ticker
    found.yaxis.major_label_overrides = dict(TICKS)
    logarithmic(found.xaxis)
    sure: dict[str, ColumnDataSource] = {}
    rest: dict[str, ColumnDataSource] = {}
    drawn = []
    # Those drawn last lie above: the current curve is the first.
    for slot, key in reversed(SLOTS.items()):
        like = {"line_color": key.colour, "line_width": 3 if slot == "now" else 2, "mode": "after"}
        for sources, dash in ((sure, key.dash), (rest, [2, 5])):
            sources[slot] = ColumnDataSource(_columns(()))
            # Not `found.step`, which makes more models, for selections that the page has not.
            glyph = Step(x="x", y="y", line_dash=dash, **like)
            drawn.append(found.add_glyph(sources[slot], glyph, name=key.label))
    label = ColumnDataSource(_label(None, 1, 1))
    style = {"text_color": INK, "text_font_size": "12px", "text_baseline": "bottom", "y_offset": -4}
    found.text("x", "y", "text", source=label, text_align="align", x_offset="offset", **style)
    tips = [
        ("", "$name"),
        ("latency", "@x{0,0.0} µs"),
        ("as fast or faster", "@at{0.0000} %"),
        ("slower", "@left{0,0}"),
    ]
    drawing.hover(found, tips, drawn)
    return Tail(found, kind, sure, rest, label)


def _points(case: Mapping[str, Any], kind: str) -> list[tuple[float, float, int]]:
    summary = case.get("latency_us", {}).get(kind, {})
    if not summary.get("count"):
        return []
    return distinct(curve(counted(case, kind), summary["max"]))


def _columns(points: Sequence[tuple[float, float, int]]) -> dict[str, list[float]]:
    # The last request has none beyond it: it is drawn where half a request would be.
    total = points[0][2] / points[0][1] if points else 1.0
    return {
        "x": [x for x, _, _ in points],
        "y": [share or 0.5 / total for _, share, _ in points],
        "at": [100 * (1 - share) for _, share, _ in points],
        "left": [left for _, _, left in points],
    }


def _step(value: float, *, up: bool) -> float:
    """The next of 1, 2, 5, 10, ... beyond a value, so that the axis is steady while curves move."""
    power = 10.0 ** math.floor(math.log10(value))
    steps = [power * each for each in (1, 1.5, 2, 3, 5, 7, 10)]
    return next(each for each in steps if each >= value) if up else next(e for e in reversed(steps) if e <= value)


@dataclass(frozen=True)
class Causes:
    """Bars of mean latency by cause."""

    figure: Figure
    sources: dict[str, ColumnDataSource]

    def show(self, of: Curves) -> tuple[str, list[str]]:
        """Replaces the bars; returns the requests that they are about, and the causes shown."""
        tails = [
            name
            for name in TAILS
            if all(case.get("tail_blame", {}).get(name, {}).get("reads", 0) >= FEW for case in of.values())
        ]
        bars = {SLOTS[slot].label: _bar(case, tails[0] if tails else "") for slot, case in of.items()}
        bars = {label: bar for label, bar in bars.items() if bar}
        whole = {label: sum(bar.values()) for label, bar in bars.items()}
        shown = [
            cause for cause in self.sources if any(bar.get(cause, 0) >= SHOWN * whole[k] for k, bar in bars.items())
        ]
        below = dict.fromkeys(bars, 0.0)
        for cause, source in self.sources.items():
            data: dict[str, list[Any]] = {name: [] for name in ("y", "left", "right", "us", "share", "cause")}
            for label, bar in bars.items():
                us = bar.get(cause, 0.0) if cause in shown else 0.0
                if cause == OTHER:
                    us = sum(value for name, value in bar.items() if name not in shown)
                values = (label, below[label], below[label] + us, us, 100 * us / (whole[label] or 1), _words(cause))
                for name, value in zip(data, values, strict=True):
                    data[name].append(value)
                below[label] += us
            _put(source, data)
        self.figure.y_range.factors = [*bars][::-1] or [""]
        self.figure.x_range.end = max([*whole.values(), 1e-3]) * 1.03
        rest = any(sum(value for name, value in bar.items() if name not in shown) > 0 for bar in bars.values())
        return TAILS[tails[0]] if tails else "all", [*shown, *[OTHER] * rest]


OTHER = "everything else"


def _filling(key: Key) -> dict[str, str]:
    """Properties of a field with a thin edge."""
    return {"line_color": PAPER} | {name: value for name, value in key.filling.items() if name != "name"}


def causes(height: int) -> Causes:
    """Empty bars."""
    from bokeh.models import ColumnDataSource, FactorRange, HBar

    drawing = Drawing()
    found = drawing.figure(
        "mean latency, µs",
        "",
        drawing.range(0, 1),
        FactorRange(factors=[""]),
        height=height,
        crisp=False,
        name="causes",
    )
    found.ygrid.grid_line_color = None
    sources, drawn = {}, []
    for cause, (look, pattern) in {**LOOKS, OTHER: REST}.items():
        sources[cause] = ColumnDataSource({name: [] for name in ("y", "left", "right", "us", "share", "cause")})
        glyph = HBar(y="y", left="left", right="right", height=0.7, **_filling(Key(cause, look, hatch=pattern)))
        drawn.append(found.add_glyph(sources[cause], glyph))
    tips = [("", "@y"), ("cause", "@cause"), ("mean", "@us{0,0.0} µs"), ("share", "@share{0.0} %")]
    drawing.hover(found, tips, drawn)
    return Causes(found, sources)


def cause_keys(shown: Sequence[str]) -> list[Key]:
    """Entries of the legend of the bars."""
    return [Key(_words(cause), look, hatch=pattern) for cause in shown for look, pattern in [LOOKS.get(cause, REST)]]


def _bar(case: Mapping[str, Any], name: str) -> dict[str, float]:
    """Mean latency by cause in us."""
    found = case.get("tail_blame", {}).get(name)
    if found:
        return {cause: share * found["mean_us"] for cause, share in found["shares"].items()}
    return dict(case.get("read_wait_us", {}))


def _words(cause: str) -> str:
    return cause.replace("_", " ")


@dataclass(frozen=True)
class DiePlot:
    """Timeline of a die."""

    figure: Figure
    sources: dict[str, ColumnDataSource]
    ends: ColumnDataSource
    labels: ColumnDataSource

    def show(self, it: DieTimeline) -> list[str]:
        """Replaces the timeline; returns the keys that are in it."""
        empty: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        for key, source in self.sources.items():
            _put(source, it.pieces.get(key, empty))
        has_any = bool(it.pieces)
        _put(self.ends, {"x": [0.0, it.latency] if has_any else []})
        texts = ["arrives", "is done"]
        _put(self.labels, {"x": [0.0, it.latency], "text": texts} if has_any else {"x": [], "text": []})
        self.figure.x_range.update(start=it.begin, end=it.end)
        return [key for key in self.sources if it.pieces.get(key, {}).get("left")]


def die_plot(height: int) -> DiePlot:
    """An empty timeline."""
    from bokeh.models import ColumnDataSource, NumeralTickFormatter, Quad, Span

    drawing = Drawing()
    found = drawing.figure(
        "µs since the read arrived",
        "",
        drawing.range(0, 1),
        drawing.range(0, 1.35),
        height=height,
        crisp=False,
        zooms="width",
        min_border_left=20,
        name="die",
    )
    found.xaxis.formatter = NumeralTickFormatter(format="0,0.[000]")
    found.yaxis.visible = False
    found.ygrid.grid_line_color = None
    sources, drawn = {}, []
    for key, look in KEYS.items():
        sources[key] = ColumnDataSource({name: [] for name in COLUMNS})
        style = {"line_width": 0.5, "hatch_alpha": 0.6, **_filling(look)}
        glyph = Quad(left="left", right="right", top="top", bottom="bottom", **style)
        drawn.append(found.add_glyph(sources[key], glyph))
    ends, labels = ColumnDataSource({"x": []}), ColumnDataSource({"x": [], "text": []})
    line = {"line_color": INK, "line_dash": [2, 4], "line_width": 1.5}
    found.segment("x", 0, "x", 1.3, source=ends, **line)
    style = {"text_color": INK, "text_font_size": "11px", "text_baseline": "top", "x_offset": 4}
    found.text("x", 1.32, "text", source=labels, **style)
    found.add_layout(Span(location=0, dimension="width", line_color=MUTED))
    tips = [("", "@what"), ("from", "@left{0,0.0} µs"), ("to", "@right{0,0.0} µs")]
    drawing.hover(found, tips, drawn)
    return DiePlot(found, sources, ends, labels)
