"""Study with several seeds: means of its rows with confidence intervals.

A study maps a seed to rows and does not handle repetition itself. Rows are joined by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from interpulse.runs.estimate import Estimate
from interpulse.studies.context import Context, Reporter
from interpulse.studies.outcome import Curve, Outcome, Row, Rows
from interpulse.studies.parallel import run_parallel
from interpulse.studies.registry import Entry
from interpulse.studies.seed_overlay import overlay_seeds

if TYPE_CHECKING:
    from interpulse.runs.runner import Going

QUICK_SEEDS = 3
"""Default seeds of a quick run; in a full run the study repeats its own cases."""


def run(entry: Entry, context: Context, seeds: int | None) -> Outcome:
    """Runs a study with several seeds in parallel; the first is the seed of the context.

    Args:
        entry: the study.
        context: counts and reports the jobs of all seeds.
        seeds: how many, at least one; None for the default.

    Raises:
        as `Context.run` does.
    """
    context.seeds = seeds if seeds is not None else QUICK_SEEDS if context.quick else None
    if context.seeds is None:
        return entry.run(context)
    options = context.options
    every = options.shared(context.seeds) if context.seeds > 1 else [options]
    progress = _All(context)
    context.parts = [context.of_seed(repeat, own, _Share(progress, repeat)) for repeat, own in enumerate(every)]
    tasks = [partial(entry.run, part) for part in context.parts]
    found = run_parallel(tasks, context.cores, context.stop)
    return found[0] if len(found) == 1 else joined(context.rows(), [part.seed for part in context.parts], found)


class _All:
    """Progress of all seeds; a seed that has not reported yet counts as many jobs as another."""

    def __init__(self, context: Context) -> None:
        self.reporter = context.reporter
        self._context = context
        self._lock = Lock()
        self._running: dict[int, Sequence[Going]] = {}

    def report(self, seed: int, running: Sequence[Going]) -> None:
        """Reports the running simulations of one seed."""
        each = [part.announced for part in self._context.parts]
        if len(each) > 1:
            running = [_OfSeed(f"{case.case}, seed {seed + 1}", case) for case in running]
        with self._lock:
            self._running[seed] = running
            self._context.announced = sum(announced or max(each) for announced in each)
            going = [case for _, cases in sorted(self._running.items()) for case in cases]
            self.reporter.study(self._context.done, self._context.announced, going)


@dataclass(frozen=True)
class _OfSeed:
    """Progress of a case, with a name that is unique among all seeds."""

    case: str
    _of: Going

    @property
    def phase(self) -> str:
        return self._of.phase

    @property
    def done(self) -> int:
        return self._of.done

    @property
    def total(self) -> int:
        return self._of.total

    @property
    def unit(self) -> str:
        return self._of.unit


class _Share(Reporter):
    """Passes the progress of one seed on."""

    def __init__(self, of: _All, seed: int) -> None:
        self._of = of
        self._seed = seed

    def study(self, done: int, total: int, running: Sequence[Going]) -> None:  # noqa: ARG002 - the context knows both
        self._of.report(self._seed, running)

    def note(self, line: str) -> None:
        self._of.reporter.note(line)


def joined(rows: Rows, seeds: Sequence[int], outcomes: Sequence[Outcome]) -> Outcome:
    """The outcomes of one study with these seeds as one.

    A row has the mean of the seeds that have a figure and Student's 95 % interval of it; it holds where it holds for
    each of them. Notes and calibrated values that differ say of which seed they are. Tables behind plots have the rows
    of every seed. JSON figures and files are those of the first seed; those of the other seeds are in `each`.
    """
    found = [{row.name: row for row in outcome.rows.ordered()} for outcome in outcomes]
    notes = []
    for name in dict.fromkeys(name for each in found for name in each):
        own = [each[name] for each in found if name in each]
        rows.put(_joined_row(own))
        some = sum(each.ours is not None for each in own)
        if 0 < some < len(outcomes):
            notes.append(f"{name}: {some} of {len(outcomes)} seeds have a figure")
    first = outcomes[0]
    if first.files:
        notes.append(f"{', '.join(name for name, _ in first.files)}: as measured with the first seed")
    return Outcome(
        rows,
        calibrated=_calibrated(outcomes),
        settings=first.settings,
        figures=first.figures,
        notes=[
            f"ours is the mean of {len(outcomes)} seeds, its interval Student's; what holds does so with each of them",
            *_notes(outcomes),
            *notes,
        ],
        plots=overlay_seeds([outcome.plots for outcome in outcomes]),
        curves=[_values(seeds, found), *_curves(seeds, outcomes)],
        files=first.files,
        each=[_each(seed, outcome, first) for seed, outcome in zip(seeds, outcomes, strict=True)],
    )


def _joined_row(rows: Sequence[Row]) -> Row:
    values = [row.ours for row in rows if row.ours is not None]
    if not values:
        return rows[0]
    estimate = Estimate.of(values)
    held = [row.holds for row in rows if row.holds is not None]
    every = False if not all(held) and not _decided_by_chance(rows[0], values) else None
    return replace(rows[0], ours=estimate.value, ci_low=estimate.low, ci_high=estimate.high, every=every)


def _decided_by_chance(row: Row, values: Sequence[float]) -> bool:
    """Whether some values are strictly within a bound of a row and some strictly outside it."""
    low = row.low is not None and min(values) < row.low < max(values)
    return low or (row.high is not None and min(values) < row.high < max(values))


def _calibrated(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Values that all seeds share; lists in the order of seeds for those that differ."""
    keys = dict.fromkeys(key for outcome in outcomes for key in outcome.calibrated)
    all_of = {key: [outcome.calibrated.get(key) for outcome in outcomes] for key in keys}
    return {key: v[0] if all(each == v[0] for each in v) else v for key, v in all_of.items()}


def _notes(outcomes: Sequence[Outcome]) -> list[str]:
    """The notes of all seeds, then those of single seeds."""
    shared = [note for note in outcomes[0].notes if all(note in outcome.notes for outcome in outcomes)]
    own = [
        f"seed {number} of {len(outcomes)}: {note}"
        for number, outcome in enumerate(outcomes, start=1)
        for note in outcome.notes
        if note not in shared
    ]
    return shared + own


def _values(seeds: Sequence[int], found: Sequence[dict[str, Row]]) -> Curve:
    """What each seed gives for each row."""
    lines = [(name, seed, row.ours) for seed, rows in zip(seeds, found, strict=True) for name, row in rows.items()]
    return Curve("seeds", ("name", "seed", "ours"), lines)


def _curves(seeds: Sequence[int], outcomes: Sequence[Outcome]) -> list[Curve]:
    """The tables behind plots: the lines of every seed below each other, the seed before them."""
    tables = [(seed, curve) for seed, outcome in zip(seeds, outcomes, strict=True) for curve in outcome.curves]
    names = dict.fromkeys(curve.name for _, curve in tables)
    return [_curve(name, [pair for pair in tables if pair[1].name == name]) for name in names]


def _curve(name: str, tables: Sequence[tuple[int, Curve]]) -> Curve:
    columns = list(dict.fromkeys(column for _, curve in tables for column in curve.columns))
    lines = []
    for seed, curve in tables:
        for line in curve.rows:
            cells = dict(zip(curve.columns, line, strict=True))
            lines.append((seed, *(cells.get(column) for column in columns)))
    return Curve(name, ("seed", *columns), lines)


def _each(seed: int, outcome: Outcome, first: Outcome) -> dict[str, Any]:
    other = {key: value for key, value in outcome.figures.items() if value != first.figures.get(key)}
    ours = {row.name: row.ours for row in outcome.rows.ordered()}
    return {"seed": seed, "ours": ours, "calibrated": outcome.calibrated, "figures": other}
