"""Phases of a fit: search, exploration of drives that fit as well, and measurement, each within its share of time."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from interpulse._core import RunError
from interpulse.fitting.budget import SEARCH, Budget, BudgetSpentError
from interpulse.fitting.confidence_regions import ConfidenceRegion
from interpulse.fitting.drivefile import written
from interpulse.fitting.model import Answer, Model, Point
from interpulse.fitting.optimiser import SEEDS, Optimiser
from interpulse.fitting.parameters import Discrete
from interpulse.fitting.result import (
    COMPLETE,
    DRIVE_FILE,
    EXPLORATION,
    FIT_FILE,
    SEARCHING,
    UNDER_WAY,
    Chosen,
    Figure,
    Fit,
    open_because,
)
from interpulse.fitting.targets import Load, Target
from interpulse.fitting.uncertainty import Uncertainty, uncertainties, unfinished, unmeasured
from interpulse.runs.estimate import Estimate, mean_of
from interpulse.runs.limits import lies_on_few_dies, limited_by
from interpulse.runs.steadiness import OVERLOADED
from interpulse.tables.format import duration

if TYPE_CHECKING:
    from interpulse.fitting.spec import Spec
    from interpulse.sweeps.simulations import Simulations

WRITE_S = 2.0
"""Shortest time between two files of the best drive so far."""

SPREAD = (
    'ftl.allocation = "dynamic" leaves consecutive data on few dies, which bounds sequential reads: try '
    '"super-word-line" or "cwdp" in [drive] or as a [[free]] choice'
)
"""Hint for sequential reads that are out of reach beside idle dies."""

USUAL = 100
"""Points for each parameter that a fit usually takes in all; measured: 70 to 130."""


class FitRun:
    """A fit under way."""

    def __init__(self, spec: Spec, simulations: Simulations, clock: Budget, notes: Sequence[str]) -> None:
        self._spec, self._simulations, self._clock, self._notes = spec, simulations, clock, notes
        self._model = Model(spec, simulations, self._seen)
        self._optimiser = Optimiser(self._model)
        self._kept: tuple[Point | None, float] = (None, -math.inf)

    @property
    def planned(self) -> int:
        """Simulations of the first points, which every fit needs."""
        return len(self._optimiser.spread) * len(self._model.fitted)

    def plan(self) -> str:
        """The planned simulations, for users."""
        first, loads = len(self._optimiser.spread), len(self._model.fitted)
        predicted = len(self._spec.loads) - loads
        apart = (
            f"; {predicted} load{'s' * (predicted > 1)} of held-out figures only for the answer" if predicted else ""
        )
        usual = max(first, USUAL * len(self._spec.parameters))
        limit = f"; it ends within {duration(self._clock.seconds)}" if math.isfinite(self._clock.seconds) else ""
        return (
            f"the fit plans at least {self.planned} simulations ({first} drives under {loads} "
            f"load{'s' * (loads > 1)}{apart}), and usually about {usual * loads}{limit}"
        )

    def answer(self) -> Fit:
        """The fit, complete or as far as the budget allows."""
        try:
            best, rivals, ended = self._find()
            return self._measured(best, rivals, ended)
        except KeyboardInterrupt:
            self._write_best_so_far()
            raise

    def _find(self) -> tuple[Point, Sequence[Point], str]:
        """The best point, those that fit as well, and how far the search went."""
        optimiser, spec = self._optimiser, self._spec
        ended = COMPLETE
        self._phase(SEARCH)
        try:
            best: Point | None = optimiser.run()
        except BudgetSpentError:
            best, ended = optimiser.best_so_far(), SEARCHING
        if best is None:
            raise RunError(
                f"{spec.path}: the budget of {duration(self._clock.seconds)} ended before one drive was simulated "
                f"under every load ({self._simulations.simulated} simulations); expected a longer --budget, or "
                "--scale; the same command continues from there"
            )
        region = ConfidenceRegion(optimiser, spec.continuous, best)
        self._phase(1.0)
        try:
            if ended == SEARCHING:
                optimiser.settle(best)
            region.explore()
        except BudgetSpentError:
            ended = ended if ended != COMPLETE else EXPLORATION
        return region.best, region.rivals(), ended

    def _phase(self, share: float) -> None:
        points = 2 * SEEDS * len(self._spec.continuous) + max(SEEDS, self._spec.repetitions)
        self._clock.phase(share, points * len(self._spec.loads) * self._model.each_s)

    def _measured(self, best: Point, rivals: Sequence[Point], ended: str) -> Fit:
        spec, model, optimiser = self._spec, self._model, self._optimiser
        self._clock.phase(1.0)
        try:
            (answers,) = model.ask([best], spec.repetitions, predict=True)
        except BudgetSpentError:
            ended = ended if ended != COMPLETE else EXPLORATION
            every = [model.known(best, seed) for seed in range(spec.repetitions)]
            answers = [each for each in every if each is not None]
        try:
            if ended == SEARCHING:
                optimiser.settle(best)
            jacobian = optimiser.jacobian(best, SEEDS)
        except BudgetSpentError:
            ended = ended if ended != COMPLETE else EXPLORATION
            values = [math.exp(log) for log in best.logs]
            known = unmeasured(spec.continuous, values)
        else:
            known = self._known(best, rivals, jacobian)
        optimiser.allow_for_chance_of_predictions(answers)
        figures = _figures(model, best, answers, [float(each) for each in optimiser.tolerances])
        found = self._fit(best, rivals, known, figures, len(answers), ended)
        self._write(found)
        return found

    def _known(self, best: Point, rivals: Sequence[Point], jacobian: object) -> list[Uncertainty]:
        optimiser = self._optimiser
        tolerances = optimiser.tolerances_in_use
        residuals = optimiser.residuals(best)[: len(tolerances)]
        values = [math.exp(log) for log in best.logs]
        elsewhere = [[math.exp(log) for log in each.logs] for each in rivals]
        return uncertainties(self._spec.continuous, jacobian, tolerances, residuals, values, elsewhere)  # type: ignore[arg-type]

    def _fit(
        self,
        best: Point,
        rivals: Sequence[Point],
        known: Sequence[Uncertainty],
        figures: list[Figure],
        seeds: int,
        ended: str,
    ) -> Fit:
        spec = self._spec
        chosen = _chosen(spec, best, rivals, known, ended)
        text = written(spec, chosen, figures, seeds, ended, self._model.asked)
        found = Fit(spec.title or spec.name, chosen, figures, text, seeds, self._model.asked)
        found.simulated, found.kept = self._simulations.simulated, self._simulations.kept
        found.ended, found.sources = ended, [load for load in spec.loads if load.unused]
        found.notes = [*self._notes, *_notes(found)]
        if ended not in (COMPLETE, UNDER_WAY):
            found.notes.append(
                f"the budget of {duration(self._clock.seconds)} ended {ended}: this is the best drive of "
                f"{self._model.asked}; the same command continues from there"
            )
        return found

    def _write(self, found: Fit) -> None:
        self._simulations.write(FIT_FILE, (json.dumps(found.to_dict(), indent=1) + "\n").encode())
        found.path = self._simulations.write(DRIVE_FILE, found.drive.encode())

    def _seen(self) -> None:
        """Writes the best drive so far if there is a new one."""
        if time.monotonic() - self._kept[1] >= WRITE_S and self._simulations.simulated:
            self._write_best_so_far()

    def _write_best_so_far(self) -> None:
        best = self._model.best_seen
        if best is None or best == self._kept[0]:
            return
        answer = self._model.known(best)
        assert answer is not None
        tolerances = [target.tolerance for _, target in self._spec.targets()]
        figures = _figures(self._model, best, [answer], tolerances)
        known = unmeasured(self._spec.continuous, [math.exp(log) for log in best.logs])
        self._write(self._fit(best, [best], known, figures, 1, UNDER_WAY))
        self._kept = best, time.monotonic()


def _figures(model: Model, best: Point, answers: Sequence[Answer], tolerances: Sequence[float]) -> list[Figure]:
    found, number = [], 0
    for which, load in enumerate(model.spec.loads):
        raws = [model.raw(best, seed)[which] for seed in range(len(answers))]
        simulated = bool(answers) and number not in answers[0].open
        steady = not simulated or all(
            raw is not None and (raw.get("steady") or {}).get("verdict") not in ("no", OVERLOADED) for raw in raws
        )
        for target in load.targets:
            values = [answer.values[number] for answer in answers]
            mean = mean_of(values)
            few = any(raw is not None and target.few(raw) for raw in raws)
            sure = Estimate.geometric([value for value in values if value]) if mean else Estimate(math.nan)
            interval = None if sure.low is None or sure.high is None else (sure.low, sure.high)
            limit, hint = _limit(load, target, mean, raws[0] if raws else None)
            found.append(Figure(load, target, mean, interval, tolerances[number], few, steady, limit, hint))
            number += 1
    return found


def _limit(load: Load, target: Target, mean: float | None, raw: Mapping[str, object] | None) -> tuple[str, str]:
    """What bounds the throughput of a load, and the setting that may raise it where that is known."""
    if raw is None:
        return "", ""
    too_slow = target.kind != "a duration" and mean is not None and mean < target.value
    spreads = too_slow and load.pattern == "sequential" and load.read > 0 and lies_on_few_dies(raw)
    return limited_by(raw), SPREAD if spreads else ""


def _chosen(spec: Spec, best: Point, rivals: Sequence[Point], known: Sequence[Uncertainty], ended: str) -> list[Chosen]:
    sure = iter(known if ended == COMPLETE else [unfinished(each, open_because(ended)) for each in known])
    numbers = iter(range(len(spec.discrete)))
    at = iter(math.exp(log) for log in best.logs)
    found = []
    for parameter in spec.parameters:
        if parameter in spec.discrete:
            number = next(numbers)
            others = {each.choices[number] for each in rivals}
            choice = _choice(spec.discrete[number], best.choices[number], others)
            if ended != COMPLETE:
                why = open_because(ended) + (f"; {choice.why}" if choice.why else "")
                choice = replace(choice, determined=False, why=why)
            found.append(choice)
        else:
            value, each = next(at), next(sure)
            own = parameter.sets(value)  # type: ignore[arg-type]
            within = each.within if math.isfinite(each.within) else None
            found.append(Chosen(parameter, value, within, each.determined, each.why, each.bound, own))
    return found


def _choice(parameter: Discrete, value: int, rivals: set[int]) -> Chosen:
    near = [parameter.said(each) for each in sorted(rivals - {value})]
    why = f"{' and '.join(near)} fits as well" if near else ""
    return Chosen(parameter, value, None, not near, why, "", parameter.sets(value))


def _notes(found: Fit) -> list[str]:
    notes = []
    if found.unmet:
        names = "; ".join(
            f"{each.load.name}: {each.target.figure} {each.target.said(each.target.value)}, simulated "
            f"{each.target.said(each.simulated)}{f' (limited by {each.limited_by})' if each.limited_by else ''}"
            for each in found.unmet
        )
        none = "no drive within the bounds was found that has" if found.ended == COMPLETE else "no drive so far has"
        notes.append(f"{none}: {names}")
        notes += sorted({each.hint for each in found.unmet if each.hint})
        bound = [f"{each.parameter.name} is {each.bound}" for each in found.parameters if each.bound]
        if bound:
            notes.append(f"{'; '.join(bound)}: wider bounds may help")
    few = [f"{each.load.name}: {each.target.figure}" for each in found.figures if each.few]
    if few:
        notes.append(f"too few requests lie beyond: {', '.join(few)}; increase `requests`")
    shaky = sorted({each.load.name for each in found.figures if not each.steady})
    if shaky:
        notes.append(f"not steady while measured: {', '.join(shaky)}")
    return notes
