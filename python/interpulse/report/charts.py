"""Chart style: palettes for light and dark pages, axes, legends and shared ranges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from bokeh.models import Range1d
    from bokeh.plotting import figure as Figure  # noqa: N812 - a method is called so

INK, MUTED, GRID, PAPER = "#1a1a1a", "#555555", "#dddddd", "#ffffff"

COLOURS = ("#0072b2", "#d55e00", "#007a5a", "#b0508a", "#b37700", "#2b8fc4", "#666666", "#7a5195")
"""In the order of use: after Okabe and Ito, distinct for colour-blind readers and dark enough for white paper."""

_BRIGHT = ("#4fa8dc", "#ff8a4c", "#2cc79a", "#e59cc6", "#f5b93a", "#8ccff5", "#bbbbbb", "#b79be0")

DARK = dict(
    zip((INK, MUTED, GRID, PAPER, *COLOURS), ("#ececec", "#b8b8b8", "#3d4046", "#17191d", *_BRIGHT), strict=True)
)
"""Colours of the dark page by those of the light one; the page's script swaps them."""

DASHES = ("solid", "dashed", "dotdash", "dotted")
"""Combined with colours, so that series differ in black and white too."""

HATCHES = (" ", "/", "x", ".")

HEIGHT = 300


_TICKS = """
const low = Math.min(cb_data.start, cb_data.end), high = Math.max(cb_data.start, cb_data.end)
if (!(low > 0)) return []
const decades = Math.log10(high / low), ticks = []
if (decades < 0.4) {
  const about = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(about))
  const step = unit * [1, 2, 5, 10].find((each) => each * unit >= about)
  for (let k = Math.ceil(low / step); k * step <= high; k++) ticks.push(k * step)
  return ticks
}
const mantissas = decades < 1.3 ? [1, 1.5, 2, 3, 5, 7] : decades < 4 ? [1, 2, 5] : [1]
const every = Math.ceil(decades / 10)
for (let k = Math.floor(Math.log10(low)); k <= Math.log10(high); k++)
  if (k % every === 0) for (const each of mantissas) ticks.push(Number((each * 10 ** k).toPrecision(3)))
return ticks.filter((each) => low <= each && each <= high)
"""
"""Where ticks stand on a logarithmic axis. Those of Bokeh are equally far apart where it has fewer than two decades, so
that the lower half of the axis has none."""


def logarithmic(axis: Any) -> None:  # noqa: ANN401 - an axis, or what Bokeh gives for all of a figure
    """Gives a logarithmic axis ticks over its whole length, however far it is zoomed in, and plain numbers."""
    from bokeh.models import CustomJSTicker

    axis.ticker = CustomJSTicker(major_code=_TICKS)
    axis.formatter.min_exponent = 7


def colour(index: int) -> str:
    """The colour of a series."""
    return COLOURS[index % len(COLOURS)]


def dash(index: int) -> str:
    """The stroke of a series."""
    return DASHES[index % len(DASHES)]


def hatch(index: int) -> str:
    """The pattern of a part of a stack, which changes when the colours start over."""
    return HATCHES[index // len(COLOURS) % len(HATCHES)]


@dataclass(frozen=True)
class Key:
    """An entry of a legend: a line with its dash, or a field with its hatch."""

    label: str
    colour: str
    dash: str = ""
    hatch: str = ""

    @property
    def filling(self) -> dict[str, str]:
        """Bokeh properties of such a field."""
        return {"fill_color": self.colour, "hatch_pattern": self.hatch, "hatch_color": PAPER, "name": self.label}


Layer: TypeAlias = "tuple[Key, Sequence[float], Sequence[float], Sequence[float]]"
"""Key of a layer of a stack, its value in each bar, and its lower and upper end there."""


def stacked(layers: Iterable[tuple[Key, Sequence[float]]]) -> Iterator[Layer]:
    """The layers of bars, without empty ones."""
    below: Sequence[float] = ()
    for key, values in layers:
        if any(values):
            below = below or [0.0] * len(values)
            above = [begin + value for begin, value in zip(below, values, strict=True)]
            yield key, values, below, above
            below = above


class Drawing:
    """Makes the figures of one page."""

    def __init__(self) -> None:
        self.legends: dict[str, list[Key]] = {}
        self._shared: dict[str, Range1d] = {}

    def shared(self, name: str, start: float, end: float) -> Range1d:
        """The range of this name, made when it is first asked for: figures that share it are zoomed together."""
        if name not in self._shared:
            self._shared[name] = self.range(start, end)
        return self._shared[name]

    def range(self, start: float, end: float) -> Range1d:
        """A range from one end to the other."""
        from bokeh.models import Range1d

        return Range1d(start, end if end != start else start + 1)

    def figure(
        self,
        x: str,
        y: str,
        x_range: Range1d | Sequence[str],
        y_range: Range1d | Sequence[str],
        *,
        height: int = HEIGHT,
        crisp: bool = True,
        zooms: str = "both",
        **more: Any,  # noqa: ANN401 - as Bokeh takes them
    ) -> Figure:
        """An empty figure with these axes.

        Args:
            x: the name of the axis, with its unit.
            y: as `x`.
            x_range: where it begins and ends, or its categories.
            y_range: as `x_range`.
            height: in pixels; the width is that of the page.
            crisp: drawn as vectors; of thousands of pieces it should not be.
            zooms: what zooming by hand changes: "both" axes, or "width" alone.
            more: as Bokeh's `figure` takes it.
        """
        from bokeh.models import BoxZoomTool, WheelZoomTool
        from bokeh.plotting import figure

        zoom = BoxZoomTool(dimensions=zooms)
        made = figure(
            x_axis_label=x,
            y_axis_label=y,
            x_range=x_range,
            y_range=y_range,
            height=height,
            sizing_mode="stretch_width",
            toolbar_location=None,
            # With Ctrl, so that the page scrolls by itself.
            tools=[zoom, WheelZoomTool(dimensions=zooms, modifiers="ctrl")],
            active_drag=zoom,
            output_backend="svg" if crisp else "canvas",
            background_fill_color=PAPER,
            border_fill_color=PAPER,
            outline_line_color=None,
            **more,
        )
        for axis in (*made.xaxis, *made.yaxis):
            axis.axis_label_text_color = INK
            axis.axis_label_text_font_style = "normal"
            axis.major_label_text_color = INK
            axis.axis_line_color = MUTED
            axis.major_tick_line_color = MUTED
            axis.minor_tick_line_color = None
        for grid in (*made.xgrid, *made.ygrid):
            grid.grid_line_color = GRID
        return made

    def legend(self, figure: Figure, keys: Sequence[Key]) -> None:
        """Says what the strokes and fillings of a figure mean: the page shows it above, and hides what is not wanted.

        A key's label is the `name` of its renderers; the first key of a label counts.
        """
        self.legends[figure.id] = list({key.label: key for key in reversed(keys)}.values())[::-1]

    def hover(self, figure: Figure, tooltips: Sequence[tuple[str, str]], renderers: Sequence[Any]) -> None:
        """Says what is below the pointer."""
        from bokeh.models import HoverTool

        figure.add_tools(HoverTool(tooltips=list(tooltips), renderers=list(renderers)))
