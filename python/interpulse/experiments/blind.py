"""Measurement of a blind set-up: the cases and figures that `measures.toml` declares, on the drive of `setup.toml`.

A case is one value of each axis. A row is the mean of a figure over the cases selected, or of the ratio or change
between two values of one axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError
from interpulse.files.paths import read_text
from interpulse.files.structured_text import read_toml
from interpulse.studies.blind import SETUP
from interpulse.studies.case import Case
from interpulse.studies.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from interpulse.runs.result import Result
    from interpulse.studies.case import Sets
    from interpulse.studies.context import Context

SEEDS = 3
"""Seeds of every case, in a quick run too: a blind row has one outcome."""

_PAIRS: dict[str, Callable[[float, float], float]] = {
    "ratio": lambda first, second: first / second,
    "change": lambda first, second: 100.0 * (second / first - 1.0),
}
_TAKES: dict[str, Callable[[list[float]], float]] = {"mean": fmean, "max": max}
_ROW = {"name", "of", "per", "where", "take", *_PAIRS}


@dataclass(frozen=True)
class Measures:
    """The cases and rows of a blind set-up."""

    axes: dict[str, dict[str, Sets]]
    rows: list[dict[str, Any]]

    @classmethod
    def load(cls, folder: Path) -> Measures:
        """Reads the file.

        Raises:
            ConfigError: it cannot be read, or a row names what is not there.
        """
        path = folder / SETUP[1]
        table = read_toml(read_text(path, "the cases and figures of a blind set-up"), str(path))
        axes = {axis["name"]: axis["values"] for axis in table.get("axis", [])}
        rows = table.get("row", [])
        if not axes or not rows:
            raise ConfigError(f"{path}: at least one [[axis]] with 'name' and 'values' and one [[row]] are needed")
        for row in rows:
            _check(f"{path}: row '{row.get('name')}'", row, axes)
        return cls(axes, rows)

    def cases(self) -> dict[str, Mapping[str, str]]:
        """The value of each axis by the name of the case."""
        every = product(*self.axes.values())
        return {"_".join(values): dict(zip(self.axes, values, strict=True)) for values in every}

    def sets(self, values: Mapping[str, str]) -> Sets:
        """Overrides of a case."""
        return {key: each for axis, value in values.items() for key, each in self.axes[axis][value].items()}

    def found(self, results: Mapping[str, Result]) -> dict[str, float]:
        """The rows, from one result of each case."""
        return {row["name"]: self._row(row, results) for row in self.rows}

    def _row(self, row: dict[str, Any], results: Mapping[str, Result]) -> float:
        where = row.get("where", {})
        cases = {
            name: values
            for name, values in self.cases().items()
            if all(values[axis] == value for axis, value in where.items())
        }
        figures = {name: _figure(results[name], row) for name in cases}
        kind = next((kind for kind in _PAIRS if kind in row), None)
        take = _TAKES[row.get("take", "mean")]
        if kind is None:
            return take(list(figures.values()))
        ((axis, (first, second)),) = row[kind].items()
        pairs = []
        for name, values in cases.items():
            if values[axis] == first:
                other = "_".join((dict(values) | {axis: second}).values())
                pairs.append(_PAIRS[kind](figures[name], figures[other]))
        return take(pairs)


def _check(place: str, row: dict[str, Any], axes: dict[str, dict[str, Sets]]) -> None:
    if not {"name", "of"} <= set(row) <= _ROW:
        raise ConfigError(f"{place}: 'name' and 'of' are needed; legal are {', '.join(sorted(_ROW))}")
    pairs = [row[kind] for kind in _PAIRS if kind in row]
    named = [*row.get("where", {}).items(), *((axis, value) for pair in pairs for axis in pair for value in pair[axis])]
    for axis, value in named:
        if value not in axes.get(axis, {}):
            raise ConfigError(f"{place}: there is no axis '{axis}' with a value '{value}'")
    if len(pairs) > 1 or any(len(pair) != 1 or len(*pair.values()) != 2 for pair in pairs):
        raise ConfigError(f"{place}: 'ratio' or 'change' takes one axis with two of its values")
    if row.get("take", "mean") not in _TAKES:
        raise ConfigError(f"{place}: take = '{row['take']}' is not one of {', '.join(_TAKES)}")


def _figure(result: Result, row: dict[str, Any]) -> float:
    def at(path: list[str]) -> float:
        value: Any = result.raw
        for key in path:
            value = value[key]
        return float(value)

    return at(row["of"]) / at(row["per"]) if "per" in row else at(row["of"])


def simulated(context: Context) -> dict[str, list[float]]:
    """Every row, with a figure of each seed."""
    measures = Measures.load(context.folder)
    config = context.config(SETUP[0])
    cases = [Case(name, config, measures.sets(values), SEEDS) for name, values in measures.cases().items()]
    context.announce(len(cases) * (SEEDS if context.seeds is None else 1))
    results = context.run(cases)
    seeds = len(next(iter(results.values())))
    found = [measures.found({name: each[seed] for name, each in results.items()}) for seed in range(seeds)]
    return {row["name"]: [each[row["name"]] for each in found] for row in measures.rows}


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    rows = context.rows()
    for name, values in simulated(context).items():
        rows.add(name, values)
    return Outcome(rows)
