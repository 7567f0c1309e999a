"""Points of a sweep: combinations of its axes, and their simulations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from interpulse._core import ConfigError
from interpulse.studies.case import derived_seed
from interpulse.sweeps.axes import MOST_VALUES, Choice, Sets
from interpulse.sweeps.expression import all_hold
from interpulse.sweeps.spec import Spec


@dataclass(frozen=True)
class Point:
    """One combination of values.

    Attributes:
        number: from 0, in the order of the axes, the last axis fastest.
        columns: the values of the columns of the axes.
        sets: the overrides, the shared ones first.
    """

    number: int
    columns: Mapping[str, Any]
    sets: Sets


@dataclass(frozen=True)
class Simulation:
    """One repetition of a point."""

    point: Point
    repetition: int
    seed: int

    @property
    def sets(self) -> Sets:
        """All overrides."""
        return (*self.point.sets, ("seed", str(self.seed)))


def settings(spec: Spec, choices: tuple[Choice, ...]) -> Sets:
    """The overrides of a combination: of the case, of the configuration, of the axes."""
    cases = choices[len(spec.axes) :]
    own = choices[: len(spec.axes)]
    return (
        *(each for choice in cases for each in choice.sets),
        *spec.config.sets,
        *(each for choice in own for each in choice.sets),
    )


def points(spec: Spec) -> list[Point]:
    """All points at which `where` holds.

    Raises:
        ConfigError: no point, or more than a million.
    """
    axes = spec.all_axes
    count = math.prod(len(axis.choices) for axis in axes)
    if count * spec.repetitions > MOST_VALUES:
        raise ConfigError(
            f"{spec.path}: seen {count * spec.repetitions:,} simulations; expected at most {MOST_VALUES:,}"
        )
    found: list[Point] = []
    for choices in itertools.product(*(axis.choices for axis in axes)):
        columns = {name: value for choice in choices for name, value in choice.columns.items()}
        if spec.where and not all_hold(spec.where, columns):
            continue
        found.append(Point(len(found), columns, settings(spec, choices)))
    if not found:
        raise ConfigError(f"{spec.path}: where: it holds at none of the {count} points; expected at least one")
    return found


def simulations(spec: Spec, of: list[Point], seed: int) -> Iterator[Simulation]:
    """All simulations: the points in order, the repetitions of a point adjacent.

    A repetition has the same seed at every point, so that points have the same arrivals.
    """
    seeds = [derived_seed(seed, repetition) for repetition in range(spec.repetitions)]
    for point in of:
        for repetition, own in enumerate(seeds):
            yield Simulation(point, repetition, own)
