"""Shared parts of the experiments of Kim et al., ATC'19: schemes, tail percentiles and plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interpulse.plotting.plots import COLOURS, PUBLISHED, Plot, breadth, legend_outside, logarithmic, mark, panels
from interpulse.runs.result import Result
from interpulse.studies.case import Sets
from interpulse.studies.outcome import Curve, Outcome, Rows
from interpulse.studies.published import Published, marked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RAMP = "500us"
"""Ramp of `es`: time to restore the voltage after a resume. Not printed; half a step of 1 ms. See `es_no_ramp`."""

TIMEOUT = "64ms"
"""T-ES timeout: Kim et al., ATC'19, slide 32."""

ERASE = "suspend.erase"

CALIBRATED = {"host.firmware": "3us, so that a 4 KiB read at queue depth 1 takes the 15 us of slide 2"}
"""Value that was calibrated on a figure of the paper."""


@dataclass(frozen=True)
class Scheme:
    """A design of the comparison (slide 32)."""

    key: str
    """Name in rows."""
    label: str
    """Name in the slides."""
    colour: str
    sets: Sets = field(default_factory=dict, compare=False)


def _timeout(clock: str) -> Sets:
    return {f"{ERASE}.scheme": "timeout", f"{ERASE}.defer-after": TIMEOUT, f"{ERASE}.defer-clock": clock}


BASELINE = Scheme("baseline", "Baseline", COLOURS[5])
IDEAL = Scheme("ideal", "Ideal-ES", COLOURS[3], {f"{ERASE}.scheme": "ideal", f"{ERASE}.min-remaining": "0us"})
ES = Scheme("es", "ES", COLOURS[4], {f"{ERASE}.scheme": "exact", f"{ERASE}.resume-ramp": RAMP})
IES = Scheme("ies", "I-ES", COLOURS[1], {f"{ERASE}.scheme": "immediate"})
DES = Scheme("des", "D-ES", COLOURS[2], {f"{ERASE}.scheme": "deferred"})
TES = Scheme("tes", "T-ES", COLOURS[0], _timeout("host-write"))
"""T-ES with the clock of the authors' simulator: the age of the oldest waiting host write."""

SCHEMES = (BASELINE, IDEAL, ES, IES, DES, TES)
"""The six designs of slide 32, in its order."""

ES_NO_RAMP = Scheme("es_no_ramp", "ES, no ramp", COLOURS[7], {f"{ERASE}.scheme": "exact"})
TES_SUSPENDED = Scheme(
    "tes_suspended_time", "T-ES, time an erase was suspended", COLOURS[6], _timeout("suspended-time")
)
TES_ERASE = Scheme(
    "tes_first_suspend", "T-ES, since an erase was first suspended", COLOURS[6], _timeout("first-suspend")
)

VARIANTS = (ES_NO_RAMP, TES_ERASE, TES_SUSPENDED)
"""Other readings of ES and T-ES: see docs/EXPERIMENTS.md."""


def add_erase_suspends(rows: Rows, results: Mapping[str, Result]) -> None:
    """Adds the mean suspensions per erase of each result with suspensions.

    `interpulse characterize erase` measures their effect on cells.
    """
    for key, result in results.items():
        nand = result.raw["nand"]
        if nand["erases"] and nand["suspends"]["erase"]:
            each = nand["suspends"]["erase"] / nand["erases"]
            rows.add(f"suspends_per_erase_{key}", each, unit="suspends", figure="not in the slides")


def outcome(rows: Rows, *tails: tuple[Plot, Curve], notes: Iterable[str] = (), plots: Iterable[Plot] = ()) -> Outcome:
    """Outcome of an experiment; `tails` are distributions, as `tails` and `both_tails` make them."""
    drawn, curves = [*plots, *(plot for plot, _ in tails)], [curve for _, curve in tails]
    return Outcome(rows, calibrated=dict(CALIBRATED), notes=list(notes), plots=drawn, curves=curves)


Buckets = list[list[float]]
"""Pairs of the upper end of a bucket in microseconds and its number of requests."""


def buckets(raw: Mapping[str, Any], kind: str) -> Buckets:
    """Histogram of a result or a flow; empty if no such request completed."""
    return list(raw["histogram_us"].get(kind, []))


def flow(result: Result, name: str) -> dict[str, Any]:
    """Statistics of a flow by name."""
    return next(flow for flow in result.flows if flow["name"] == name)


def longest_wait_ms(result: Result) -> float:
    """Longest duration of a write, completed or not."""
    waiting = result.raw.get("oldest_outstanding_us", {}).get("write", 0.0)
    return float(max(waiting, result.latency_us["write"].get("max", 0.0))) / 1000


def share_above(histogram: Buckets, limit_us: float) -> float:
    """Percentage of requests slower than `limit_us`; 0 without requests."""
    total = sum(count for _, count in histogram)
    slow = sum(count for upper, count in histogram if upper > limit_us)
    return 100 * slow / total if total else 0.0


def survival(histogram: Buckets) -> tuple[list[float], list[float]]:
    """Share of requests at or above each latency of the histogram."""
    total = sum(count for _, count in histogram)
    latencies, shares, left = [], [], total
    for upper, count in histogram:
        latencies.append(upper)
        shares.append(left / total)
        left -= count
    return latencies, shares


def tails(
    name: str,
    title: str,
    panes: Mapping[str, Mapping[Scheme, Buckets]],
    expected: Mapping[str, Published] | None = None,
) -> tuple[Plot, Curve]:
    """Latency distributions as in the slides, one panel per kind of request, with their numbers.

    The panels mark rows of `expected` on the schemes' 99.99th percentiles and longest writes.
    """
    lines = [
        (scheme.key, kind, us, share)
        for kind, schemes in panes.items()
        for scheme, histogram in schemes.items()
        for us, share in zip(*survival(histogram), strict=True)
    ]
    curve = Curve(name, ("scheme", "kind", "latency_us", "share_at_least"), lines)
    return Plot(name, lambda: _draw(title, panes, expected or {}), title), curve


def both_tails(title: str, results: Mapping[str, Result], expected: Mapping[str, Published]) -> tuple[Plot, Curve]:
    """Distributions of reads and writes under the six designs, with marks for the printed values."""
    panes = {kind: {each: buckets(results[each.key].raw, kind) for each in SCHEMES} for kind in ("read", "write")}
    return tails("tails", title, panes, expected)


def _draw(title: str, panes: Mapping[str, Mapping[Scheme, Buckets]], expected: Mapping[str, Published]) -> Figure:
    figure, axes = panels(1, len(panes))
    for axis, (kind, schemes) in zip(axes, panes.items(), strict=True):
        for number, (scheme, histogram) in enumerate(schemes.items()):
            if histogram:
                latencies, shares = survival(histogram)
                style: dict[str, Any] = {"linewidth": breadth(number, len(schemes)), "color": scheme.colour}
                axis.step(latencies, shares, where="post", label=scheme.label, **style)
        axis.set_xlabel(f"{kind} latency, us")
        _mark(axis, axes[0], kind, schemes, expected)
        logarithmic(axis, x=True, y=True)
    axes[0].set_ylabel("share of requests at least as slow")
    figure.suptitle(title)
    # Published values have long names.
    legend_outside(figure, axes[0], columns=(2 if expected else 3) * len(panes), below=True)
    return figure


def _mark(axis: Axes, named: Axes, kind: str, schemes: Iterable[Scheme], expected: Mapping[str, Published]) -> None:
    """Marks published values of reads or writes; the legend of another panel names them."""
    found = {scheme: expected.get(f"{kind}_p99.99_us_{scheme.key}") for scheme in schemes}
    tails = [row for row in found.values() if row is not None and row.value is not None]
    if tails:
        mark(axis, [row.value for row in tails if row.value is not None], [1e-4] * len(tails), "_nolegend_")
        mark(named, [], [], marked(f"published: 99.99 % of {kind}s", *tails))
    for scheme in found:
        longest = expected.get(f"{kind}_max_ms_{scheme.key}")
        if longest is not None and longest.value is not None:
            style: dict[str, Any] = {"color": PUBLISHED, "linestyle": ":", "linewidth": 1.2}
            axis.axvline(1000 * longest.value, label="_nolegend_", **style)
            named.plot([], [], label=marked(f"published: longest {kind}, {scheme.label}", longest), **style)
