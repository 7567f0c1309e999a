"""Simulated drive as a function of its parameters: the figures under each load."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interpulse._core import ConfigError, RunError
from interpulse.files.cache import parse_size
from interpulse.fitting.spec import Spec
from interpulse.search.simulations import Simulations
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.check import PLANES

BLOCKS = 12
"""Blocks per lane that the host fills in a window of random writes; with fewer, the result depends on a few victims."""

MOST_WINDOW = 2**33
"""Maximum number of bytes written in a window."""


@dataclass(frozen=True)
class Point:
    """Values of all parameters.

    Attributes:
        logs: natural logarithms of the continuous parameters, in basic units.
        choices: the index of each discrete parameter.
    """

    logs: tuple[float, ...]
    choices: tuple[int, ...]


@dataclass(frozen=True)
class Answer:
    """Figures of a point in the order of the fit; None if a simulation failed or no request completed."""

    values: tuple[float | None, ...]
    why: str = ""
    """The reason for a missing figure."""


def window(values: Mapping[str, str]) -> int:
    """Bytes that fill `BLOCKS` blocks in each lane of a drive with these settings."""
    pages = BLOCKS * math.prod(int(values[key]) for key in (*PLANES, "part.pages-per-block"))
    return min(pages * parse_size(values["part.page-size"], "part.page-size"), MOST_WINDOW)


class Model:
    """Simulates points; the store keeps all simulations, so that no point runs twice."""

    def __init__(self, spec: Spec, simulations: Simulations) -> None:
        self.spec = spec
        self.asked = 0
        self._simulations = simulations
        self._known: dict[tuple[Point, int], Answer] = {}
        self._windows: dict[tuple[int, ...], int] = {}
        self._raws: dict[tuple[Point, int], list[Mapping[str, Any] | None]] = {}

    def settings(self, point: Point) -> Sets:
        """The settings of a point."""
        found: list[tuple[str, str]] = []
        for parameter, log in zip(self.spec.continuous, point.logs, strict=True):
            found += parameter.sets(math.exp(log))
        for discrete, number in zip(self.spec.discrete, point.choices, strict=True):
            found += discrete.sets(number)
        return tuple(found)

    def check(self, points: Sequence[Point]) -> None:
        """Raises ConfigError if none of the points is a valid drive, or if the first valid one rejects a load."""
        why = ""
        for point in points:
            sets = (*self.spec.sets, *self.settings(point))
            try:
                self._simulations.plan(sets)
            except ConfigError as error:
                why = why or str(error)
                continue
            for load in self.spec.loads:
                try:
                    self._simulations.plan((*sets, *load.sets(self.spec.requests, 0)))
                except ConfigError as error:
                    raise ConfigError(f"{load.place}: load {load.name}: {error}") from None
            return
        raise ConfigError(f"{self.spec.path}: no tried drive is valid: {why}")

    def ask(self, points: Sequence[Point], seeds: int = 1) -> list[list[Answer]]:
        """The figures of points for each seed.

        Raises:
            ConfigError: the cluster is unavailable.
            RunError: the cluster was lost, or writing failed; finished simulations are kept.
        """
        wanted = [(point, seed) for point in dict.fromkeys(points) for seed in range(seeds)]
        missing = [each for each in wanted if each not in self._known]
        asked: list[Sets] = []
        for point, seed in missing:
            asked += self._asks(point, seed)
        answers = self._simulations.run(asked) if asked else []
        self.asked += len(missing)
        for number, each in enumerate(missing):
            loads = len(self.spec.loads)
            self._known[each] = self._answer(each, answers[number * loads : (number + 1) * loads])
        return [[self._known[point, seed] for seed in range(seeds)] for point in points]

    def raw(self, point: Point, seed: int = 0) -> list[Mapping[str, Any] | None]:
        """The complete results of a simulated point, one per load."""
        return self._raws[point, seed]

    def _asks(self, point: Point, seed: int) -> list[Sets]:
        sets = (*self.spec.sets, *self.settings(point))
        # Sizes are counts and therefore choices.
        if point.choices not in self._windows:
            try:
                self._windows[point.choices] = window(self._simulations.values(sets))
            except ConfigError:
                self._windows[point.choices] = 0
        size = self._windows[point.choices]
        return [
            self._simulations.with_seed((*sets, *load.sets(self.spec.requests, size)), seed) for load in self.spec.loads
        ]

    def _answer(self, key: tuple[Point, int], answers: Sequence[Mapping[str, Any]]) -> Answer:
        values: list[float | None] = []
        why = ""
        raws: list[Mapping[str, Any] | None] = []
        for load, answer in zip(self.spec.loads, answers, strict=True):
            raw = answer.get("raw")
            raws.append(raw)
            if raw is None:
                error = answer["error"]
                if error["kind"] in ("bug", "worker"):
                    raise RunError(error["message"])
                why = why or error["message"]
            values += [None if raw is None else target.of(raw, load.block) for target in load.targets]
        self._raws[key] = raws
        return Answer(tuple(values), why)
