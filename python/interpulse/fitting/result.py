"""Result of a fit: parameters with their uncertainty, and simulated beside known figures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interpulse.fitting.parameters import Continuous, Parameter
from interpulse.fitting.targets import Load, Target
from interpulse.sweeps.axes import Sets

FIT_FILE, DRIVE_FILE = "fit.json", "drive.toml"
"""Names of the result and of the drive in the folder of a fit."""

COMPLETE, SEARCHING, EXPLORATION, UNDER_WAY = "", "the search", "the exploration of drives that fit as well", "-"
"""What the budget ended: nothing, or a phase; or the fit is under way."""

ENDS = {COMPLETE: "complete", SEARCHING: "search", EXPLORATION: "exploration", UNDER_WAY: "under way"}
"""What ended the fit, in JSON."""

UNMET = 3.0
"""Largest deviation of a matched figure, in tolerances."""


def open_because(ended: str) -> str:
    """Why nothing is determined where a fit is not complete."""
    return "the search is under way" if ended == UNDER_WAY else f"the budget ended {ended}"


@dataclass(frozen=True)
class Chosen:
    """A fitted parameter.

    Attributes:
        value: value in the basic unit, or the index of a choice.
        within: half width of the 95 % interval as a share of the value, a lower bound if undetermined; None for a
            choice.
        determined: whether the figures determine it.
        why: the reason for an undetermined parameter.
        bound: the bound at which the value lies, if any.
        sets: the resulting settings.
    """

    parameter: Parameter
    value: float
    within: float | None
    determined: bool
    why: str
    bound: str
    sets: Sets

    @property
    def text(self) -> str:
        """Text of the value with its unit."""
        if isinstance(self.parameter, Continuous):
            return self.parameter.said(self.value)
        return self.parameter.said(int(self.value))

    @property
    def known(self) -> str:
        """Text of the uncertainty."""
        sure = "determined" if self.within is None else f"within {100 * self.within:.1f} %"
        if not self.determined:
            sure = f"not determined: {self.why}"
        return f"{sure}; {self.bound}" if self.bound else sure

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        bounds = {}
        if isinstance(self.parameter, Continuous):
            each = self.parameter
            bounds = {"unit": {"a duration": "ns", "a size": "B"}.get(each.kind, ""), "from": each.low, "to": each.high,
                      "prior": each.prior, "bounds": each.origin}  # fmt: skip
        return {
            "name": self.parameter.name,
            "value": self.value if bounds else int(self.value),
            "text": self.text,
            **bounds,
            "within": self.within,
            "determined": self.determined,
            "why": self.why,
            "bound": self.bound,
            "set": [f"{key}={value}" for key, value in self.sets],
        }


@dataclass(frozen=True)
class Figure:
    """A known figure beside the simulated one.

    Attributes:
        simulated: the mean over seeds; None if a simulation failed or no such request completed.
        interval: the 95 % interval; None for fewer than two seeds.
        tolerance: tolerance of the file plus the variation between seeds, as a share.
        few: whether it is a percentile of too few requests.
        steady: whether no window was unsteady.
        limited_by: what bounds the throughput of the load, in words; empty if unknown.
        hint: a setting that may remove this bound; empty if none is known.
    """

    load: Load
    target: Target
    simulated: float | None
    interval: tuple[float, float] | None
    tolerance: float
    few: bool
    steady: bool
    limited_by: str = ""
    hint: str = ""

    @property
    def ratio(self) -> float | None:
        """Ratio of simulated to known."""
        return None if self.simulated is None else self.simulated / self.target.value

    @property
    def met(self) -> bool:
        """Whether the deviation is within the tolerances."""
        return self.ratio is not None and abs(math.log(self.ratio)) <= UNMET * self.tolerance

    def to_dict(self) -> dict[str, Any]:
        """As JSON, in basic units: requests or bytes per second, or nanoseconds."""
        return {
            "load": self.load.name,
            "figure": self.target.figure,
            "known": self.target.value,
            "source": self.target.source,
            "tolerance": self.tolerance,
            "held_out": self.target.held_out,
            "simulated": self.simulated,
            "interval": None if self.interval is None else list(self.interval),
            "ratio": self.ratio,
            "met": self.met,
            "few": self.few,
            "steady": self.steady,
            "limited_by": self.limited_by,
            "hint": self.hint,
        }


@dataclass
class Fit:
    """Result of a fit.

    Attributes:
        title: title of the file.
        parameters: all free parameters, in order.
        figures: all known figures, in order; held-out figures are predictions.
        drive: the drive as a configuration, TOML.
        seeds: number of seeds of the means.
        points: number of tried sets of parameters.
        simulated: simulations that this call ran.
        kept: simulations from earlier calls.
        path: the drive file.
        ended: what the budget ended, see `ENDS`.
        sources: loads of measurements, with the figures that were read and those that were not.
    """

    title: str
    parameters: list[Chosen]
    figures: list[Figure]
    drive: str
    seeds: int
    points: int = 0
    simulated: int = 0
    kept: int = 0
    path: Path | None = None
    notes: list[str] = field(default_factory=list)
    ended: str = COMPLETE
    sources: list[Load] = field(default_factory=list)

    @property
    def used(self) -> list[Figure]:
        """Figures used for fitting."""
        return [each for each in self.figures if not each.target.held_out]

    @property
    def held_out(self) -> list[Figure]:
        """Held-out figures."""
        return [each for each in self.figures if each.target.held_out]

    @property
    def unmet(self) -> list[Figure]:
        """Fitted figures that no drive within the bounds matches."""
        return [each for each in self.used if not each.met]

    def value(self, name: str) -> float:
        """The value of a parameter in its basic unit, or the index of a choice.

        Raises:
            KeyError: no such parameter.
        """
        for each in self.parameters:
            if each.parameter.name == name:
                return each.value
        raise KeyError(f"{name}: expected one of {', '.join(each.parameter.name for each in self.parameters)}")

    def off(self, figures: list[Figure]) -> float | None:
        """Root mean square of the logarithms of ratios; None without figures."""
        logs = [math.log(each.ratio) for each in figures if each.ratio is not None]
        return math.expm1(math.sqrt(sum(log * log for log in logs) / len(logs))) if logs else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "title": self.title,
            "parameters": [each.to_dict() for each in self.parameters],
            "figures": [each.to_dict() for each in self.figures],
            "off": {"used": self.off(self.used), "held_out": self.off(self.held_out)},
            "unmet": [f"{each.load.name}: {each.target.figure}" for each in self.unmet],
            "seeds": self.seeds,
            "points": self.points,
            "simulated": self.simulated,
            "kept": self.kept,
            "ended": ENDS[self.ended],
            "notes": self.notes,
            "read": [
                {
                    "load": load.name,
                    "used": [target.figure for target in load.targets],
                    "unused": [{"figure": each.figure, "why": each.why} for each in load.unused],
                }
                for load in self.sources
            ],
            "drive": self.drive,
        }

    def __repr__(self) -> str:
        lines = [f"{each.parameter.name} = {each.text} ({each.known})" for each in self.parameters]
        for name, figures in (("figures", self.used), ("held out", self.held_out)):
            if figures:
                lines.append(f"{name}: {len(figures)}, typically off by {100 * (self.off(figures) or 0):.1f} %")
        return "\n".join(lines)
