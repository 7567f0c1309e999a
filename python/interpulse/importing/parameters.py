"""Declarations of parameters, and values read from a file by them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError
from interpulse.importing.kinds import Kind, ValueRefusedError, plain, seen

MOST_PROBLEMS = 12
"""Problems of one file that a message lists."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a program: its name, what is legal, and what becomes of it.

    Attributes:
        name: as the program reads it.
        kind: how its value is read.
        default: what the program takes when the file leaves it out; None if it has no default.
        keys: keys of our configuration that depend on it; () if it has no counterpart.
        text: the conversion in words, or the reason why there is no counterpart.
        also: other spellings, of documents and shipped files, which mean this parameter.
        write: converts the value for `keys[0]`; None if a rule of the simulator's own file does.
    """

    name: str
    kind: Kind
    default: Any = None
    keys: tuple[str, ...] = ()
    text: str = ""
    also: tuple[str, ...] = ()
    write: Callable[[Any], Any] | None = None


def declare(
    name: str,
    kind: Kind,
    default: Any = None,  # noqa: ANN401 - a value of the kind
    keys: str = "",
    text: str = "",
    *,
    also: str = "",
    write: Callable[[Any], Any] | None = None,
) -> Parameter:
    """A parameter whose keys and further spellings are given as one text with blanks between them."""
    return Parameter(name, kind, default, tuple(keys.split()), text, tuple(also.split()), write)


@dataclass(frozen=True)
class Seen:
    """Name and text that a file has for a parameter."""

    name: str
    text: str
    line: int


@dataclass
class Values:
    """Values of one section of a file."""

    section: str
    parameters: tuple[Parameter, ...]
    file: str
    line: int = 1
    found: dict[str, tuple[Any, Seen]] = field(default_factory=dict)
    """Value and source of the parameters that the file has, by their declared names."""
    unknown: list[Seen] = field(default_factory=list)
    ignored: list[tuple[Seen, str]] = field(default_factory=list)
    """Names that the program does not read, with what it does instead."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - a value of any kind
        if name in self.found:
            return self.found[name][0]
        return self.parameter(name).default

    def parameter(self, name: str) -> Parameter:
        """The declaration of a name."""
        return next(each for each in self.parameters if each.name == name)

    def given(self, name: str) -> bool:
        """Whether the file has this parameter."""
        return name in self.found

    def need(self, name: str) -> Any:  # noqa: ANN401 - a value of any kind
        """The value of a parameter that the program has no default for.

        Raises:
            ConfigError: the file does not have it.
        """
        if self[name] is None:
            legal = self.parameter(name).kind.legal
            raise ConfigError(f"{self.file}:{self.line}: {self.section}: {name}: not given; expected {legal}")
        return self[name]

    def place(self, name: str) -> str:
        """Where a value comes from: file, line and name, or the program's default."""
        if name in self.found:
            source = self.found[name][1]
            return f"{Path(self.file).name}:{source.line}, {source.name}"
        return f"{name}, default of the program"

    def refuse(self, name: str, expected: str) -> ConfigError:
        """The error about the value of a parameter."""
        value, line, shown = self[name], "", name
        if name in self.found:
            source = self.found[name][1]
            line, shown, value = f":{source.line}", source.name, source.text
        return ConfigError(f"{self.file}{line}: {shown}: seen {seen(plain(value))}; expected {expected}")

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters)


def read_values(
    section: str, parameters: Iterable[Parameter], pairs: Iterable[Seen], file: str, problems: list[str], line: int = 1
) -> Values:
    """Values of a section; adds what cannot be read to `problems`, so that all are reported at once."""
    values = Values(section, tuple(parameters), file, line)
    names = {name: each for each in values.parameters for name in (each.name, *each.also)}
    for pair in pairs:
        parameter = names.get(pair.name)
        if parameter is None:
            values.unknown.append(pair)
            continue
        if parameter.name in values.found:
            before = values.found[parameter.name][1]
            problems.append(
                f"{file}:{pair.line}: {pair.name}: seen twice, first as {before.name} in line {before.line}; "
                "expected it once"
            )
            continue
        try:
            value = parameter.kind.read(pair.text.strip())
        except ValueRefusedError as error:
            problems.append(f"{file}:{pair.line}: {pair.name}: seen {seen(pair.text.strip())}; expected {error}")
            continue
        values.found[parameter.name] = (value, pair)
    return values


def nearest(name: str, names: Iterable[str]) -> str:
    """The known name that is most like another one, or ""."""
    known = list(names)
    by_lower = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name[:200].lower(), by_lower, n=1, cutoff=0.7)
    return by_lower[close[0]] if close else ""


def raise_problems(problems: list[str]) -> None:
    """Raises one error with all problems of the files.

    Raises:
        ConfigError: there are problems.
    """
    if not problems:
        return
    lines = problems[:MOST_PROBLEMS]
    if len(problems) > MOST_PROBLEMS:
        lines.append(f"and {len(problems) - MOST_PROBLEMS} more")
    raise ConfigError("\n".join(lines))
