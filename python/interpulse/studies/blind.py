"""Blind set-ups: hash of the set-up of a study, recorded before its published figures were looked up."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interpulse._core import ConfigError
from interpulse.files.paths import read_text
from interpulse.files.structured_text import read_toml

if TYPE_CHECKING:
    from pathlib import Path

FILE = "blind.toml"
SETUP = ("setup.toml", "measures.toml")
"""Files of a set-up: the drive with its load, and the cases and figures."""

TABLE = "table.toml"
"""Error table of a set-up, if it has one of its own."""

CHANGED = "The set-up was changed after its hash was recorded, with the published figures in view."
"""Reason of a row that was blind."""

_KEYS = ("setup-sha256", "read-before")


@dataclass(frozen=True)
class Record:
    """What was recorded of a set-up."""

    setup_sha256: str
    read_before: str
    """Published figures that its author had read."""

    @classmethod
    def load(cls, folder: Path) -> Record:
        """Reads the record of a set-up.

        Raises:
            ConfigError: there is none, or it is not what it should be.
        """
        path = folder / FILE
        table = read_toml(read_text(path, "the recorded hash of a blind set-up"), str(path))
        for key in table:
            if key not in _KEYS:
                raise ConfigError(f"{path}: unknown key '{key}'; one of {', '.join(_KEYS)}")
        for key in _KEYS:
            if not isinstance(table.get(key), str) or not table[key].strip():
                raise ConfigError(f"{path}: {key} = {table.get(key)!r} is not text")
        return cls(table["setup-sha256"], table["read-before"])


def files(folder: Path) -> tuple[str, ...]:
    """Names of the files of a set-up."""
    return (*SETUP, TABLE) if (folder / TABLE).is_file() else SETUP


def setup_sha256(folder: Path) -> str:
    """The hash of the set-up as it is now: of its files, one after the other."""
    texts = (read_text(folder / name, "a blind set-up") for name in files(folder))
    return hashlib.sha256("".join(texts).encode()).hexdigest()


def is_unchanged(folder: Path) -> bool:
    """Whether the set-up is the recorded one. Raises ConfigError where one of the files cannot be read."""
    return setup_sha256(folder) == Record.load(folder).setup_sha256
