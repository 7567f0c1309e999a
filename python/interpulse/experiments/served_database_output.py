"""Rows, notes, tables and plots of a database on a served drive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from interpulse.blockdevice.workload import KINDS
from interpulse.plotting.plots import COLOURS, Plot, legend_outside, logarithmic, panels, places
from interpulse.runs.estimate import Estimate
from interpulse.studies.outcome import Curve, Outcome, Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STATISTICS = ("p50", "p90", "p99", "p99.9")

WORDS = {
    "none": "no suspension",
    "zambelli": "programs, loop-boundary, at most 10 (Zambelli 2021)",
    "fast12": "programs intra-phase-cancel, erases pulse-remainder (FAST'12)",
    "atc19": "erases, timeout (ATC'19)",
    "both": "programs loop-boundary, erases timeout",
    "ideal": "both ideal",
}
"""The ways in words, for rows and legends."""

MOST_GROWTH = 4.0
"""Of the mean latency from the first quarter of a window to the last."""

WIDTH = 0.8
"""Of a group of bars."""

Found = Mapping[str, Sequence[Mapping[str, Any]]]
"""Answers of the repeats of each way."""


def outcome(rows: Rows, found: Found, quantiles: Sequence[float], pace: float, rate: float) -> Outcome:
    """The outcome of the experiment."""
    for way, answers in found.items():
        for kind in KINDS:
            for statistic in STATISTICS:
                values = _values(answers, kind, statistic)
                rows.add_own(f"{kind}_{statistic}_{way}", values, unit="us", figure=f"{kind}s, {WORDS[way]}")
        for statistic in ("p50", "p99.9"):
            values = [answer["drive"]["operations"]["read"]["latency_ns"][statistic] / 1000 for answer in answers]
            rows.add(f"drive_read_{statistic}_{way}", values, unit="us", figure=f"reads of the drive, {WORDS[way]}")
    for way in (way for way in found if way != "none"):
        for kind in KINDS:
            for statistic in STATISTICS:
                base, own = (_values(found[each], kind, statistic) for each in ("none", way))
                # Repeats of a number share arrivals and accounts.
                ratios = [one / other for one, other in zip(base, own, strict=True)]
                figure = f"no suspension over {way}, the same arrivals"
                rows.add(f"{kind}_{statistic}_gain_{way}", Estimate.geometric(ratios), unit="x", figure=figure)
    return Outcome(
        rows,
        settings={"pace": pace, "rate_per_s": rate},
        figures={"pace": pace, "rate_per_s": rate},
        notes=_notes(found, pace, rate),
        plots=[
            Plot("tails", partial(_tails, found, quantiles), "Share of transactions that is slower"),
            Plot("percentiles", partial(_percentiles, found), "Percentiles of transactions of each way"),
        ],
        curves=[_runs(found), _points(found, quantiles)],
    )


def _values(answers: Sequence[Mapping[str, Any]], kind: str, statistic: str) -> list[float]:
    return [answer["transactions"][kind][statistic] for answer in answers]


def _notes(found: Found, pace: float, rate: float) -> list[str]:
    drives = [answer["drive"] for answers in found.values() for answer in answers]
    slip = max(drive["slip"]["drive_ns"]["p99"] for drive in drives) / 1000
    counts = [
        answer["transactions"][kind]["count"] for answers in found.values() for answer in answers for kind in KINDS
    ]
    least = min(counts)
    return [
        f"pace {pace:g}: the drive is {pace:g} times slower than life; figures are wall time divided by {pace:g}",
        f"the database's CPU time, locks and kernel are real time: their share is {pace:g} times less than in life",
        f"{rate:g} transactions per second of drive time, 75 % reads, Poisson arrivals, latency from the arrival",
        f"p99 of the server's slip: at most {slip:.1f} us of drive time; {least:,} transactions of each kind or more",
        "the write cache of the drive is protected (no flushes), and the page cache is emptied: reads reach the drive",
        "these figures depend on the machine and its other load; equal seeds share accounts and arrivals, not results",
        *(
            f"{way}: latency grows through a window of {kind}s: the load is too high"
            for way, kind in _overloaded(found)
        ),
    ]


def _overloaded(found: Found) -> list[tuple[str, str]]:
    """Ways and kinds whose latency grows through a window."""
    return [
        (way, kind)
        for way, answers in found.items()
        for kind in KINDS
        if any(answer["transactions"][kind]["growth"] > MOST_GROWTH for answer in answers)
    ]


_RUNS = ("way", "repeat", "kind", "transactions", *STATISTICS, "drive read p50", "drive read p99.9")
_COUNTS = ("write amplification", "program suspends", "erase suspends", "slip p99")


def _runs(found: Found) -> Curve:
    """A line for each kind of each run; times in us of drive time."""
    lines = []
    for way, answers in found.items():
        for repeat, answer in enumerate(answers, start=1):
            drive = answer["drive"]
            reads, nand = drive["operations"]["read"]["latency_ns"], drive["counters"]["nand"]
            for kind in KINDS:
                own = answer["transactions"][kind]
                lines.append([way, repeat, kind, own["count"], *(own[each] for each in STATISTICS)])
                lines[-1] += [reads["p50"] / 1000, reads["p99.9"] / 1000, drive["write_amplification"]]
                lines[-1] += [nand["program_suspends"], nand["erase_suspends"], drive["slip"]["drive_ns"]["p99"] / 1000]
    return Curve("runs", _RUNS + _COUNTS, lines)


def _points(found: Found, quantiles: Sequence[float]) -> Curve:
    """The curves of the plot, each point the mean over repeats."""
    lines = [
        [way, kind, quantile, value]
        for way, answers in found.items()
        for kind in KINDS
        for quantile, value in zip(quantiles, _curve(answers, kind), strict=False)
    ]
    return Curve("tails", ("way", "kind", "quantile", "us"), lines)


def _curve(answers: Sequence[Mapping[str, Any]], kind: str) -> list[float]:
    """Latency by quantile, the mean over repeats; as long as every repeat has enough transactions."""
    curves = [answer["transactions"][kind]["curve"] for answer in answers]
    return [sum(values) / len(values) for values in zip(*curves, strict=False)]


def _tails(found: Found, quantiles: Sequence[float]) -> Figure:
    """Share of slower transactions over latency, from the fastest tenth on."""
    figure, axes = panels(1, len(KINDS), width=4.6, height=3.6)
    for axis, kind in zip(axes, KINDS, strict=True):
        for number, (way, answers) in enumerate(found.items()):
            values = _curve(answers, kind)[1:]
            shares = [1 - quantile for quantile in quantiles[1 : len(values) + 1]]
            axis.plot([value / 1000 for value in values], shares, color=COLOURS[number], lw=1.6, label=WORDS[way])
        logarithmic(axis, x=True, y=True)
        axis.set_xlabel(f"latency of {kind} transactions, ms of drive time")
        axis.set_ylabel("share that is slower")
    legend_outside(figure, axes[0], columns=2)
    return figure


def _percentiles(found: Found) -> Figure:
    """Percentiles of each way: the mean of the repeats, and a line from the least to the most."""
    figure, axes = panels(1, len(KINDS), width=4.6, height=3.4)
    for axis, kind in zip(axes, KINDS, strict=True):
        values = {way: [_values(answers, kind, each) for each in STATISTICS] for way, answers in found.items()}
        for number, (way, groups) in enumerate(values.items()):
            at = places(number, len(values), len(groups), WIDTH / len(values))
            heights = [sum(group) / len(group) / 1000 for group in groups]
            axis.bar(at, heights, WIDTH / len(values), color=COLOURS[number], label=WORDS[way])
            for place, group in zip(at, groups, strict=True):
                axis.plot([place, place], [min(group) / 1000, max(group) / 1000], color="#333333", lw=0.9)
        axis.set_xticks(range(len(STATISTICS)), STATISTICS)
        axis.grid(visible=False, axis="x")
        logarithmic(axis, y=True)
        axis.set_ylabel(f"{kind} transactions, ms of drive time")
    legend_outside(figure, axes[0], columns=2)
    return figure
