"""Study files: parameters, objectives and constraints of an optimisation."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.lifetime.expected import LifeLimit
from interpulse.sweeps.axes import Axis, Choice, Sets, read_axis
from interpulse.sweeps.dataset import FIGURES
from interpulse.sweeps.expression import Expression
from interpulse.sweeps.spec import sets_of_cases
from interpulse.sweeps.tomlfile import RESERVED, TomlFile, read_given

KEYS = (
    *("study_version", "title", "config", "case", "set", "seed", "repetitions", "trials", "batch", "sampler", "cut"),
    *("storage", "life", "dwpd", "profile", "parameter", "columns", "derived", "objective", "constraints"),
)
SAMPLERS = ("tpe", "nsga-ii", "random")
TRIES = 64
"""Tried combinations with a value before the value is rejected."""

_PERCENTILE = re.compile(r"(read|write|all)_(p\d+(?:_\d+)?)_us")
_ORDERED = ("range", "log-range")


@dataclass(frozen=True)
class Parameter:
    """A free parameter.

    Attributes:
        axis: its values, as for an axis of a sweep.
        ordered: whether neighbouring values are similar, as in a range.
        when: condition on the parameters above under which the parameter is active; None for always.
    """

    axis: Axis
    ordered: bool
    when: Expression | None = None

    @property
    def name(self) -> str:
        """Name for samplers and messages."""
        return ", ".join(self.axis.columns)

    def active(self, columns: Mapping[str, Any]) -> bool:
        """Whether the parameter is active with these values of the parameters above."""
        return self.when is None or bool(self.when.value(columns))


@dataclass(frozen=True)
class Objective:
    """An expression to minimise or maximise."""

    name: str
    value: Expression
    maximise: bool = False


@dataclass(frozen=True)
class Study:
    """A study file.

    Attributes:
        sets: settings of all trials, including those of the case.
        trials: total number of trials.
        batch: trials proposed at a time; results depend on it, never on the number of workers.
        repetitions: seeds per trial.
        life: age that the drive of a trial has to reach; None for any.
        cut: a trial ends after a first seed that misses a constraint, or is dominated, by this factor.
    """

    path: str
    name: str
    config: Config
    sets: Sets
    parameters: tuple[Parameter, ...]
    objectives: tuple[Objective, ...]
    constraints: Mapping[str, Expression]
    columns: Mapping[str, str]
    derived: Mapping[str, Expression]
    seed: int = 1
    repetitions: int = 1
    trials: int = 64
    batch: int = 8
    sampler: str = "tpe"
    cut: float = 1.5
    storage: str | None = None
    title: str = ""
    case: str = ""
    life: LifeLimit | None = None

    @classmethod
    def of(cls, given: object) -> Study:
        """Reads a study from a path or a dictionary.

        Raises:
            ConfigError: not a valid study.
        """
        return given if isinstance(given, Study) else read_given(given, "study", read_study)

    def definition(self, base: str) -> dict[str, Any]:
        """Identity of a study: only trials with equal definitions are comparable. `base` is the plain configuration."""
        parameters = {
            each.name: [[[list(pair) for pair in choice.sets] for choice in each.axis.choices],
                        None if each.when is None else each.when.text]
            for each in self.parameters
        }  # fmt: skip
        found = {
            "config": base,
            "set": [list(each) for each in self.sets],
            "parameter": parameters,
            "objective": {o.name: ["maximise" if o.maximise else "minimise", o.value.text] for o in self.objectives},
            "constraints": {name: each.text for name, each in self.constraints.items()},
            "columns": dict(self.columns),
            "derived": {name: each.text for name, each in self.derived.items()},
            "seed": self.seed,
            "repetitions": self.repetitions,
            "batch": self.batch,
            "sampler": self.sampler,
            "cut": self.cut,
            **({"life": self.life.to_dict()} if self.life is not None else {}),
        }
        return json.loads(json.dumps(found))  # type: ignore[no-any-return]

    def combinations(self, number: int, choice: Choice) -> Iterator[Sets]:
        """The settings of all combinations, allowed by `when`, with a given choice of a parameter."""

        def further(at: int, columns: dict[str, Any], sets: Sets) -> Iterator[Sets]:
            if at == len(self.parameters):
                yield sets
                return
            parameter = self.parameters[at]
            if not parameter.active(columns):
                if at != number:
                    nothing = dict.fromkeys(parameter.axis.columns)
                    yield from further(at + 1, columns | nothing, sets)
                return
            for each in (choice,) if at == number else parameter.axis.choices:
                yield from further(at + 1, columns | dict(each.columns), (*sets, *each.sets))

        return further(0, {}, ())

    def check(self, legal: Callable[[Sets], str | None]) -> None:
        """Checks that every value is legal in some combination.

        Args:
            legal: returns why settings cannot be used, or None.

        Raises:
            ConfigError: a value is not, or `when` always excludes it.
        """
        for number, parameter in enumerate(self.parameters):
            for choice in parameter.axis.choices:
                why: str | None = "no combination of the parameters above activates it: see its `when`"
                for sets in itertools.islice(self.combinations(number, choice), TRIES):
                    why = legal(sets)
                    if why is None:
                        break
                if why is not None:
                    raise ConfigError(f"{parameter.axis.place}: parameter: {why.removeprefix('--set: ')}")

    def percentiles(self) -> set[tuple[str, str]]:
        """The percentiles that objectives and constraints use, by kind of request."""
        asked = [*(each.value for each in self.objectives), *self.constraints.values()]
        names, left = set(), {name for each in asked for name in each.names}
        while left:
            name = left.pop()
            if name in self.derived:
                left |= self.derived[name].names
            if match := _PERCENTILE.fullmatch(name):
                names.add((match[1], match[2].replace("_", ".")))
        return names


def read_study(text: str, path: str, folder: Path) -> Study:
    """Reads the text of a study whose files are in `folder`. Raises ConfigError with the line of a mistake."""
    file = TomlFile.read(text, path, folder, KEYS)
    config = file.config()
    for key, value in file.settings():
        config.set(key, value)
    case, sets = _case(file, config)
    parameters = _parameters(file)
    columns, derived, constraints, known = _figures(file, parameters)
    sampler, cut = file.raw.get("sampler", "tpe"), file.raw.get("cut", 1.5)
    if sampler not in SAMPLERS:
        raise ConfigError(f"{file.place('sampler')}: sampler: seen {sampler!r}; expected one of {', '.join(SAMPLERS)}")
    if isinstance(cut, bool) or not isinstance(cut, int | float) or not 1 <= cut <= 1e9:
        raise ConfigError(f"{file.place('cut')}: cut: seen {cut!r}; expected a factor of at least 1")
    return Study(
        path=file.name,
        name=Path(path.strip("<>")).stem,
        config=config,
        sets=sets,
        parameters=parameters,
        objectives=_objectives(file, known),
        constraints=constraints,
        columns=columns,
        derived=derived,
        seed=file.number("seed", 1, "a seed", 0, 2**31),
        repetitions=file.number("repetitions", 1, "a number of seeds", 1, 1001),
        trials=file.number("trials", 64, "a number of trials", 1, 1_000_001),
        batch=file.number("batch", 8, "a number of trials", 1, 10_001),
        sampler=sampler,
        cut=float(cut),
        storage=file.words("storage") if "storage" in file.raw else None,
        title=file.words("title"),
        case=case,
        life=LifeLimit.read(
            file.raw.get("life"),
            file.raw.get("dwpd"),
            (f"{file.place('life')}: life", f"{file.place('dwpd')}: dwpd", f"{file.place('profile')}: profile"),
            _profile(file),
        ),
    )


def _profile(file: TomlFile) -> Path | None:
    """The path of a profile, beside the study."""
    name = file.words("profile")
    if "profile" in file.raw and not name.strip():
        raise ConfigError(f"{file.place('profile')}: profile: seen {name!r}; expected the path of a file with periods")
    return file.folder / name if name else None


def _figures(
    file: TomlFile, parameters: tuple[Parameter, ...]
) -> tuple[dict[str, str], dict[str, Expression], dict[str, Expression], list[str]]:
    """Columns, derived columns, constraints, and the names that objectives may use."""
    columns, derived, constraints = file.paths(), file.expressions("derived"), file.expressions("constraints")
    own = [name for each in parameters for name in each.axis.columns]
    known = [*own, *FIGURES, *columns]
    for name in (*own, *columns, *derived):
        if [*known, *derived].count(name) > 1 or name in RESERVED:
            raise ConfigError(f"{file.name}: seen the name {name} twice, or as a built-in column; give it another")
    for name, expression in derived.items():
        expression.check(known, f"{file.place(name, 'derived')}: derived.{name}")
        known.append(name)
    for name, expression in constraints.items():
        expression.check(known, f"{file.place(name, 'constraints')}: constraints.{name}")
    return columns, derived, constraints, known


def _case(file: TomlFile, config: Config) -> tuple[str, Sets]:
    wanted, cases = file.raw.get("case"), sets_of_cases(config)
    legal = f"expected one of {', '.join(cases)}"
    if wanted is None and len(cases) > 1:
        raise ConfigError(f"{file.place('config')}: case: seen none; {legal}: a study is of one case")
    name = next(iter(cases)) if wanted is None else str(wanted)
    if name not in cases:
        raise ConfigError(f"{file.place('case')}: case: seen {wanted!r}; {legal}")
    return name, cases[name]


def _parameters(file: TomlFile) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    such = 'with key = "suspend.erase.scheme" and values = ["none", "deferred"]'
    for number, each in enumerate(file.tables("parameter", such)):
        at = file.at("parameter", number)
        own = {key: value for key, value in each.items() if key != "when"}
        axis = read_axis(own, at, file.folder)
        when = None
        if "when" in each:
            when = Expression.read(each["when"], f"{at('when')}: parameter.when")
            when.check([name for p in found for name in p.axis.columns], f"{at('when')}: parameter.when")
        found.append(Parameter(axis, any(way in own for way in _ORDERED), when))
    return tuple(found)


def _objectives(file: TomlFile, known: list[str]) -> tuple[Objective, ...]:
    found: list[Objective] = []
    for number, each in enumerate(file.tables("objective", 'with minimise = "read_p99_9_us"')):
        at = f"{file.place(None, 'objective', number)}: objective"
        ways = [key for key in ("minimise", "maximise") if key in each]
        if len(ways) != 1 or set(each) - {"name", *ways}:
            seen = ", ".join(each) or "nothing"
            raise ConfigError(f"{at}: seen {seen}; expected minimise or maximise, and perhaps a name")
        expression = Expression.read(each[ways[0]], f"{at}.{ways[0]}")
        expression.check(known, f"{at}.{ways[0]}")
        name = each.get("name", expression.text)
        if not isinstance(name, str) or not name or name in [other.name for other in found]:
            raise ConfigError(f"{at}.name: seen {name!r}; expected a text that no other objective has")
        found.append(Objective(name, expression, ways[0] == "maximise"))
    return tuple(found)
