"""Registry of characterizations, one entry per kind."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from interpulse.characterize.tester import Tester
from interpulse.configuration.lists import named
from interpulse.studies.context import Context, Form
from interpulse.studies.outcome import Outcome
from interpulse.studies.registry import Entry

PUBLISHED = Path(__file__).parent / "published"
"""Folder of published figures, one file per kind."""


@dataclass(frozen=True, kw_only=True)
class Kind(Entry):
    """A kind of characterization."""

    preset: str = "a4-tlc"
    """Default preset of cells."""
    takes: tuple[str, ...] = ()
    """Command-line options of this kind, such as `scheme`."""

    PACKAGE: ClassVar = __package__
    FORM: ClassVar = Form("characterize", rows="published", jobs="jobs")

    @property
    def title(self) -> str:
        """Name in messages and progress."""
        return f"characterize {self.name}"

    def run(self, context: Context) -> Outcome:
        """Runs the kind; figures of a part file that were measured otherwise are notes of the outcome."""
        outcome = super().run(context)
        outcome.notes.extend(getattr(context, "changes", ()))
        return outcome

    def context(self, preset: str | None = None, **how: Any) -> Tester:  # noqa: ANN401 - as `Tester` takes them
        """The context of a run."""
        published = PUBLISHED / f"{self.name}.toml"
        return Tester(self.name, preset or self.preset, form=self.FORM, published=published, **how)


KINDS: tuple[Kind, ...] = (
    Kind(
        name="suspend",
        summary="program suspension at chosen delays: suspends, time to enter, program time, bit errors, current",
        source="Zambelli et al., Electronics 2021, Figures 3 to 9",
        quick="30 s",
        full="45 s",
        takes=("scheme", "poll", "compensation", "word_lines", "cells"),
    ),
    Kind(
        name="erase",
        summary="erase suspension: stress, over-erase, uncorrectable errors and lifetime under every design of ATC'19",
        source="Kim et al., ATC'19, problem 2",
        quick="9 s",
        full="7 s",
        takes=("word_lines", "cells"),
    ),
    Kind(
        name="retention",
        summary="bit errors against time, temperature, wear, reads and layer; how long data keeps; an error table",
        source="Cai et al., Proceedings of the IEEE 2017, Tables 4 and 5",
        quick="6 s",
        full="30 s",
        takes=("word_lines", "cells"),
    ),
    Kind(
        name="endurance",
        summary="program and erase times and bit errors against wear; the cycles that the ECC allows",
        source="Cho et al., AERO, ASPLOS 2024; Cai et al., Proceedings of the IEEE 2017, Table 4",
        quick="9 s",
        full="20 s",
        takes=("word_lines", "cells"),
    ),
    Kind(
        name="reprogram",
        summary="a TLC block reprogrammed in random order in one to four layers: page errors, voltages, an error table",
        source="Gao et al., MICRO 2019, Tables 2 and 3, Figures 5 and 6",
        quick="30 s",
        full="25 s",
        preset="b17a-tlc",
    ),
)


def find(name: str) -> Kind:
    """Finds a kind by name.

    Raises:
        ConfigError: unknown; the message lists the names, a similar one first.
    """
    return named(name, KINDS, "kind of characterization")
