"""Fit of a drive: parameters by least squares on known figures, with their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError
from interpulse.files.paths import named
from interpulse.fitting.budget import Budget, BudgetObserver, read_budget
from interpulse.fitting.result import Fit
from interpulse.fitting.scale import scale_model
from interpulse.fitting.spec import Spec
from interpulse.sweeps.engine import ProgressObserver, observer_of
from interpulse.sweeps.simulations import Simulations

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Client
    from distributed.deploy import Cluster


def fit(
    given: Mapping[str, Any] | str | PathLike[str],
    *,
    out: str | PathLike[str] | None = None,
    on: str | PathLike[str] | Client | Cluster | None = None,
    jobs: int | None = None,
    progress: ProgressObserver | Callable[[int, int, int], None] | None = None,
    budget: str | None = None,
    scale: bool | None = None,
) -> Fit:
    """Finds the parameters of a drive from figures of a data sheet or of fio.

    The folder has the best drive so far at all times. When the budget ends, the answer is the best drive so far, and
    the same call continues from there.

    Args:
        given: the path of a fit file, or a dictionary with the same keys.
        out: the output folder; default: the name of the file in the working folder.
        on: as for `interpulse.sweep`.
        jobs: local workers, by default one per core; never changes the result of a fit that its budget does not end.
        progress: called with the numbers of finished, requested and concurrent simulations.
        budget: time that the fit may take, such as `5min`; `none` for no limit; default: that of the file, or 5 min.
        scale: whether the drive becomes a scale model with few and short blocks; default: as the file says, or if it
            has more than 64 GiB.

    Returns:
        The drive, the parameters with their uncertainty, and the simulated beside the known figures.

    Raises:
        ConfigError: the file, or a file named in it, cannot be used, or the cluster is unavailable.
        RunError: writing failed, or the budget ended before one drive was simulated; finished simulations are kept.
        KeyboardInterrupt: Ctrl-C; what had ended is kept, and the folder has the best drive so far.
    """
    # These need numpy and scipy, which an installation without the extra `fit` does not have.
    from interpulse.fitting.phases import FitRun

    spec = Spec.of(given)
    if scale is not None and not isinstance(scale, bool):
        raise ConfigError(f"scale: seen {scale!r}; expected True, False or None")
    seconds = spec.budget_s if budget is None else read_budget(budget, "budget")
    clock = Budget(seconds)
    folder = Path(spec.name) if out is None else named(out, "out")
    spec, notes = scale_model(spec, spec.scale if scale is None else scale)
    notes += [note for load in spec.loads for note in load.notes]
    observer = BudgetObserver(observer_of(progress), clock)
    with Simulations(spec.config, folder, observer, on=on, jobs=jobs) as simulations:
        run = FitRun(spec, simulations, clock, notes)
        observer.planned = run.planned
        for note in (*notes, run.plan()):
            observer.note(note)
        return run.answer()
