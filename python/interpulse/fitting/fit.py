"""Fit of a drive: parameters by least squares on known figures, with their uncertainty."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from interpulse.files.paths import named
from interpulse.fitting.confidence_regions import ConfidenceRegion
from interpulse.fitting.drivefile import written
from interpulse.fitting.model import Answer, Model, Point
from interpulse.fitting.optimiser import SEEDS, Optimiser
from interpulse.fitting.parameters import Discrete
from interpulse.fitting.result import Chosen, Figure, Fit
from interpulse.fitting.spec import Spec
from interpulse.fitting.uncertainty import uncertainties
from interpulse.runs.estimate import Estimate, mean_of
from interpulse.search.simulations import Simulations
from interpulse.sweeps.engine import Progress, observer_of

NAME = "fit.json"
"""The result file in the folder of a fit, beside drive.toml."""

DRIVE = "drive.toml"


def fit(
    given: object,
    *,
    out: str | PathLike[str] | None = None,
    on: object = None,
    jobs: int | None = None,
    progress: Progress = None,
) -> Fit:
    """Finds the parameters of a drive from figures of a data sheet or of fio.

    Args:
        given: the path of a fit file, or a dictionary with the same keys.
        out: the output folder; default: the name of the file in the working folder.
        on: as for `interpulse.sweep`.
        jobs: local workers, by default one per core; never changes the result.
        progress: called with the numbers of finished, requested and concurrent simulations.

    Returns:
        The drive, the parameters with their uncertainty, and the simulated beside the known figures.

    Raises:
        ConfigError: the file, or a file named in it, cannot be used, or the cluster is unavailable.
        RunError: writing failed; finished simulations are kept.
        KeyboardInterrupt: Ctrl-C; what had ended is kept.
    """
    spec = Spec.of(given)
    folder = Path(spec.name) if out is None else named(out, "out")
    with Simulations(spec.config, folder, observer_of(progress), on=on, jobs=jobs) as simulations:
        model = Model(spec, simulations)
        optimiser = Optimiser(model)
        region = ConfidenceRegion(optimiser, spec.continuous, optimiser.run())
        region.explore()
        best, rivals = region.best, region.rivals()
        (answers,) = model.ask([best], spec.repetitions)
        figures = _figures(model, best, answers, [float(each) for each in optimiser.tolerances])
        chosen = _chosen(model, optimiser, best, rivals)
        text = written(spec, chosen, figures, spec.repetitions)
        found = Fit(spec.title or spec.name, chosen, figures, text, spec.repetitions, model.asked)
        found.simulated, found.kept = simulations.simulated, simulations.kept
        found.notes = list(_notes(found))
        simulations.write(NAME, (json.dumps(found.to_dict(), indent=1) + "\n").encode())
        found.path = simulations.write(DRIVE, text.encode())
        return found


def _figures(model: Model, best: Point, answers: Sequence[Answer], tolerances: Sequence[float]) -> list[Figure]:
    found, number = [], 0
    for which, load in enumerate(model.spec.loads):
        raws = [model.raw(best, seed)[which] for seed in range(len(answers))]
        steady = all(raw is not None and (raw.get("steady") or {}).get("verdict") != "no" for raw in raws)
        for target in load.targets:
            values = [answer.values[number] for answer in answers]
            mean = mean_of(values)
            few = any(raw is not None and target.few(raw) for raw in raws)
            sure = Estimate.geometric([value for value in values if value]) if mean else Estimate(math.nan)
            interval = None if sure.low is None or sure.high is None else (sure.low, sure.high)
            found.append(Figure(load, target, mean, interval, tolerances[number], few, steady))
            number += 1
    return found


def _chosen(model: Model, optimiser: Optimiser, best: Point, rivals: Sequence[Point]) -> list[Chosen]:
    spec = model.spec
    jacobian, tolerances = optimiser.jacobian(best, SEEDS), optimiser.tolerances_in_use
    residuals = optimiser.residuals(best)[: len(tolerances)]
    values = [math.exp(log) for log in best.logs]
    elsewhere = [[math.exp(log) for log in each.logs] for each in rivals]
    sure = iter(uncertainties(spec.continuous, jacobian, tolerances, residuals, values, elsewhere))
    numbers = iter(range(len(spec.discrete)))
    at = iter(values)
    found = []
    for parameter in spec.parameters:
        if parameter in spec.discrete:
            number = next(numbers)
            found.append(
                _choice(spec.discrete[number], best.choices[number], {each.choices[number] for each in rivals})
            )
        else:
            value, known = next(at), next(sure)
            own = parameter.sets(value)  # type: ignore[arg-type]
            found.append(Chosen(parameter, value, known.within, known.determined, known.why, known.bound, own))
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
            f"{each.target.said(each.simulated)}"
            for each in found.unmet
        )
        notes.append(f"no drive within the bounds was found that has: {names}")
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
