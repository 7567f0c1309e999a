"""Dispersion of wear: how the erases of super blocks spread while preconditioning overwrites the drive."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from interpulse._core import ConfigError
from interpulse.files.cache import parse_size
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.check import PLANES

LEAST, MOST = 10, 40
"""Drive writes until erases are counted, by the size of the drive."""

EARLY = 0.4
"""Share of them after which erases are counted first."""

OVERWRITES = 12_000_000
"""Overwritten units that a small drive gets, for a growth that exceeds its chance."""

BLOCKS, REPEATS = 1000, 4
"""Super blocks that are counted, of a small drive with up to so many seeds of preconditioning."""

STATIC = 1.6
"""Power of time with which the variance grows above which some data is never moved: 2 then, 1 of a renewal process."""


UNIT = 4096

WHOLE = 1 / 12
"""Variance that rounding to whole erases adds."""


@dataclass(frozen=True)
class Dispersion:
    """Spread of erases.

    Attributes:
        value: growth of the variance over that of the mean.
        offset: variance that does not grow, without that of whole numbers.
        static: whether the variance grows faster than a renewal process lets it.
    """

    value: float
    offset: float
    static: bool


def check(values: Mapping[str, str], path: str) -> None:
    """Raises ConfigError unless preconditioning has a pattern from which wear can be sampled."""
    family = values.get("ftl.family", "page")
    if family != "page":
        raise ConfigError(f'{path}: ftl.family: seen "{family}"; expected "page", the family whose wear is sampled')
    pattern = values.get("precondition.overwrite", "none")
    if pattern == "none":
        raise ConfigError(
            f'{path}: precondition.overwrite: seen "none"; expected the pattern of the writes of the load, such as '
            '"uniform": a life samples the state of the drive with it'
        )


def asks(values: Mapping[str, str]) -> list[Sets]:
    """The simulations that count erases: early and late ones of each seed of preconditioning."""
    if values.get("precondition.wear") == "drawn":
        raise ConfigError(
            'precondition.wear: seen "drawn"; expected "equal": a life draws the wear of its windows itself'
        )
    if values.get("run.warmup-requests", "not set") != "not set":
        warmup = ("run.warmup-requests", "1")
    else:
        warmup = ("run.warmup", "0s")
    end = [("run.requests", "100")] if values.get("run.requests", "not set") != "not set" else []
    end += [("run.time", "100ms")] if values.get("run.time", "not set") != "not set" else []
    ages = [("errors.initial-age", "0s")] if values.get("errors.table", "ideal") != "ideal" else []
    common = (("precondition.cycles", "0"), ("precondition.until", "drive-writes"), ("report.dies", "true"), warmup)
    *dies, planes = (int(values[key]) for key in PLANES)
    blocks = math.prod(dies) * int(values["part.blocks-per-plane"])
    pages = blocks * planes * int(values["part.pages-per-block"])
    units = pages * parse_size(values["part.page-size"], "part.page-size") // UNIT
    late = min(MOST, max(LEAST, OVERWRITES // units))
    first = int(values["precondition.seed"])
    return [
        (*common, *end, *ages, ("precondition.seed", str(seed)), ("precondition.drive-writes", str(writes)))
        for seed in range(first, first + min(REPEATS, -(-BLOCKS // blocks)))
        for writes in (round(EARLY * late), late)
    ]


def measure(raws: list[Mapping[str, Any]]) -> Dispersion:
    """The dispersion by the results of `asks`."""
    every = [_moments(raw) for raw in raws]
    (before, early), (after, late) = (tuple(map(fmean, zip(*every[k::2], strict=True))) for k in (0, 1))
    if after <= before or early <= 0 or late <= early:
        return Dispersion(0.0, max(0.0, late - WHOLE), static=False)
    growth = (late / early) / (after / before) ** STATIC if before > 0 else 0.0
    value = (late - early) / (after - before)
    return Dispersion(value, max(0.0, early - value * before - WHOLE), static=growth > 1)


def _moments(raw: Mapping[str, Any]) -> tuple[float, float]:
    """Mean and variance of the cycles of all super blocks."""
    groups = [pair for die in raw["dies"] for pair in zip(die["cycles"]["mean"], die["cycles"]["sd"], strict=True)]
    mean = sum(each for each, _ in groups) / len(groups)
    return mean, sum(sd * sd + (each - mean) ** 2 for each, sd in groups) / len(groups)
