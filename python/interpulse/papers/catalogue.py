"""Catalogue of the papers: their studies and the figures without a row (`papers.toml`)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interpulse.characterize.registry import find as find_kind
from interpulse.configuration.lists import named
from interpulse.experiments.registry import find as find_experiment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interpulse.studies.registry import Entry

FILE = Path(__file__).parent / "papers.toml"


@dataclass(frozen=True)
class Missing:
    """What a paper prints and no row covers."""

    figure: str
    why: str


@dataclass(frozen=True)
class Paper:
    """One paper."""

    name: str
    title: str
    studies: tuple[Entry, ...]
    missing: tuple[Missing, ...]
    repeats: frozenset[str]
    """Rows of its studies that are no printed figure of their own: the same once more, or of another publication."""


def papers(file: Path | None = None) -> tuple[Paper, ...]:
    """All papers, in the order of the file, which belongs to the package.

    Raises:
        ConfigError: it names a study that there is not.
        KeyError, TypeError: it lacks a key, or has one that nothing reads.
    """
    tables = tomllib.loads((file or FILE).read_text(encoding="utf-8"))["paper"]
    return tuple(_paper(**table) for table in tables)


def find(name: str, known: tuple[Paper, ...]) -> Paper:
    """The paper of this name.

    Raises:
        ConfigError: there is none; the message has the names that there are, a near one first.
    """
    return named(name, known, "paper")


def _paper(
    name: str,
    title: str,
    experiments: list[str],
    characterizations: Sequence[str] = (),
    repeats: Sequence[dict[str, Any]] = (),
    missing: Sequence[dict[str, str]] = (),
) -> Paper:
    studies = (*map(find_experiment, experiments), *map(find_kind, characterizations))
    rows = frozenset(row for each in repeats for row in each["rows"])
    return Paper(name, title, studies, tuple(Missing(**each) for each in missing), rows)
