"""What there is by name: the lists of the core; how one is found, and what is said where nothing has that name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from interpulse import _core
from interpulse._core import ConfigError


def listed() -> dict[str, list[dict[str, Any]]]:
    """What a configuration may name and a result may count, as the core declares it, by list: parts, keys, ..."""
    lists: dict[str, list[dict[str, Any]]] = json.loads(_core.lists())
    return lists


class Named(Protocol):
    """What has a name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


N = TypeVar("N", bound=Named)


def named(name: str, entries: Sequence[N], what: str) -> N:
    """The entry of this name.

    Raises:
        ConfigError: there is none; the message has the names that there are, a near one first.
    """
    for entry in entries:
        if entry.name == name:
            return entry
    import difflib

    names = [entry.name for entry in entries]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? There are" if near else "there are"
    raise ConfigError(f"no {what} {name!r}: {hint} {', '.join(names)}")
