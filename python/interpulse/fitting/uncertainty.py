"""Uncertainty of fitted parameters: intervals, correlations and reasons for undetermined ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from interpulse.fitting.coordinates import Array
from interpulse.fitting.parameters import Continuous

DETERMINED = 0.25
"""Largest half width of the 95 % interval of a determined parameter, as a share of the value."""

FELT = 0.03
"""Least logarithmic derivative by which a figure depends on a parameter."""

TIED = 0.9
"""Correlation of errors above which parameters are reported together."""

AT_BOUND = 0.05
"""Share by which a value at a bound may differ from it: a trust region does not reach the bound."""

NORMAL_95 = 1.96

WIDER = 1.2
"""Factor on intervals: the variance between seeds is itself only an estimate."""


@dataclass(frozen=True)
class Uncertainty:
    """Uncertainty of a parameter from the figures alone, without priors.

    Attributes:
        within: half width of the 95 % interval, as a share of the value; infinite if unknown.
        determined: whether the interval is narrow enough.
        why: the reason for an undetermined parameter.
        bound: the bound at which the value lies, if any.
    """

    within: float
    determined: bool
    why: str = ""
    bound: str = ""


def scale_of(residuals: Array, parameters: int) -> float:
    """Factor on the variance if figures deviate by more than their tolerances."""
    return max(1.0, float(np.sum(residuals**2)) / max(len(residuals) - parameters, 1))


def covariance_of(
    parameters: Sequence[Continuous],
    jacobian: Array,
    tolerances: Array,
    residuals: Array,
) -> Array:
    """The covariance of the logarithms of parameters; arguments as those of `uncertainties`."""
    weighted = jacobian / tolerances[:, None] / math.sqrt(scale_of(residuals, len(parameters)))
    # A uniform distribution between the bounds is the largest uncertainty.
    spans = np.array([math.log(each.high / each.low) for each in parameters])
    return np.asarray(np.linalg.inv(weighted.T @ weighted + np.diag(12 / spans**2)), dtype=np.float64)


def uncertainties(
    parameters: Sequence[Continuous],
    jacobian: Array,
    tolerances: Array,
    residuals: Array,
    at: Sequence[float],
    elsewhere: Sequence[Sequence[float]] = (),
) -> list[Uncertainty]:
    """The uncertainty of each parameter.

    Args:
        parameters: in the order of the columns of the Jacobian.
        jacobian: derivatives of the logarithms of figures by those of parameters.
        tolerances: of each figure, as a share.
        residuals: deviation of each figure, in tolerances; large ones widen all intervals.
        at: the value of each parameter.
        elsewhere: the values at other points that fit equally well.
    """
    if not parameters:
        return []
    covariance = covariance_of(parameters, jacobian, tolerances, residuals)
    sigmas = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(sigmas, sigmas)
    found = []
    for number, (parameter, sigma) in enumerate(zip(parameters, sigmas, strict=True)):
        within = math.expm1(WIDER * NORMAL_95 * float(sigma))
        rival = _farthest(at[number], [values[number] for values in elsewhere])
        apart = math.expm1(abs(math.log(rival / at[number])))
        why = ""
        if within > DETERMINED:
            felt = float(np.max(np.abs(jacobian[:, number]), initial=0.0))
            others = [
                (abs(float(correlation[number, other])), parameters[other].name)
                for other in range(len(parameters))
                if other != number and abs(correlation[number, other]) > TIED
            ]
            if felt < FELT:
                why = "no figure depends on it"
            elif others:
                why = f"only together with {', '.join(name for _, name in sorted(others, reverse=True))}"
            else:
                why = "figures depend on it too little for their tolerances"
        elif apart > DETERMINED:
            why = f"{parameter.said(rival)} fits as well, with others to match"
        within = max(within, apart)
        found.append(Uncertainty(within, within <= DETERMINED, why, _bound(parameter, at[number])))
    return found


def unfinished(known: Uncertainty, why: str) -> Uncertainty:
    """The uncertainty where the fit is not complete: nothing is determined, as better drives may be found."""
    if known.why:
        why += f"; {known.why}"
    elif math.isfinite(known.within):
        why += f"; within {100 * known.within:.1f} % by what was simulated"
    return replace(known, determined=False, why=why)


def unmeasured(parameters: Sequence[Continuous], at: Sequence[float]) -> list[Uncertainty]:
    """The uncertainty where the budget ended before derivatives were known."""
    pairs = zip(parameters, at, strict=True)
    return [Uncertainty(math.inf, determined=False, bound=_bound(each, value)) for each, value in pairs]


def _farthest(value: float, others: Sequence[float]) -> float:
    return max(others, key=lambda other: abs(math.log(other / value)), default=value)


def _bound(parameter: Continuous, value: float) -> str:
    for name, end in (("lower", parameter.low), ("upper", parameter.high)):
        if abs(math.log(value / end)) < AT_BOUND:
            return f"at its {name} bound, {parameter.said(end)}"
    return ""
