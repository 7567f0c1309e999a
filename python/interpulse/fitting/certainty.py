"""Which parameters the figures determine, how well, and what the others depend on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from interpulse.fitting.parameters import Continuous
from interpulse.fitting.squares import Array

DETERMINED = 0.25
"""A parameter whose 95 % interval is wider than this, either way, is not determined."""

FELT = 0.03
"""A figure depends on a parameter where it moves by this share of the parameter's own change."""

TIED = 0.9
"""Parameters with errors so much correlated are told together."""

AT_BOUND = 0.05
"""A value this near to a bound, as a share, lies at it: a trust region comes no nearer."""

NORMAL_95 = 1.96

WIDER = 1.2
"""Intervals are made so much wider than chance alone makes them: how great chance is, is itself not known well."""


@dataclass(frozen=True)
class Sureness:
    """How well a parameter is known from the figures alone, priors left aside.

    Attributes:
        within: half of its 95 % interval, as a share of it.
        determined: whether that is little.
        why: if not, why not.
        bound: at which bound of the file or of shipped parts it lies, if at any.
    """

    within: float
    determined: bool
    why: str = ""
    bound: str = ""


def scale_of(residuals: Array, parameters: int) -> float:
    """How much less squares are believed where figures are off by more than their tolerances."""
    return max(1.0, float(np.sum(residuals**2)) / max(len(residuals) - parameters, 1))


def covariance_of(
    parameters: Sequence[Continuous],
    jacobian: Array,
    tolerances: Array,
    residuals: Array,
) -> Array:
    """The covariance of the logarithms of parameters; arguments as those of `sureness`."""
    weighed = jacobian / tolerances[:, None] / math.sqrt(scale_of(residuals, len(parameters)))
    # Nothing is less sure than anything between the bounds.
    spans = np.array([math.log(each.high / each.low) for each in parameters])
    return np.asarray(np.linalg.inv(weighed.T @ weighed + np.diag(12 / spans**2)), dtype=np.float64)


def sureness(
    parameters: Sequence[Continuous],
    jacobian: Array,
    tolerances: Array,
    residuals: Array,
    at: Sequence[float],
    elsewhere: Sequence[Sequence[float]] = (),
) -> list[Sureness]:
    """What figures say of each parameter.

    Args:
        parameters: in the order of the columns of the Jacobian.
        jacobian: derivatives of the logarithms of figures by those of parameters.
        tolerances: of each figure, as a share.
        residuals: how far each figure is off, in tolerances; where that is more than one, all are believed less.
        at: the value of each parameter.
        elsewhere: the values at other points that fit as well.
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
        found.append(Sureness(within, within <= DETERMINED, why, _bound(parameter, at[number])))
    return found


def _farthest(value: float, others: Sequence[float]) -> float:
    return max(others, key=lambda other: abs(math.log(other / value)), default=value)


def _bound(parameter: Continuous, value: float) -> str:
    for name, end in (("lower", parameter.low), ("upper", parameter.high)):
        if abs(math.log(value / end)) < AT_BOUND:
            return f"at its {name} bound, {parameter.said(end)}"
    return ""
