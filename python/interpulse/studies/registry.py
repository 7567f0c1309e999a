"""Registry entry of a study."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

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

    PACKAGE: ClassVar[str]
    """Where the modules of the studies are."""
    FORM: ClassVar[Form]

    @property
    def module(self) -> str:
        """The module whose function `run` takes a context and returns an `Outcome`: it is called as the study is."""
        return f"{self.PACKAGE}.{self.name.replace('-', '_')}"

    @property
    def title(self) -> str:
        """What messages and progress call it."""
        return self.name

    @abstractmethod
    def context(self, **how: Any) -> Context:  # noqa: ANN401 - as the context takes them
        """The context of a run."""

    def run(self, context: Context) -> Outcome:
        """Runs it. Raises as `Context.run` does."""
        outcome: Outcome = import_module(self.module).run(context)
        return outcome
