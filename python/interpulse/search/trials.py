"""Trials of a study: outcomes, Pareto front and early termination."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from interpulse.runs.estimate import mean_of
from interpulse.runs.steadiness import overload
from interpulse.search.study import Study
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.dataset import FIGURES, figure


@dataclass
class Trial:
    """One combination of parameters.

    Attributes:
        number: from 0.
        columns: the values of the parameters; None for an inactive one.
        sets: the resulting settings.
        objectives: means over the seeds, by name; empty if the trial failed.
        excess: violation of each constraint, by name: at most 0 if it holds.
        seeds: number of seeds.
        cut: why the trial ended after one seed; empty otherwise.
        marks: reservations of the results about figures that objectives and constraints use.
        error: why the trial has no figures.
        keys: keys of the answers in the store.
        life: expected life as JSON, where one is demanded and all constraints hold.
    """

    number: int
    columns: Mapping[str, Any]
    sets: Sets
    objectives: dict[str, float] = field(default_factory=dict)
    excess: dict[str, float] = field(default_factory=dict)
    seeds: int = 0
    cut: str = ""
    marks: list[str] = field(default_factory=list)
    error: str = ""
    keys: list[str] = field(default_factory=list)
    life: Mapping[str, Any] = field(default_factory=dict)

    @property
    def feasible(self) -> bool:
        """Whether the trial has figures and all constraints hold."""
        return bool(self.objectives) and all(value <= 0 for value in self.excess.values())

    @property
    def sound(self) -> bool:
        """Whether the trial may be on the front: feasible, with all seeds and without marks."""
        return self.feasible and not self.cut and not self.marks

    def to_dict(self) -> dict[str, Any]:
        """As JSON; unknown values are absent."""
        named: dict[str, Any] = {"objectives": self.objectives, "excess": self.excess, "cut": self.cut,
                                 "marks": self.marks, "life": dict(self.life), "error": self.error}  # fmt: skip
        known = {key: value for key, value in named.items() if value}
        return {"trial": self.number, "parameters": dict(self.columns), "set": dict(self.sets), "seeds": self.seeds,
                "feasible": self.feasible, **known}  # fmt: skip


def counted(trials: Sequence[Trial], front: Sequence[Trial]) -> list[str]:
    """Numbers of trials, in total and by category, as text."""
    sorts = {
        "on the front": len(front),
        "not feasible": sum(not trial.feasible and not trial.error for trial in trials),
        "cut after one seed": sum(bool(trial.cut) for trial in trials),
        "marked by their results (not steady, or too few requests)": sum(bool(trial.marks) for trial in trials),
        "failed": sum(bool(trial.error) for trial in trials),
    }
    return [f"{len(trials)} trials", *(f"{count} {what}" for what, count in sorts.items() if count)]


def measure(study: Study, trial: Trial, answers: Sequence[Mapping[str, Any]]) -> Trial:
    """The trial with the results of its seeds."""
    found = Trial(trial.number, trial.columns, trial.sets, seeds=len(answers))
    errors = [answer["error"]["message"] for answer in answers if "error" in answer]
    if errors:
        found.error = errors[0]
        return found
    raws = [answer["raw"] for answer in answers]
    rows = [_row(study, trial, raw) for raw in raws]
    for objective in study.objectives:
        values = [objective.value.value(row) for row in rows]
        if (mean := mean_of([value if isinstance(value, int | float) else None for value in values])) is None:
            found.objectives = {}
            found.error = f"objective {objective.name}: {objective.value.text} has no value"
            return found
        found.objectives[objective.name] = mean
    for name, constraint in study.constraints.items():
        mean = mean_of([constraint.excess(row) for row in rows])
        # A constraint without a figure does not hold.
        found.excess[name] = math.inf if mean is None else mean
    found.excess = {name: min(value, 1e12) for name, value in found.excess.items()}
    found.marks = sorted(_marks(study, raws))
    return found


def _row(study: Study, trial: Trial, raw: Mapping[str, Any]) -> dict[str, Any]:
    row = dict(trial.columns) | {name: figure(raw, path) for name, path in (FIGURES | dict(study.columns)).items()}
    for name, expression in study.derived.items():
        row[name] = expression.value(row)
    return row


def _marks(study: Study, raws: Iterable[Mapping[str, Any]]) -> set[str]:
    found = set()
    for raw in raws:
        if raw.get("steady", {}).get("verdict") == "no":
            found.add("a window was not steady")
        if overload(raw):
            found.add("a window was overloaded")
        for kind, percentile in study.percentiles():
            if percentile in raw.get("latency_us", {}).get(kind, {}).get("few", ()):
                found.add(f"{kind} {percentile} rests on too few requests")
    return found


def dominates(study: Study, a: Trial, b: Trial, *, factor: float = 1.0) -> bool:
    """Whether `a` is at least as good in all objectives and better in one; with a factor, better by it in all."""
    at_least, better = True, factor > 1
    for objective in study.objectives:
        x, y = a.objectives[objective.name], b.objectives[objective.name]
        if objective.maximise:
            x, y = y, x
        at_least = at_least and (x < y / factor if factor > 1 and y > 0 else x <= y if factor == 1 else False)
        better = better or x < y
    return at_least and better


def front_of(study: Study, trials: Sequence[Trial]) -> list[Trial]:
    """Sound trials that no other sound trial dominates, each combination once, sorted by the first objective."""
    sound: dict[Sets, Trial] = {}
    for trial in trials:
        if trial.sound:
            sound.setdefault(trial.sets, trial)
    every = list(sound.values())
    found = [trial for trial in every if not any(dominates(study, other, trial) for other in every)]
    first = study.objectives[0].name
    return sorted(found, key=lambda each: (each.objectives[first], each.number))


def may_cut(study: Study, first: Trial, known: Sequence[Trial]) -> str:
    """Why the first seed alone rules a trial out of the front; empty if it does not.

    Either a constraint is missed by the study's factor, or a sound trial is better by it in every objective. A first
    seed with marks rules nothing out.
    """
    if first.marks or first.error:
        return ""
    for name, excess in first.excess.items():
        if excess > study.cut - 1:
            return f"its first seed misses {name} by {100 * excess:.0f} %"
    for other in known:
        if other.sound and dominates(study, other, first, factor=study.cut):
            return f"its first seed is beyond trial {other.number} by more than {study.cut:g} in every objective"
    return ""
