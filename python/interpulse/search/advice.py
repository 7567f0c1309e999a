"""Result of a scheme search: the tried suspension schemes and the advice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interpulse.search.candidates import OPERATIONS, Candidate, Way
from interpulse.search.cost import Cost, Ratio
from interpulse.search.judge import Judgement, State
from interpulse.search.limits import AnyLimit


@dataclass
class Option:
    """A candidate and what is known of it.

    Attributes:
        candidate: what it sets.
        judgements: by case; of one seed where it was only screened.
        cost: the largest of all cases.
        seeds: with how many it was run.
        error: why it cannot be used, where it cannot.
    """

    candidate: Candidate
    judgements: dict[str, Judgement] = field(default_factory=dict)
    cost: Cost | None = None
    seeds: int = 0
    error: str = ""
    counted: tuple[str, ...] = OPERATIONS
    """The operations whose suspensions are a cost: of a way beside an ideal one, its own."""
    same: list[str] = field(default_factory=list)
    """Others that came to the same figures to the last digit, by which they are not told apart here."""
    raws: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """Of all limits in all cases."""
        states = {each.state for each in self.judgements.values()}
        if self.error or State.MISSES in states:
            return State.MISSES
        return State.OPEN if State.OPEN in states or not states else State.HOLDS

    @property
    def why(self) -> str:
        """What it misses, or what is open."""
        if self.error:
            return self.error
        for wanted in (State.MISSES, State.OPEN):
            found = [(case, j) for case, j in self.judgements.items() if j.state is wanted]
            if found:
                case, worst = max(found, key=lambda each: _ratio(each[1]))
                return f"{case}: {worst.behind or _reading(worst, wanted)}"
        return ""

    @property
    def excess(self) -> float:
        """The worst ratio of what a limit is on to its bound."""
        return max((_ratio(each) for each in self.judgements.values()), default=float("inf"))

    @property
    def least(self) -> Cost:
        """Its cost, where there is none the largest."""
        return self.cost or Cost.of(float(2**31), 0.0)

    @property
    def order(self) -> tuple[int, float, int]:
        """The cheaper come first."""
        return self.least.steps, self.least.suspends, self.candidate.strange

    @property
    def figures(self) -> list[Any]:
        """What a drive did, whatever it was called."""
        return [(case, raw["latency_us"], raw["counters"]) for case, raws in self.raws.items() for raw in raws]

    def redone(self, operation: str) -> bool:
        """Whether anything of an operation was done again."""
        name = f"{operation}_redone_time"
        return any(raw["counters"]["nand"].get(name, 0) for raws in self.raws.values() for raw in raws)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what is not known is absent."""
        more = {"cost": self.cost.to_dict()} if self.cost else {}
        return {
            "label": self.candidate.label,
            "set": dict(self.candidate.sets),
            "state": str(self.state),
            "seeds": self.seeds,
            **more,
            **({"why": self.why} if self.why else {}),
            **({"same": self.same} if self.same else {}),
            "cases": {case: each.to_dict() for case, each in self.judgements.items()},
        }


def _ratio(judgement: Judgement) -> float:
    return max(((each.value or 0) / each.limit.bound for each in judgement.readings), default=0.0)


def _reading(judgement: Judgement, state: State) -> str:
    found = [each for each in judgement.readings if each.state is state]
    worst = max(found, key=lambda each: (each.value or 0) / each.limit.bound)
    return worst.text() + (f"; {worst.why}" if worst.why else "")


@dataclass
class Advice:
    """What was found.

    Attributes:
        best: the cheapest that holds; None where nothing was shown to hold.
        bound: ideal suspension of both: what it misses, every scheme misses.
        configured: the configuration as it is.
        options: every combination that was tried, cheapest first.
        ways: every way for one operation with the other ideal.
        refused: what cannot be tried, by operation and scheme.
        untried: combinations that cost more and were not tried.
        ratios: the best over the others with the same seeds, by label and figure.
        path: the file of the answer.
    """

    limits: list[AnyLimit]
    seeds: int
    best: Option | None
    bound: Option
    configured: Option
    options: list[Option]
    ways: dict[str, list[tuple[Way, Option]]]
    refused: dict[str, dict[str, str]]
    untried: int = 0
    ratios: dict[str, dict[str, Ratio]] = field(default_factory=dict)
    simulated: int = 0
    kept: int = 0
    path: Path | None = None

    @property
    def sets(self) -> dict[str, str]:
        """The settings of the best; none where there is none."""
        return dict(self.best.candidate.sets) if self.best is not None else {}

    @property
    def nearest(self) -> Option:
        """What comes nearest to the limits, where nothing holds."""
        tried = [each for each in (*self.options, self.configured) if each.judgements]
        return min(tried or [self.configured], key=lambda each: (each.state is State.MISSES, each.excess))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        best = {"best": self.best.to_dict()} if self.best else {"nearest": self.nearest.to_dict()}
        ratios = {
            label: {figure: {"ratio": r.value, "low": r.low, "high": r.high} for figure, r in of.items()}
            for label, of in self.ratios.items()
        }
        return {
            "limits": {each.name: each.bound for each in self.limits},
            "seeds": self.seeds,
            **best,
            "configured": self.configured.to_dict(),
            "bound": self.bound.to_dict(),
            "options": [each.to_dict() for each in self.options],
            "ways": {
                operation: [{"way": way.label, **option.to_dict()} for way, option in of]
                for operation, of in self.ways.items()
            },
            "refused": self.refused,
            "untried": self.untried,
            "best_over": ratios,
            "simulated": self.simulated,
            "kept": self.kept,
        }

    def __repr__(self) -> str:
        if self.best is None:
            return f"Advice(nothing was shown to hold; nearest: {self.nearest.candidate.label}: {self.nearest.why})"
        return f"Advice({', '.join(f'{key}={value}' for key, value in self.sets.items())})"
