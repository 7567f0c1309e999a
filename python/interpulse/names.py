"""How something is found by its name, and what is said where there is nothing of that name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Protocol, TypeVar

from interpulse._core import ConfigError


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
    names = [entry.name for entry in entries]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? There are" if near else "there are"
    raise ConfigError(f"no {what} {name!r}: {hint} {', '.join(names)}")
