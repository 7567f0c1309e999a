"""Plots of `ressd`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interpulse.plotting.plots import COLOURS, legend, logarithmic, mark, panels
from interpulse.studies.published import marked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from interpulse.studies.published import Published


def draw_ranks(updates: Mapping[str, dict[str, Any]]) -> Figure:
    """Updates of flash pages by rank, per volume (Figure 10)."""
    figure, (axis,) = panels(1, 1, width=7.0, height=4.0)
    for number, (volume, of) in enumerate(updates.items()):
        ranks = [(rank, count) for rank, count in of["updates_by_rank"] if count > 0]
        style = ("-", "--")[number // len(COLOURS) % 2]
        axis.plot(
            [rank for rank, _ in ranks],
            [count for _, count in ranks],
            style,
            color=COLOURS[number % len(COLOURS)],
            label=volume,
            linewidth=1.2,
        )
    logarithmic(axis, x=True, y=True)
    axis.set_xlabel("flash pages written, by updates")
    axis.set_ylabel("updates")
    legend(axis, columns=5)
    return figure


def draw_volumes(
    title: str, volumes: Sequence[str], series: Mapping[str, Sequence[float]], published: Mapping[str, Published]
) -> Figure:
    """Bars per volume as ratios to the baseline, with the mean at the right.

    Args:
        title: title of the plot.
        volumes: names of the volumes.
        series: ratios, one per volume.
        published: published means of some series: a change in percent, or a share of the baseline.
    """
    figure, (axis,) = panels(1, 1, width=9.0, height=3.4)
    width = 0.8 / len(series)
    for number, (label, values) in enumerate(series.items()):
        bars = [*values, sum(values) / len(values)]
        places = [k + (number - (len(series) - 1) / 2) * width for k in range(len(bars))]
        axis.bar(places, bars, width, color=COLOURS[number % len(COLOURS)], label=label)
    found = [(number, published[label]) for number, label in enumerate(series) if label in published]
    means = [(len(volumes) + (number - (len(series) - 1) / 2) * width, _ratio(row)) for number, row in found]
    if means:
        at, values = zip(*means, strict=True)
        mark(axis, at, values, marked("published mean", *(row for _, row in found)))
    axis.axhline(1.0, color="#222222", linewidth=0.8)
    axis.set_xticks(range(len(volumes) + 1), [*volumes, "mean"], rotation=45, ha="right")
    axis.set_ylabel("over baseline")
    entries = len(series) + bool(means)
    axis.set_title(title, pad=26 if entries <= 5 else 40)
    # The legend entry of published values lists all statuses and needs four columns.
    legend(axis, columns=entries if entries <= 5 else 4)
    return figure


def _ratio(row: Published) -> float:
    """Mean of a row as a ratio to the baseline: `ppc` rows are shares, others changes."""
    assert row.value is not None
    return row.value / 100.0 if row.name.startswith("ppc") else 1.0 + row.value / 100.0
