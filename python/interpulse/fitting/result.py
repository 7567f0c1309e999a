"""Result of a fit: parameters with their uncertainty, and simulated beside known figures."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interpulse.fitting.parameters import Continuous, Parameter
from interpulse.fitting.targets import Load, Target
from interpulse.sweeps.axes import Sets

UNMET = 3.0
"""A figure that is off by more than so many tolerances is not met."""


@dataclass(frozen=True)
class Chosen:
    """A parameter with its value.

    Attributes:
        value: in its basic unit, or the number of a choice.
        within: half of its 95 % interval as a share of it, at least that where it is not determined; None for a choice.
        determined: whether the figures determine it.
        why: if not, why not.
        bound: at which bound it lies, if at any.
        sets: the settings that it comes to.
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
        """The value with its unit."""
        if isinstance(self.parameter, Continuous):
            return self.parameter.said(self.value)
        return self.parameter.said(int(self.value))

    @property
    def known(self) -> str:
        """How well it is known."""
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
    """A figure that is known, and what the drive does.

    Attributes:
        simulated: the mean over seeds, None where a simulation failed or no such request completed.
        interval: its 95 % interval, None of fewer than two seeds.
        tolerance: that of the file, and what seeds differ by, as a share.
        few: whether it is a percentile that rests on too few requests.
        steady: whether all windows that it comes from were steady, as far as they tell.
    """

    load: Load
    target: Target
    simulated: float | None
    interval: tuple[float, float] | None
    tolerance: float
    few: bool
    steady: bool

    @property
    def ratio(self) -> float | None:
        """Simulated to known."""
        return None if self.simulated is None else self.simulated / self.target.value

    @property
    def met(self) -> bool:
        """Whether it is off by no more than tolerances allow."""
        return self.ratio is not None and abs(math.log(self.ratio)) <= UNMET * self.tolerance

    def to_dict(self) -> dict[str, Any]:
        """As JSON, in the basic unit of the figure: requests or bytes a second, or nanoseconds."""
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
        }


@dataclass
class Fit:
    """The model of a drive.

    Attributes:
        title: of the file.
        parameters: every one that was free, in order.
        figures: every one that is known, in order; those held out are predictions.
        drive: the drive as a configuration, TOML.
        seeds: that the figures are means over.
        points: sets of parameters that were tried.
        simulated: simulations that were run for this call.
        kept: simulations that had been run before.
        path: the file of the drive.
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

    @property
    def used(self) -> list[Figure]:
        """Figures that parameters were chosen by."""
        return [each for each in self.figures if not each.target.held_out]

    @property
    def held_out(self) -> list[Figure]:
        """Figures that are predicted."""
        return [each for each in self.figures if each.target.held_out]

    @property
    def unmet(self) -> list[Figure]:
        """Figures that parameters were chosen by and that no drive within the bounds was found to have."""
        return [each for each in self.used if not each.met]

    def value(self, name: str) -> float:
        """The value of a parameter in its basic unit, or the number of a choice.

        Raises:
            KeyError: there is no such parameter.
        """
        for each in self.parameters:
            if each.parameter.name == name:
                return each.value
        raise KeyError(f"{name}: expected one of {', '.join(each.parameter.name for each in self.parameters)}")

    def off(self, figures: list[Figure]) -> float | None:
        """The typical deviation of figures: the root of the mean square of logarithms of ratios; None of none."""
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
            "notes": self.notes,
            "drive": self.drive,
        }

    def __repr__(self) -> str:
        lines = [f"{each.parameter.name} = {each.text} ({each.known})" for each in self.parameters]
        for name, figures in (("figures", self.used), ("held out", self.held_out)):
            if figures:
                lines.append(f"{name}: {len(figures)}, typically off by {100 * (self.off(figures) or 0):.1f} %")
        return "\n".join(lines)
