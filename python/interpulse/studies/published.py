"""Published figures of an experiment: strict reader of `experiments/NAME/expected.toml`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError
from interpulse.files.paths import read_text
from interpulse.files.structured_text import read_toml
from interpulse.studies import blind
from interpulse.studies.status import SILENT, WRITTEN, Status

FILE = "expected.toml"

_TOP = ("source", "row")
_ROW = ("name", "value", "low", "high", "unit", "figure", "axis-read", "note", "status", "why")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass(frozen=True)
class Published:
    """One row: what the paper says, and where."""

    name: str
    unit: str
    figure: str
    """The figure, page or slide."""
    status: Status
    """How our figure came to lie where it lies."""
    value: float | None = None
    """None where the paper prints no number."""
    axis_read: bool = False
    """Read off an axis, or derived from printed numbers."""
    note: str = ""
    low: float | None = None
    """The least that the paper's statement allows, where it can be said in figures."""
    high: float | None = None
    """The most."""
    why: str = ""
    """What makes it calibrated, assumed, ...; may be left out of blind and untuned rows."""

    @property
    def said(self) -> bool:
        """Whether the paper says anything that a figure can be held against."""
        return any(each is not None for each in (self.value, self.low, self.high))

    @property
    def number(self) -> float:
        """The value, where one is known to be printed."""
        assert self.value is not None, self.name
        return self.value


def marked(label: str, *rows: Published) -> str:
    """What a plot calls the published values of these rows: with what each is worth as evidence."""
    return f"{label} ({', '.join(sorted({row.status for row in rows}))})"


@dataclass(frozen=True)
class Expected:
    """The rows of one file, in its order."""

    source: str
    rows: dict[str, Published]

    @classmethod
    def load(cls, path: Path) -> Expected:
        """Reads the file.

        Args:
            path: where it lies.

        Raises:
            ConfigError: it cannot be read, or is not what it should be; the message names the file, row and key.
        """
        top = read_toml(read_text(path, "the published figures"), str(path))
        _known(top, _TOP, f"{path}")
        source = _text(top, "source", f"{path}")
        tables = top.get("row", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise ConfigError(f"{path}: row = {tables!r} is not an array of tables: write [[row]]")
        rows: dict[str, Published] = {}
        for number, table in enumerate(tables, start=1):
            row = _row(table, f"{path}: row {number}")
            if row.name in rows:
                raise ConfigError(f"{path}: row {number}: name = '{row.name}' is already the name of another row")
            rows[row.name] = row
        if not rows:
            raise ConfigError(f"{path}: there is no [[row]]")
        if any(row.status is Status.BLIND for row in rows.values()) and not blind.is_unchanged(path.parent):
            rows = {name: _no_longer_blind(row) for name, row in rows.items()}
        return cls(source, rows)


def _no_longer_blind(row: Published) -> Published:
    return replace(row, status=Status.FITTED, why=blind.CHANGED) if row.status is Status.BLIND else row


def _row(table: dict[str, Any], place: str) -> Published:
    name = _text(table, "name", place)
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{place}: name = '{name}': small letters, digits, '.', '_' and '-', a letter or digit first")
    place = f"{place} ({name})"
    _known(table, _ROW, place)
    value, low, high = (_number(table, key, place) for key in ("value", "low", "high"))
    if low is not None and high is not None and low > high:
        raise ConfigError(f"{place}: low = {low:g} is more than high = {high:g}")
    axis_read = table.get("axis-read", False)
    if not isinstance(axis_read, bool):
        raise ConfigError(f"{place}: axis-read = {axis_read!r} is not true or false")
    if axis_read and value is None:
        raise ConfigError(f"{place}: axis-read = true, but there is no value")
    note = _text(table, "note", place) if "note" in table else ""
    unit, figure = _text(table, "unit", place), _text(table, "figure", place)
    status = _status(table, place)
    why = _text(table, "why", place) if "why" in table else ""
    row = Published(name, unit, figure, status, value, axis_read, note, low, high, why)
    if row.said == (status is Status.OURS):
        raise ConfigError(f"{place}: status = '{status}' is for rows {_OURS[row.said]}")
    if not why and status not in SILENT:
        raise ConfigError(f"{place}: status = '{status}' needs a 'why' that says of what")
    return row


_OURS = {True: "that compare with no published figure, and here is one", False: "with a value or bounds: write 'ours'"}


def _status(table: dict[str, Any], place: str) -> Status:
    text = _text(table, "status", place)
    if text not in WRITTEN:
        raise ConfigError(f"{place}: status = '{text}' is not one of {', '.join(WRITTEN)}")
    return Status(text)


def _number(table: dict[str, Any], key: str, place: str) -> float | None:
    value = table.get(key)
    if value is not None and (
        isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value)
    ):
        raise ConfigError(f"{place}: {key} = {value!r} is not a number; leave it out where the paper prints none")
    return None if value is None else float(value)


def _known(table: dict[str, Any], keys: tuple[str, ...], place: str) -> None:
    for key in table:
        if key not in keys:
            raise ConfigError(f"{place}: unknown key '{key}'; one of {', '.join(keys)}")


def _text(table: dict[str, Any], key: str, place: str) -> str:
    if key not in table:
        raise ConfigError(f"{place}: there is no '{key}'")
    value = table[key]
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{place}: {key} = {value!r} is not text")
    return value
