"""Sweep files: what is varied, how often it is repeated, and what is made of the figures."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from interpulse._core import ConfigError
from interpulse.config import Config
from interpulse.sweeps.axes import Axis, Choice, Sets, flat_settings, read_axis
from interpulse.sweeps.expression import Expression
from interpulse.sweeps.place import line_of
from interpulse.userfile import read_text, shown
from interpulse.values import toml, whole

T = TypeVar("T")

KEYS = (
    *("sweep_version", "title", "config", "set", "repetitions", "seed"),
    *("axis", "where", "columns", "derived", "constraints"),
)
VERSION = 1


@dataclass(frozen=True)
class Spec:
    """A sweep as its file has it.

    Attributes:
        path: what messages call it.
        config: the configuration that every point shares, with the overrides of `[set]`.
        cases: the `[[case]]` sections of the configuration, as an axis; None where it has none.
        axes: what varies, the outermost first.
        where: points at which one of these does not hold are left out.
        repetitions: how many seeds each point is run with.
        seed: the first of them; None for that of the configuration.
        columns: further figures by the names of their columns: paths in a result, such as `counters.ftl.erases`.
        derived: columns made of others.
        constraints: limits on the figures of a row.
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
    """Where each derived column and constraint is written."""

    @classmethod
    def of(cls, given: object) -> Spec:
        """The sweep of a file by its path, or that of a dictionary with the keys of one.

        Raises:
            ConfigError: there is none in what is given.
        """
        return given if isinstance(given, Spec) else read_given(given, "sweep", read_spec)


def read_given(given: object, what: str, read: Callable[[str, str, Path], T]) -> T:
    """Reads a file by its path, or a dictionary with the keys of one, by a function of its text, path and folder.

    Raises:
        ConfigError: it is neither, or cannot be read; `what` is what it should be.
    """
    if isinstance(given, Mapping):
        return read(toml(given), "<dict>", Path())
    if isinstance(given, str | PathLike):
        return read(read_text(given, f"the {what}"), str(given), Path(given).parent)
    kind = type(given).__name__
    raise ConfigError(f"a {what} is the path of a TOML file or a dictionary; seen {kind}: {given!r}")


def read_spec(text: str, path: str, folder: Path) -> Spec:
    """Reads the text of a sweep file whose files lie in `folder`. Raises ConfigError with the place of a mistake."""
    raw, place = read_head(text, path, KEYS, "sweep_version", VERSION)
    config = config_of(raw, path, folder, place)
    base = config.copy()
    for key, value in table_of(raw, "set", path, text).items():
        base.set(key, value)
    listed = raw.get("axis", [])
    if not isinstance(listed, list) or not listed:
        raise ConfigError(f"{shown(path)}: axis: seen none; expected at least one [[axis]], such as one with key = "
                          '"flow.0.depth" and values = [1, 4, 16]')  # fmt: skip
    axes = tuple(
        read_axis(each, lambda key, number=number: place(key or "", "axis", number), folder)  # type: ignore[misc]
        for number, each in enumerate(listed)
    )
    cases = cases_of(base)
    _unique(axes, cases, dict(base.sets))
    title = raw.get("title", "")
    if not isinstance(title, str):
        raise ConfigError(f"{place('title')}: title: seen {title!r}; expected a text")
    spec = Spec(
        shown(path),
        base,
        cases,
        axes,
        _where(raw, place),
        whole(f"{place('repetitions')}: repetitions", raw.get("repetitions", 1), "a number of seeds", 1, 1_000_001),
        None if "seed" not in raw else whole(f"{place('seed')}: seed", raw["seed"], "a seed", 0, 2**63),
        title,
        paths_of(raw, path, text),
        expressions_of(raw, "derived", path, text),
        expressions_of(raw, "constraints", path, text),
        {
            name: place(name, table)
            for table in ("columns", "derived", "constraints")
            for name in (raw[table] if isinstance(raw.get(table), dict) else ())
        },
    )
    known = {name for axis in (*axes, *([cases] if cases else ())) for name in axis.columns}
    for expression in spec.where:
        expression.check(known, f"{place('where')}: where")
    return spec


def read_head(
    text: str, path: str, keys: Sequence[str], version_key: str, version: int
) -> tuple[dict[str, Any], Callable[..., str]]:
    """What a file such as that of a sweep holds, and what says where: of a key, its table and the number of that.

    Raises:
        ConfigError: it is not TOML, has a key that is none of these, or is of another version.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{shown(path)}: this is not TOML: {error}") from None

    def place(key: str, table: str = "", number: int = 0) -> str:
        return f"{shown(path)}:{line_of(text, table, number, key)}"

    for key in raw:
        if key not in keys:
            at = place(key) if not isinstance(raw[key], dict | list) else f"{shown(path)}:{line_of(text, key)}"
            raise ConfigError(f"{at}: unknown key {key}; expected one of {', '.join(keys)}")
    if raw.get(version_key, version) != version:
        raise ConfigError(f"{place(version_key)}: {version_key}: seen {raw[version_key]!r}; expected {version}")
    return raw, place


def config_of(raw: Mapping[str, Any], path: str, folder: Path, place: Callable[[str], str]) -> Config:
    """The configuration that a file has in it or names. Raises ConfigError with the place of a mistake."""
    given = raw.get("config")
    if isinstance(given, dict) and given:
        return Config(toml(given), path=str((folder / Path(path).name).absolute()))
    if not isinstance(given, str) or not given.strip():
        raise ConfigError(
            f"{place('config')}: config: seen {given!r}; expected the path of a configuration, beside this file"
        )
    file = folder / given
    try:
        return Config.load(file)
    except ConfigError as error:
        raise ConfigError(f"{place('config')}: config: {error}") from None


def table_of(raw: Mapping[str, Any], name: str, path: str, text: str) -> dict[str, Any]:
    """A table of a file, empty where there is none. Raises ConfigError where it is something else."""
    table = raw.get(name, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{shown(path)}:{line_of(text, '', 0, name)}: {name}: seen {table!r}; expected a table")
    return dict(flat_settings(table)) if name == "set" else table


def cases_of(config: Config) -> Axis | None:
    """The cases of a configuration as an axis. What is wrong with them is told by the configuration itself."""
    config.resolve()
    listed = tomllib.loads(config.text).get("case", [])
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


RESERVED = ("point", "repetition", "seed", "status", "error", "key", "feasible")
"""Columns that every dataset has."""


def _where(raw: Mapping[str, Any], place: Callable[[str], str]) -> tuple[Expression, ...]:
    given = raw.get("where", [])
    several = given if isinstance(given, list) else [given]
    return tuple(Expression.read(each, f"{place('where')}: where") for each in several)


def expressions_of(raw: Mapping[str, Any], name: str, path: str, text: str) -> dict[str, Expression]:
    """The expressions of a table by their names. Raises ConfigError with the place of a mistake."""
    found = {}
    for key, value in table_of(raw, name, path, text).items():
        at = f"{shown(path)}:{line_of(text, name, 0, key)}: {name}.{key}"
        if not key.isidentifier() or key in RESERVED:
            raise ConfigError(f"{at}: seen this name; expected letters, digits and underscores, none of {RESERVED}")
        found[key] = Expression.read(value, at)
    return found


def paths_of(raw: Mapping[str, Any], path: str, text: str) -> dict[str, str]:
    """The figures of `[columns]` by their names. Raises ConfigError with the place of a mistake."""
    found = {}
    for key, value in table_of(raw, "columns", path, text).items():
        at = f"{shown(path)}:{line_of(text, 'columns', 0, key)}: columns.{key}"
        if not key.isidentifier() or key in RESERVED:
            raise ConfigError(f"{at}: seen this name; expected letters, digits and underscores, none of {RESERVED}")
        if not isinstance(value, str) or not value.strip("."):
            raise ConfigError(f"{at}: seen {value!r}; expected a path in a result, such as counters.ftl.erases")
        found[key] = value
    return found
