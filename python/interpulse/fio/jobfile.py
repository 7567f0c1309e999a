"""Reader of fio's job files: sections, includes, variables; options with the places where they were set."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from interpulse._core import ConfigError
from interpulse.files.paths import read_text, shown
from interpulse.fio.options import first_names, table

MOST_INCLUDES = 16
"""Limit of nested includes, as fio's."""

KEYWORDS = ("$pagesize", "$mb_memory", "$ncpus")
"""Words that fio replaces by properties of the host."""

_LONGEST_NAME = 54
"""Of a job: a flow has 60 characters, of which the number of a clone takes some."""
_VARIABLE = re.compile(r"\$\{([^}]*)\}")


@dataclass(frozen=True)
class Given:
    """An option as it was given.

    Attributes:
        name: first name of the option.
        spelling: its name in the file.
        value: text without comments; `None` for an option without a value.
        place: file and line.
    """

    name: str
    spelling: str
    value: str | None
    place: str

    @property
    def seen(self) -> str:
        """The option as messages show it."""
        return self.spelling if self.value is None else f"{self.spelling}={self.value:.80}"

    def wrong(self, expected: str) -> ConfigError:
        """The error for a value that cannot be used."""
        seen = "no value" if self.value is None else repr(self.value)[:80]
        return ConfigError(f"{self.place}: {self.spelling}: seen {seen}; expected {expected}")

    def refused(self, why: str) -> ConfigError:
        """The error for an option that has no counterpart."""
        return ConfigError(f"{self.place}: {self.seen}: not supported: {why}")


@dataclass
class Section:
    """A job with its options, those of `[global]` sections before it included.

    Attributes:
        name: of the job.
        place: file and line of its heading.
        options: by first name; a later one replaces an earlier one.
        inherited: those of `[global]` alone.
    """

    name: str
    place: str
    options: dict[str, Given] = field(default_factory=dict)
    inherited: Mapping[str, Given] = field(default_factory=dict)


def read_job_file(path: Path) -> list[Section]:
    """The jobs of a file, in order.

    Raises:
        ConfigError: the file or one that it includes cannot be read, or a line is no section and no option of fio.
    """
    jobs: list[Section] = []
    everywhere: dict[str, Given] = {}
    current: Section | None = None
    began = False
    for place, line in _lines(path, 0):
        if line.startswith("["):
            name = _heading(line, place)
            began = True
            if name == "global":
                current = None
            else:
                current = Section(name, place, dict(everywhere), dict(everywhere))
                jobs.append(current)
            continue
        if not began:
            raise ConfigError(
                f"{place}: seen {line!r:.80}; expected a section such as [global] or [job] before options"
            )
        given = _option(line, place)
        if given.name == "name" and current is not None and given.value:
            current.name = given.value
        (everywhere if current is None else current.options)[given.name] = given
    if not jobs:
        raise ConfigError(f"{shown(path)}: seen no job; expected a section [name] beside [global]")
    return jobs


def _lines(path: Path, depth: int) -> list[tuple[str, str]]:
    """Lines with their places, included files in place; without comments and blank lines."""
    found: list[tuple[str, str]] = []
    what = "the job file" if depth == 0 else "the included job file"
    for number, raw in enumerate(read_text(path, what).splitlines(), start=1):
        place = f"{shown(path)}:{number}"
        line = re.split(r"[;#]", raw.lstrip("\ufeff") if number == 1 else raw, maxsplit=1)[0].strip()
        if not line:
            continue
        if "\0" in line:
            raise ConfigError(f"{place}: seen a zero byte; expected text")
        word, _, rest = line.partition(" ")
        if word != "include" or "=" in word:
            if depth and line.startswith("["):
                raise ConfigError(f"{place}: seen {line!r:.80}; an included file may contain options, not sections")
            found.append((place, line))
            continue
        name = rest.strip()
        if not name:
            raise ConfigError(f"{place}: include: seen no name; expected include FILE")
        if depth == MOST_INCLUDES:
            raise ConfigError(f"{place}: include {name}: seen {MOST_INCLUDES} nested includes; expected fewer")
        other = path.parent / name
        if not other.exists():
            raise ConfigError(f"{place}: include {name}: there is no file {shown(other)}")
        found += _lines(other, depth + 1)
    return found


def _heading(line: str, place: str) -> str:
    if not line.endswith("]") or not line[1:-1].strip():
        raise ConfigError(f"{place}: seen {line!r:.80}; expected a section such as [job]")
    name = line[1:-1].strip()
    if len(name) > _LONGEST_NAME or not name.isprintable():
        raise ConfigError(
            f"{place}: seen {line!r:.80}; expected a name of at most {_LONGEST_NAME} characters, no control characters"
        )
    return name


def _option(line: str, place: str) -> Given:
    spelling, equals, text = line.partition("=")
    spelling = spelling.strip()
    name = first_names().get(spelling)
    if name is None:
        near = difflib.get_close_matches(spelling.lower(), first_names(), 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ConfigError(f"{place}: seen {spelling!r:.60}; expected an option of fio 3.33 for drives{hint}")
    if not equals:
        if table()[name].kind not in ("flag", "name"):
            raise ConfigError(f"{place}: {spelling}: seen no value; expected {spelling}={table()[name].kind}")
        return Given(name, spelling, None, place)
    if text[:1].isspace() and not text.strip().isdigit():
        raise ConfigError(
            f"{place}: {spelling}: seen a blank after =, with which fio reads no word and no suffix; expected "
            f"{spelling}={text.strip():.60}"
        )
    text = text.strip()
    value = _VARIABLE.sub(lambda match: os.environ.get(match[1], ""), text)
    for keyword in KEYWORDS:
        if keyword in value:
            raise ConfigError(f"{place}: {spelling}: seen {keyword}, a property of the host; expected its value")
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    if not value:
        empty = f"seen no value after {text}" if text else "seen no value"
        raise ConfigError(f"{place}: {spelling}: {empty}; expected {spelling}={table()[name].kind}")
    return Given(name, spelling, value, place)
