"""What a list of studies consists of, and how one is found in it."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from interpulse._core import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interpulse.studies.context import Context, Form
    from interpulse.studies.outcome import Outcome


@dataclass(frozen=True, kw_only=True)
class Entry(ABC):
    """One study; its code is loaded when it runs."""

    name: str
    summary: str
    source: str
    quick: str
    """How long `--quick` takes on two cores, as measured."""
    full: str
    """How long all of it takes on two cores, as measured."""
    module: str
    """The module whose function `run` takes a context and returns an `Outcome`."""

    FORM: ClassVar[Form]

    @property
    def title(self) -> str:
        """What messages and progress call it."""
        return self.name

    @abstractmethod
    def context(self, **how: Any) -> Context:  # noqa: ANN401 - as the context takes them
        """What it is given to run."""

    def run(self, context: Context) -> Outcome:
        """Runs it. Raises as `Context.run` does."""
        outcome: Outcome = import_module(self.module).run(context)
        return outcome


E = TypeVar("E", bound=Entry)


def named(name: str, entries: Sequence[E], what: str) -> E:
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
    raise ConfigError(f"no {what} '{name}': {hint} {', '.join(names)}")
