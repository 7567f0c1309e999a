"""Axes of a sweep: the varied settings and their values."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError
from interpulse.configuration.config import toml_value

MOST_VALUES = 1_000_000
"""Maximum number of values of an axis or points of a sweep, to catch mistakes in a step."""

WAYS = ("values", "range", "log-range", "files", "zip", "choices")
"""Keys that list the values of an axis; each axis has one."""

FILE_KEYS = re.compile(r"part\.file|errors\.table|flow\.\d+\.(trace|twin)")
"""Settings that name a file, relative to the sweep file."""

_TRACE = re.compile(r"flow\.\d+\.trace|part\.file")
"""File settings that cannot name a preset."""

_KEY = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_LEAST, _MOST = Decimal("1e-18"), Decimal("1e18")
_QUANTITY = re.compile(r"\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-z%/]*)\s*")

Sets = tuple[tuple[str, str], ...]
"""Overrides as in `--set`, in order."""


@dataclass(frozen=True)
class Choice:
    """One value of an axis: its overrides, and the values of its columns."""

    sets: Sets
    columns: Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """A dimension of a sweep.

    Attributes:
        place: the file and line, for messages.
        columns: its columns in the dataset.
        keys: the overridden settings.
        choices: the values, in order.
    """

    place: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    choices: tuple[Choice, ...]


def column(key: str) -> str:
    """The column of a key: `flow.0.depth` is `flow_0_depth`, which needs no quotes in query languages."""
    return re.sub(r"[^A-Za-z0-9]+", "_", key).strip("_")


def read_axis(raw: object, place: Callable[[str | None], str], folder: Path) -> Axis:
    """Reads an `[[axis]]`; `place` returns the line of a key, `folder` holds its files.

    Raises:
        ConfigError: not an axis; the message has the place, the value and the legal values.
    """
    if not isinstance(raw, dict):
        raise ConfigError(f"{place(None)}: axis: seen {raw!r}; expected a table [[axis]]")
    for key in raw:
        if key not in ("key", "name", *WAYS):
            legal = ", ".join(("key", "name", *WAYS))
            raise ConfigError(f"{place(key)}: axis: unknown key {key}; expected one of {legal}")
    ways = [way for way in WAYS if way in raw]
    if len(ways) != 1:
        seen = " and ".join(ways) or "none"
        raise ConfigError(f"{place(None)}: axis: seen {seen}; expected exactly one of {', '.join(WAYS)}")
    (way,) = ways
    at = place(way)
    if way == "zip":
        return _zipped(raw, at, folder)
    if way == "choices":
        return _named(raw, place, at, folder)
    key = raw.get("key")
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        legal = "the dotted key of a setting, such as flow.0.depth"
        raise ConfigError(f"{place('key')}: axis.key: seen {key!r}; expected {legal}")
    name = _name(raw, place, column(key))
    read = {"values": _values, "range": _range, "log-range": _log_range}.get(
        way, lambda raw, at: _files(raw, at, folder)
    )
    found = read(raw[way], f"{at}: axis.{way}")
    choices = [_choice({key: value}, {name: value}, f"{at}: axis.{way}", folder) for value in found]
    return _axis(at, (name,), (key,), choices)


def _axis(place: str, columns: tuple[str, ...], keys: tuple[str, ...], choices: list[Choice]) -> Axis:
    seen: dict[Sets, int] = {}
    for number, choice in enumerate(choices):
        if choice.sets in seen:
            same = " and ".join(f"{key}={value}" for key, value in choice.sets) or "no setting"
            raise ConfigError(f"{place}: axis: values {seen[choice.sets] + 1} and {number + 1} are the same ({same})")
        seen[choice.sets] = number
    return Axis(place, columns, keys, tuple(choices))


def _name(raw: dict[str, Any], place: Callable[[str | None], str], default: str) -> str:
    name = raw.get("name", default)
    if not isinstance(name, str) or not name.isidentifier():
        raise ConfigError(
            f"{place('name')}: axis.name: seen {name!r}; expected a name of letters, digits and underscores"
        )
    return name


def _choice(settings: Mapping[str, Any], columns: Mapping[str, Any], place: str, folder: Path) -> Choice:
    sets = []
    for key, value in settings.items():
        if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(each, dict) for each in value)):
            raise ConfigError(f"{place}: {key}: seen a table; expected a value of a setting")
        try:
            text = toml_value(value, key)
        except ConfigError as error:
            raise ConfigError(f"{place}: {error}") from None
        sets.append((key, _beside(key, text, folder)))
    return Choice(tuple(sets), columns)


def _beside(key: str, text: str, folder: Path) -> str:
    """The value with a file name made absolute, as workers run in other folders."""
    is_file = FILE_KEYS.fullmatch(key) and (_TRACE.fullmatch(key) or text.endswith(".toml") or "/" in text)
    return str((folder / text).absolute()) if is_file else text


def _values(raw: object, place: str) -> list[Any]:
    if not isinstance(raw, list) or not raw:
        seen = "an empty list" if raw == [] else repr(raw)
        raise ConfigError(f"{place}: seen {seen}; expected a list of at least one value")
    return raw


def _bounds(raw: object, place: str, keys: tuple[str, ...]) -> dict[str, tuple[Decimal, str]]:
    """The quantities of a range, with their common unit."""
    shape = "{ " + ", ".join(f"{key} = ..." for key in keys) + " }"
    if not isinstance(raw, dict):
        raise ConfigError(f"{place}: seen {raw!r}; expected a table such as {shape}")
    found = {}
    for key, value in raw.items():
        if key not in keys:
            raise ConfigError(f"{place}: unknown key {key}; expected {', '.join(keys)}")
        found[key] = _quantity(value, f"{place}.{key}")
    for key in ("from", "to"):
        if key not in found:
            raise ConfigError(f"{place}: {key} is missing; expected a table such as {shape}")
    units = {found[key][1] for key in ("from", "to", "step") if key in found}
    if len(units) > 1:
        seen = " and ".join(repr(unit) for unit in sorted(units))
        raise ConfigError(f"{place}: seen the units {seen}; expected from, to and step in the same unit")
    return found


def _quantity(value: object, place: str) -> tuple[Decimal, str]:
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    number, unit = (Decimal(match[1]), match[2]) if match is not None else (Decimal("nan"), "")
    if isinstance(value, int | float) and not isinstance(value, bool):
        number = Decimal(repr(value))
    if number.is_finite() and (not number or _LEAST <= abs(number) <= _MOST):
        return number, unit
    raise ConfigError(
        f"{place}: seen {value!r}; expected a number, or one with its unit such as '80us', up to {_MOST:.0e}"
    )


def _said(value: Decimal, unit: str) -> int | float | str:
    if unit:
        return f"{value.normalize():f}{unit}"
    return int(value) if value == value.to_integral_value() else float(value)


def _range(raw: object, place: str) -> list[Any]:
    found = _bounds(raw, place, ("from", "to", "step"))
    (first, unit), (last, _) = found["from"], found["to"]
    step = found.get("step", (Decimal(1), unit))[0]
    if step == 0 or (last - first) * step < 0:
        raise ConfigError(f"{place}: seen from {first} to {last} by steps of {step}; expected at least one value")
    count = int((last - first) / step) + 1
    if count > MOST_VALUES:
        raise ConfigError(f"{place}: seen {count} values; expected at most {MOST_VALUES}")
    return [_said(first + step * number, unit) for number in range(count)]


def _log_range(raw: object, place: str) -> list[Any]:
    found = _bounds(raw, place, ("from", "to", "factor", "points"))
    (first, unit), (last, _) = found["from"], found["to"]
    if first <= 0 or last < first:
        raise ConfigError(f"{place}: seen from {first} to {last}; expected 0 < from <= to")
    if ("factor" in found) == ("points" in found):
        raise ConfigError(f"{place}: expected either factor or points")
    if "factor" in found:
        factor, of_factor = found["factor"]
        if of_factor or factor <= 1:
            raise ConfigError(f"{place}.factor: seen {factor}{of_factor}; expected a number above 1")
        if (last / first).ln() / factor.ln() > MOST_VALUES:
            raise ConfigError(f"{place}.factor: seen {factor}; expected at most {MOST_VALUES} values")
        values, at = [], first
        while at <= last:
            values.append(at)
            at *= factor
        return [_said(value, unit) for value in values]
    points, of_points = found["points"]
    if of_points or points != points.to_integral_value() or not 2 <= points <= MOST_VALUES:
        raise ConfigError(f"{place}.points: seen {points}{of_points}; expected a whole number from 2 to {MOST_VALUES}")
    whole = first == first.to_integral_value() and last == last.to_integral_value()
    steps = int(points) - 1
    exact = [float(first) * float(last / first) ** (number / steps) for number in range(steps + 1)]
    # Integer bounds have integer values between them: a depth of 2.8 is illegal.
    rounded = [Decimal(round(value)) if whole else Decimal(f"{value:.6g}") for value in exact]
    return [_said(value, unit) for value in dict.fromkeys([first, *rounded[1:-1], last])]


def _files(raw: object, place: str, folder: Path) -> list[str]:
    patterns = [raw] if isinstance(raw, str) else raw
    if not isinstance(patterns, list) or not patterns or not all(isinstance(each, str) and each for each in patterns):
        raise ConfigError(f"{place}: seen {raw!r}; expected a pattern of file names such as 'traces/*.csv', or a list")
    found: list[str] = []
    for pattern in patterns:
        names = sorted(glob.glob(pattern, root_dir=folder, recursive=True))  # noqa: PTH207 - names as they are written
        if not names:
            raise ConfigError(f"{place}: seen {pattern!r}; there is no such file in {folder}")
        found += names
    return found


def _zipped(raw: dict[str, Any], place: str, folder: Path) -> Axis:
    table = raw["zip"]
    if not isinstance(table, dict) or not table or "key" in raw or "name" in raw:
        raise ConfigError(
            f"{place}: axis.zip: seen {table!r}; expected a table of lists by their keys, and no key or name beside it"
        )
    flat = dict(flat_settings(table))
    for key, values in flat.items():
        _values(values, f"{place}: axis.zip.{key}")
    lengths = {key: len(values) for key, values in flat.items()}
    if len(set(lengths.values())) > 1:
        seen = ", ".join(f"{count} of {key}" for key, count in lengths.items())
        raise ConfigError(f"{place}: axis.zip: seen {seen}; expected lists of the same length")
    choices = [
        _choice(both, {column(key): value for key, value in both.items()}, f"{place}: axis.zip", folder)
        for both in (dict(zip(flat, each, strict=True)) for each in zip(*flat.values(), strict=True))
    ]
    return _axis(place, tuple(map(column, flat)), tuple(flat), choices)


def flat_settings(table: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """The leaves of a table with dotted keys: TOML reads an unquoted `a.b = 1` as a nested table."""
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        found += flat_settings(value, f"{before}{key}.") if isinstance(value, dict) else [(f"{before}{key}", value)]
    return found


def _named(raw: dict[str, Any], place: Callable[[str | None], str], at: str, folder: Path) -> Axis:
    table = raw["choices"]
    if "name" not in raw or "key" in raw:
        raise ConfigError(f"{at}: axis.choices: expected a name for the axis, and no key")
    name = _name(raw, place, "")
    if not isinstance(table, dict) or not table:
        raise ConfigError(
            f"{at}: axis.choices: seen {table!r}; expected tables of settings by the names of the choices"
        )
    choices: list[Choice] = []
    keys: dict[str, None] = {}
    for label, settings in table.items():
        if not isinstance(settings, dict):
            raise ConfigError(f"{at}: axis.choices.{label}: seen {settings!r}; expected a table of settings")
        flat = dict(flat_settings(settings))
        keys |= dict.fromkeys(flat)
        choices.append(_choice(flat, {name: label}, f"{at}: axis.choices.{label}", folder))
    return _axis(at, (name,), tuple(keys), choices)
