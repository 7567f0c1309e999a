"""Outcome of a study: rows beside published figures, curves, plots, files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interpulse.runs.estimate import Estimate
from interpulse.studies.published import Expected, Published
from interpulse.studies.status import Status

if TYPE_CHECKING:
    from interpulse.plotting.plots import Plot


@dataclass(frozen=True)
class Row:
    """One figure: published, ours, and how far chance may have moved ours."""

    name: str
    figure: str
    unit: str
    published: float | None
    ours: float | None
    """None where nothing was there to measure."""
    ci_low: float | None = None
    ci_high: float | None = None
    low: float | None = None
    """The least that the paper's statement allows."""
    high: float | None = None
    """The most."""
    status: Status = Status.OURS
    """How ours came to lie where it lies."""
    why: str = ""
    """What makes it so."""
    every: bool | None = None
    """False if one of several seeds is outside the bounds and no seed is well within them."""

    @property
    def holds(self) -> bool | None:
        """Whether ours, or its interval where it has one, meets what the paper says; None where that is no bound.

        Of several seeds each has to: a mean of none and many is not within bounds because its interval is wide.
        """
        if self.every is not None:
            return self.every
        if self.ours is None or (self.low is None and self.high is None):
            return None
        least = self.ours if self.ci_low is None else self.ci_low
        most = self.ours if self.ci_high is None else self.ci_high
        return (self.low is None or most >= self.low) and (self.high is None or least <= self.high)

    @property
    def undecided(self) -> bool:
        """Whether the interval of ours has values within the bounds and values outside them."""
        if self.ci_low is None or self.ci_high is None or self.every is False:
            return False
        least, most = self.ci_low, self.ci_high
        below = self.low is not None and least < self.low <= most
        above = self.high is not None and least <= self.high < most
        return below or above

    @property
    def ratio(self) -> float | None:
        """Ours over published; None where there is nothing to divide by."""
        return self.ours / self.published if self.published and self.ours is not None else None

    def to_dict(self) -> dict[str, Any]:
        """The row as `--json` prints it."""
        return {key: getattr(self, key) for key in KEYS}


_FIGURES = ("published", "low", "high", "ours", "ratio", "ci_low", "ci_high", "holds", "undecided")
KEYS = ("name", "figure", "unit", *_FIGURES, "status", "why")
"""Fields of a row, in this order."""


class Rows:
    """The rows of a study as they are found; those of `expected.toml` first, in its order."""

    def __init__(self, expected: Expected) -> None:
        self._expected = expected
        self._found: dict[str, Row] = {}

    def expects(self, name: str) -> bool:
        """Whether `expected.toml` has a row of this name."""
        return name in self._expected.rows

    def add(
        self,
        name: str,
        ours: float | Estimate | Sequence[float] | None,
        *,
        unit: str | None = None,
        figure: str | None = None,
        beside: str | None = None,
        fitted: str = "",
    ) -> None:
        """Adds our figure.

        Args:
            name: a row of `expected.toml`, or a name of its own with `unit` and `figure`.
            ours: a number, an estimate, or the values of repetitions; None where nothing was there to measure.
            unit: the unit of a row that is not in `expected.toml`.
            figure: what such a row belongs to.
            beside: the row of `expected.toml` that a sensitivity is to be compared with; `figure` then says what was
                changed.
            fitted: what was in view when such a sensitivity was chosen; it is `fitted` then.

        Raises:
            ValueError: the name is taken, or nothing says the unit and the figure.
        """
        published = self._expected.rows.get(name if beside is None else beside)
        if published is None and (unit is None or figure is None):
            raise ValueError(f"row '{beside or name}' is not in expected.toml, and nothing says its unit and figure")
        if published is not None and (unit is not None or (figure is None) != (beside is None)):
            raise ValueError(f"row '{name}': expected.toml says the unit, and the figure unless it is a sensitivity")
        said = published or Published(name, unit or "", "", Status.OURS)
        status, why = said.status, said.why
        if beside is not None:
            status, why = (Status.FITTED, fitted) if fitted else (Status.SENSITIVITY, figure or "")
        cited = f"{said.figure} (read off or derived)" if said.axis_read else said.figure
        cited = "; ".join(part for part in (cited, figure) if part)
        mean, low, high = _estimate(ours)
        self.put(Row(name, cited, said.unit, said.value, mean, low, high, said.low, said.high, status, why))

    def add_own(self, name: str, ours: float | Estimate | Sequence[float], *, unit: str, figure: str) -> None:
        """Adds our figure, with this unit and figure where `expected.toml` has no row of the name."""
        if name in self._expected.rows:
            self.add(name, ours)
        else:
            self.add(name, ours, unit=unit, figure=figure)

    def put(self, row: Row) -> None:
        """Takes in a row as it is.

        Raises:
            ValueError: the name is taken.
        """
        if row.name in self._found:
            raise ValueError(f"the experiment gives row '{row.name}' twice")
        self._found[row.name] = row

    def missing(self) -> list[str]:
        """The rows of `expected.toml` that were not found."""
        return [name for name in self._expected.rows if name not in self._found]

    def published(self) -> list[Row]:
        """The rows that can be held against what the paper says, in the order of `expected.toml`."""
        return [self._found[name] for name, row in self._expected.rows.items() if row.said and name in self._found]

    def expected(self) -> list[Row]:
        """The rows that `expected.toml` has, in its order."""
        return [self._found[name] for name in self._expected.rows if name in self._found]

    def ordered(self) -> list[Row]:
        """All rows."""
        return self.expected() + [row for name, row in self._found.items() if name not in self._expected.rows]


def _estimate(ours: float | Estimate | Sequence[float] | None) -> tuple[float | None, float | None, float | None]:
    """A figure and its interval, as far as there are any."""
    if ours is None or isinstance(ours, int | float):
        return None if ours is None else float(ours), None, None
    mean = ours if isinstance(ours, Estimate) else Estimate.of(ours)
    return mean.value, mean.low, mean.high


@dataclass(frozen=True)
class Curve:
    """A table of numbers behind a plot: written as NAME.csv."""

    name: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Any]]

    @classmethod
    def of(cls, name: str, rows: Sequence[Mapping[str, Any]]) -> Curve:
        """The table of dictionaries with the same keys."""
        return cls(name, tuple(rows[0]), [tuple(row.values()) for row in rows])


@dataclass(frozen=True)
class Outcome:
    """Everything that a study hands back."""

    rows: Rows
    """Published figures beside ours."""
    calibrated: dict[str, Any] = field(default_factory=dict)
    """What was set so that a baseline of the paper comes out, and what that baseline is."""
    settings: dict[str, Any] = field(default_factory=dict)
    """What was asked: sizes, scheme, polling."""
    figures: dict[str, Any] = field(default_factory=dict)
    """What `--json` prints below names of its own, such as `grid`."""
    notes: list[str] = field(default_factory=list)
    """Lines for the reader below the table."""
    plots: list[Plot] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    files: list[tuple[str, bytes]] = field(default_factory=list)
    """Further files of `--out`: name and content."""
    each: list[dict[str, Any]] = field(default_factory=list)
    """What every seed came to, where there were several: `seed`, `ours` by row, `calibrated`, `figures`."""
