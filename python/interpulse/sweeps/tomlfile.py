"""TOML input files of sweeps, studies and fits, with line numbers for messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.configuration.values import toml, whole
from interpulse.files.paths import read_text, shown
from interpulse.files.structured_text import read_toml
from interpulse.sweeps.axes import flat_settings
from interpulse.sweeps.expression import Expression

_HEADER = re.compile(r"^\s*\[\[?\s*([A-Za-z0-9_.\"-]+)\s*\]\]?\s*(#.*)?$")

T = TypeVar("T")

VERSION = 1

RESERVED = ("point", "repetition", "seed", "status", "error", "key", "feasible")
"""Columns of every dataset."""


@dataclass(frozen=True)
class TomlFile:
    """A TOML file, or a dictionary with the same keys.

    Errors are ConfigErrors with the line, the value and the legal values.

    Attributes:
        raw: the parsed content.
        text: the source text.
        path: the path of the file.
        folder: the folder to which file names are relative.
    """

    raw: Mapping[str, Any]
    text: str
    path: str
    folder: Path

    @classmethod
    def read(cls, text: str, path: str, folder: Path, keys: Sequence[str]) -> TomlFile:
        """Parses a text with these legal keys, the first of which is the version."""
        raw = read_toml(text, shown(path))
        file = cls(raw, text, path, folder)
        for key in raw:
            if key not in keys:
                place = file.place(None, key) if isinstance(raw[key], dict | list) else file.place(key)
                raise ConfigError(f"{place}: unknown key {key}; expected one of {', '.join(keys)}")
        if raw.get(keys[0], VERSION) != VERSION:
            raise ConfigError(f"{file.place(keys[0])}: {keys[0]}: seen {raw[keys[0]]!r}; expected {VERSION}")
        return file

    @property
    def name(self) -> str:
        """Name in messages."""
        return shown(self.path)

    def place(self, key: str | None, table: str = "", number: int = 0) -> str:
        """File and line of a key in the `number`-th table of this name; of the table's heading if the key is absent."""
        return f"{self.name}:{line_of(self.text, table, number, key)}"

    def at(self, table: str, number: int) -> Callable[[str | None], str]:
        """A function that returns the place of a key of one table."""
        return lambda key: self.place(key, table, number)

    def number(self, key: str, default: int | None, what: str, least: int, limit: int) -> int:
        """An integer from `least` up to, excluding, `limit`."""
        return whole(f"{self.place(key)}: {key}", self.raw.get(key, default), what, least, limit)

    def words(self, key: str) -> str:
        """A text; empty if absent."""
        found = self.raw.get(key, "")
        if not isinstance(found, str):
            raise ConfigError(f"{self.place(key)}: {key}: seen {found!r}; expected a text")
        return found

    def table(self, name: str) -> Mapping[str, Any]:
        """A table; empty if absent."""
        table = self.raw.get(name, {})
        if not isinstance(table, dict):
            raise ConfigError(f"{self.place(name)}: {name}: seen {table!r}; expected a table")
        return table

    def tables(self, name: str, such: str) -> list[dict[str, Any]]:
        """All tables of a name, at least one; messages show the example `such`."""
        listed = self.raw.get(name, [])
        if not isinstance(listed, list) or not listed or not all(isinstance(each, dict) for each in listed):
            seen = repr(listed) if listed else "none"
            raise ConfigError(f"{self.name}: {name}: seen {seen}; expected at least one [[{name}]], such as one {such}")
        return listed

    def settings(self) -> list[tuple[str, Any]]:
        """The overrides of `[set]`."""
        return flat_settings(self.table("set"))

    def config(self) -> Config:
        """The configuration that it has in it or names."""
        given = self.raw.get("config")
        if isinstance(given, dict) and given:
            return Config(toml(given), path=str((self.folder / Path(self.path).name).absolute()))
        at = f"{self.place('config')}: config"
        if not isinstance(given, str) or not given.strip():
            raise ConfigError(f"{at}: seen {given!r}; expected the path of a configuration, beside this file")
        try:
            return Config.load(self.folder / given)
        except ConfigError as error:
            raise ConfigError(f"{at}: {error}") from None

    def expressions(self, table: str) -> dict[str, Expression]:
        """The expressions of a table, by name."""
        return {key: Expression.read(value, at) for key, value, at in self._named(table)}

    def paths(self) -> dict[str, str]:
        """The paths in a result of `[columns]`, by name."""
        found = {}
        for key, value, at in self._named("columns"):
            if not isinstance(value, str) or not value.strip("."):
                raise ConfigError(f"{at}: seen {value!r}; expected a path in a result, such as counters.ftl.erases")
            found[key] = value
        return found

    def _named(self, table: str) -> Iterator[tuple[str, Any, str]]:
        """Entries of a table of columns: names, values, and the start of messages."""
        for key, value in self.table(table).items():
            at = f"{self.place(key, table)}: {table}.{key}"
            if not key.isidentifier() or key in RESERVED:
                raise ConfigError(f"{at}: seen this name; expected letters, digits and underscores, none of {RESERVED}")
            yield key, value, at


def read_given(given: object, what: str, read: Callable[[str, str, Path], T]) -> T:
    """Reads a path or a dictionary by a function of text, path and folder; `what` names the kind of file.

    Raises:
        ConfigError: neither, or unreadable.
    """
    if isinstance(given, Mapping):
        return read(toml(given), "<dict>", Path())
    if isinstance(given, str | PathLike):
        return read(read_text(given, f"the {what}"), str(given), Path(given).parent)
    kind = type(given).__name__
    raise ConfigError(f"a {what} is the path of a TOML file or a dictionary; seen {kind}: {given!r}")


def line_of(text: str, table: str, number: int = 0, key: str | None = None) -> int:
    """The line, from 1, of a key in the `number`-th table of this name, else of the heading, else 1.

    Keys above the first table belong to the table `""`. For messages: tomllib does not report positions.
    """
    seen, inside, found = -1, not table, 1
    for at, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header is not None:
            seen += header[1] == table
            inside = header[1] == table and seen == number
            if inside:
                found = at
        elif inside and key is not None and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line):
            return at
    return found
