"""How plots look and how they become files: the same bytes for the same figures."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#1b6ca8", "#d1495b", "#edae49", "#3b8f5a", "#6a4c93", "#7d7d7d", "#00798c", "#b56576")
"""In the order of use; told apart in print and by most colour-blind readers."""

PUBLISHED = "#222222"
"""The colour of what a paper printed."""

_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "interpulse",
    "font.size": 9.0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "figure.dpi": 100.0,
    "savefig.dpi": 150.0,
}


def panels(rows: int, columns: int, *, width: float = 4.2, height: float = 3.0) -> tuple[Figure, list[Axes]]:
    """A figure of panels, `width` by `height` inches each, in reading order.

    It does not touch matplotlib's global state: nothing is shown, and no window system is needed.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False)
    return figure, [axis for row in axes for axis in row]


def to_bytes(figure: Figure, form: str) -> bytes:
    """The figure as a `png` or `svg` file, without dates or versions in it."""
    from matplotlib import rc_context

    nothing = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[form]
    file = io.BytesIO()
    with rc_context(_STYLE):
        figure.savefig(file, format=form, metadata=nothing)
    return file.getvalue()
