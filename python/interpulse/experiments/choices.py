"""Check of untuned rows: each choice that a paper does not print, made another way, must leave them where they are.

`choices.toml` in the folder of an experiment has the choices: a name, overrides and the reason.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError
from interpulse.files.paths import read_text
from interpulse.studies.status import Status
from interpulse.studies.verdict import Agreement, agreement

if TYPE_CHECKING:
    from interpulse.configuration.values import Value
    from interpulse.studies.outcome import Outcome, Row

FILE = "choices.toml"

TOLERANCE = 0.1
"""Share of the default's figure by which an untuned row may move: the width of `within 10 %`."""


@dataclass(frozen=True)
class Choice:
    """A choice that the paper does not print, made in another way that it allows."""

    name: str
    sets: dict[str, Value]
    why: str


@dataclass(frozen=True)
class Move:
    """An untuned row that another choice moves beyond the tolerance."""

    row: str
    choice: Choice
    default: Row
    moved: Row

    def __str__(self) -> str:
        """The move as one line."""
        before, after = (f"{row.ours:.4g} ({agreement(row)})" for row in (self.default, self.moved))
        return f"{self.row}: {before} -> {after} {self.default.unit} with {self.choice.name}: {self.choice.why}"


def choices(path: Path) -> list[Choice]:
    """The choices of a file.

    Raises:
        ConfigError: the file cannot be read, or a choice has an unknown or missing key.
    """
    try:
        tables = tomllib.loads(read_text(path, "the choices that the paper does not print")).get("choice", [])
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None
    found = []
    for number, table in enumerate(tables, start=1):
        if set(table) != {"name", "set", "why"} or not isinstance(table["set"], dict) or not table["set"]:
            raise ConfigError(
                f"{path}: choice {number}: exactly 'name', 'set' (a table of overrides) and 'why' are legal"
            )
        found.append(Choice(table["name"], table["set"], table["why"]))
    return found


def moves(of: list[Choice], run: Callable[[dict[str, Any]], Outcome]) -> Iterator[Move]:
    """The untuned rows that a choice moves beyond the tolerance, or across a bound of their statement.

    Args:
        of: the choices, each tried alone.
        run: runs the experiment with overrides and returns its outcome.
    """
    default = _untuned(run({}))
    for choice in of:
        for name, row in _untuned(run(choice.sets)).items():
            if _moved(default[name], row):
                yield Move(name, choice, default[name], row)


def _untuned(outcome: Outcome) -> dict[str, Row]:
    return {row.name: row for row in outcome.rows.published() if row.status is Status.UNTUNED}


def _moved(default: Row, other: Row) -> bool:
    judged = agreement(default), agreement(other)
    if Agreement.NONE in judged or default.ours is None or other.ours is None:
        return judged[0] != judged[1]
    if default.low is not None or default.high is not None:
        return judged[0] != judged[1]
    return abs(other.ours - default.ours) > TOLERANCE * abs(default.ours)
