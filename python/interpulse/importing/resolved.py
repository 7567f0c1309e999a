"""Resolved configuration as values with units converted, for exports."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from interpulse._core import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from interpulse._core import Entry

_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9}
_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_BYTES |= {"kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_RATES = {"kT/s": 1e-3, "MT/s": 1.0, "GT/s": 1e3}
_ABSENT = "not set"


class Resolved:
    """Values of a resolved configuration; remembers which keys were read."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = {entry.key: entry for entry in entries}
        self.read: set[str] = set()

    def has(self, key: str) -> bool:
        """Whether the key applies and has a value."""
        return key in self._entries and self._entries[key].value != _ABSENT

    def text(self, key: str, default: str = "") -> str:
        """The value as `interpulse show` prints it."""
        self.read.add(key)
        return self._entries[key].value if self.has(key) else default

    def whole(self, key: str, default: int = 0) -> int:
        """A whole number."""
        return int(float(self.text(key, str(default))))

    def number(self, key: str, default: float = 0.0) -> float:
        """A number or a fraction."""
        text = self.text(key, str(default))
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)

    def ns(self, key: str, default: int = 0) -> int:
        """A duration in nanoseconds, rounded."""
        return round(self._quantity(key, f"{default}ns", _NS))

    def size(self, key: str, default: int = 0) -> int:
        """A size in bytes."""
        return round(self._quantity(key, f"{default}B", _BYTES))

    def mega_transfers(self, key: str) -> float:
        """A transfer rate in MT/s."""
        return self._quantity(key, "0MT/s", _RATES)

    def count(self, section: str) -> int:
        """Number of tables of an array of tables."""
        found = [re.match(rf"{section}\.(\d+)\.", key) for key in self._entries]
        return max((int(each[1]) + 1 for each in found if each), default=0)

    def left(self) -> list[tuple[str, str]]:
        """Keys and values that somebody set and nothing read."""
        given = [entry for entry in self._entries.values() if entry.origin != "default" and entry.value != _ABSENT]
        return [(entry.key, entry.value) for entry in given if entry.key not in self.read]

    def _quantity(self, key: str, default: str, units: dict[str, float] | dict[str, int]) -> float:
        text = self.text(key, default)
        found = re.fullmatch(r"(-?[0-9.eE+-]+?)\s*([a-zA-Z/]+)", text)
        if not found or found[2] not in units:
            raise ConfigError(f"{key}: seen {text!r}; expected a value with one of the units {', '.join(units)}")
        return float(found[1]) * units[found[2]]
