"""Lists of the core (parts, schemes, keys, counters) and look-up by name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import interpulse._core as _core
from interpulse._core import ConfigError


def listed() -> dict[str, list[dict[str, Any]]]:
    """The lists of the core by name: parts, schemes, keys, counters, ..."""
    lists: dict[str, list[dict[str, Any]]] = json.loads(_core.lists())
    return lists


class Named(Protocol):
    """An entry with a name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


N = TypeVar("N", bound=Named)


def named(name: str, entries: Sequence[N], what: str) -> N:
    """The entry of this name.

    Raises:
        ConfigError: there is none; the message lists all names, the closest first.
    """
    for entry in entries:
        if entry.name == name:
            return entry
    import difflib

    names = [entry.name for entry in entries]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? There are" if near else "there are"
    raise ConfigError(f"no {what} {name!r}: {hint} {', '.join(names)}")
