"""Sweep files: axes, repetitions, derived columns and constraints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.files.structured_text import read_toml
from interpulse.sweeps.axes import Axis, Choice, Sets, read_axis
from interpulse.sweeps.expression import Expression
from interpulse.sweeps.tomlfile import RESERVED, TomlFile, read_given

KEYS = (
    *("sweep_version", "title", "config", "set", "repetitions", "seed"),
    *("axis", "where", "columns", "derived", "constraints"),
)


@dataclass(frozen=True)
class Spec:
    """A sweep file.

    Attributes:
        path: name in messages.
        config: the shared configuration with the overrides of `[set]`.
        cases: the `[[case]]` sections of the configuration as an axis, or None.
        axes: the axes, the outermost first.
        where: conditions of all simulated points.
        repetitions: seeds per point.
        seed: the first seed; None for the configuration's seed.
        columns: additional figures by column: paths in a result, such as `counters.ftl.erases`.
        derived: columns computed from other columns.
        constraints: conditions on the figures of a row.
    """

    path: str
    config: Config
    cases: Axis | None
    axes: tuple[Axis, ...]
    where: tuple[Expression, ...] = ()
    repetitions: int = 1
    seed: int | None = None
    title: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    derived: Mapping[str, Expression] = field(default_factory=dict)
    constraints: Mapping[str, Expression] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    """File and line of each derived column and constraint."""

    @classmethod
    def of(cls, given: object) -> Spec:
        """Reads a sweep from a path or a dictionary.

        Raises:
            ConfigError: not a valid sweep.
        """
        return given if isinstance(given, Spec) else read_given(given, "sweep", read_spec)

    @property
    def all_axes(self) -> tuple[Axis, ...]:
        """The axes, followed by the cases, so that rows of compared cases are adjacent."""
        return (*self.axes, *([self.cases] if self.cases else ()))

    @property
    def names(self) -> list[str]:
        """The columns of all axes."""
        return [name for axis in self.all_axes for name in axis.columns]


def read_spec(text: str, path: str, folder: Path) -> Spec:
    """Reads the text of a sweep file whose files are in `folder`. Raises ConfigError with the line of a mistake."""
    file = TomlFile.read(text, path, folder, KEYS)
    config = file.config()
    for key, value in file.settings():
        config.set(key, value)
    listed = file.tables("axis", 'with key = "flow.0.depth" and values = [1, 4, 16]')
    axes = tuple(read_axis(each, file.at("axis", number), folder) for number, each in enumerate(listed))
    cases = cases_of(config)
    _unique(axes, cases, dict(config.sets))
    given = file.raw.get("where", [])
    where = f"{file.place('where')}: where"
    spec = Spec(
        file.name,
        config,
        cases,
        axes,
        tuple(Expression.read(each, where) for each in (given if isinstance(given, list) else [given])),
        file.number("repetitions", 1, "a number of seeds", 1, 1_000_001),
        file.number("seed", None, "a seed", 0, 2**63) if "seed" in file.raw else None,
        file.words("title"),
        file.paths(),
        file.expressions("derived"),
        file.expressions("constraints"),
        {name: file.place(name, of) for of in ("columns", "derived", "constraints") for name in file.table(of)},
    )
    for expression in spec.where:
        expression.check(spec.names, where)
    return spec


def cases_of(config: Config) -> Axis | None:
    """The cases of a configuration as an axis; `resolve` reports mistakes in them."""
    config.resolve()
    listed = read_toml(config.text, config.path).get("case", [])
    if not listed:
        return None
    choices: list[Choice] = []
    keys: dict[str, None] = {}
    for case in listed:
        sets: Sets = tuple(
            (key.strip(), value.strip()) for key, _, value in (e.partition("=") for e in case.get("set", []))
        )
        choices.append(Choice(sets, {"case": case["name"]}))
        keys |= dict.fromkeys(key for key, _ in sets)
    return Axis(config.path, ("case",), tuple(keys), tuple(choices))


def sets_of_cases(config: Config) -> dict[str, Sets]:
    """The overrides of each case by name, including those of the configuration; `run` is the only case by default."""
    axis, own = cases_of(config), tuple(config.sets)
    if axis is None:
        return {"run": own}
    return {str(choice.columns["case"]): (*choice.sets, *own) for choice in axis.choices}


def _unique(axes: tuple[Axis, ...], cases: Axis | None, sets: Mapping[str, str]) -> None:
    by_key: dict[str, str] = dict.fromkeys(sets, "[set]")
    by_column: dict[str, str] = dict.fromkeys(RESERVED, "every sweep")
    if cases is not None:
        by_key |= dict.fromkeys(cases.keys, f"[[case]] in {cases.place}")
        by_column["case"] = f"[[case]] in {cases.place}"
    for axis in axes:
        for key in axis.keys:
            if key == "seed":
                raise ConfigError(f"{axis.place}: axis: seen seed; expected repetitions = N above the first section")
            if key in by_key:
                raise ConfigError(f"{axis.place}: axis: {key} is set by {by_key[key]} too; one of them has to go")
            by_key[key] = f"the axis at {axis.place}"
        for name in axis.columns:
            if name in by_column:
                raise ConfigError(
                    f"{axis.place}: axis: the column {name} is one of {by_column[name]} too; give it a name"
                )
            by_column[name] = f"the axis at {axis.place}"
