"""Result of a scheme search: the tried suspension schemes and the advice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interpulse.lifetime.expected import Expected, LifeLimit
from interpulse.search.candidates import OPERATIONS, Candidate, Way
from interpulse.search.cost import Cost, Ratio
from interpulse.search.judge import Judgement, State
from interpulse.search.limits import AnyLimit


@dataclass
class Option:
    """A candidate with its results.

    Attributes:
        candidate: the settings.
        judgements: by case; after screening, of one seed.
        cost: the largest cost of all cases.
        seeds: number of seeds.
        error: why the candidate cannot be used; empty otherwise.
    """

    candidate: Candidate
    judgements: dict[str, Judgement] = field(default_factory=dict)
    cost: Cost | None = None
    seeds: int = 0
    error: str = ""
    counted: tuple[str, ...] = OPERATIONS
    """The operations whose suspensions count as cost; a scheme beside an ideal one counts only its own operation."""
    same: list[str] = field(default_factory=list)
    """Labels of candidates with exactly the same figures."""
    raws: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    lives: dict[str, Expected] = field(default_factory=dict)
    """Expected life by case, where a life is demanded and all other limits hold."""
    beside_none: Option | None = None
    """The same scheme of one operation without suspension of the other one; None if it was not needed."""

    @property
    def ruled_out(self) -> str:
        """Why the scheme of one operation misses beside any scheme of the other one; empty if that is not shown.

        Ideal suspension of the other operation is best for reads, no suspension is best for writes and wear. Therefore
        a limit has to be missed beside both. A limit on all requests rules nothing out: a scheme between the two may be
        better than either.
        """
        other = self.beside_none
        if other is None:
            return ""
        if self.error or other.error:
            return self.error and other.error
        for case, judgement in self.judgements.items():
            if found := judgement.also_missed(other.judgements.get(case)):
                return f"{case}: {found}"
        return ""

    @property
    def state(self) -> State:
        """The state over all limits and cases."""
        states = {each.state for each in self.judgements.values()} | {_state(each) for each in self.lives.values()}
        if self.error or State.MISSES in states:
            return State.MISSES
        return State.OPEN if State.OPEN in states or not states else State.HOLDS

    @property
    def why(self) -> str:
        """The worst missed or open limit."""
        if self.error:
            return self.error
        for wanted in (State.MISSES, State.OPEN):
            if short := [(case, life) for case, life in self.lives.items() if _state(life) is wanted]:
                return f"{short[0][0]}: {short[0][1].why}"
            found = [(case, j) for case, j in self.judgements.items() if j.state is wanted]
            if found:
                case, worst = max(found, key=lambda each: _ratio(each[1]))
                return f"{case}: {worst.behind or _reading(worst, wanted)}"
        return ""

    @property
    def excess(self) -> float:
        """The largest ratio of a limited figure to its bound."""
        return max((_ratio(each) for each in self.judgements.values()), default=float("inf"))

    @property
    def least(self) -> Cost:
        """The cost; the largest possible one if unknown."""
        return self.cost or Cost.of(float(2**31), 0.0)

    @property
    def order(self) -> tuple[int, float, int]:
        """Sort key: cheapest first."""
        return self.least.steps, self.least.suspends, self.candidate.strange

    @property
    def figures(self) -> list[Any]:
        """Results without labels, to find candidates that behave identically."""
        return [(case, raw["latency_us"], raw["counters"]) for case, raws in self.raws.items() for raw in raws]

    def redone(self, operation: str) -> bool:
        """Whether any work of an operation was repeated."""
        name = f"{operation}_redone_time"
        return any(raw["counters"]["nand"].get(name, 0) for raws in self.raws.values() for raw in raws)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; unknown values are absent."""
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
            **({"life": {case: each.to_dict() for case, each in self.lives.items()}} if self.lives else {}),
            **({"beside_none": self.beside_none.to_dict()} if self.beside_none else {}),
        }


def _state(life: Expected) -> State:
    return {True: State.HOLDS, False: State.MISSES, None: State.OPEN}[life.lives]


def _ratio(judgement: Judgement) -> float:
    return max(((each.value or 0) / each.limit.bound for each in judgement.readings), default=0.0)


def _reading(judgement: Judgement, state: State) -> str:
    found = [each for each in judgement.readings if each.state is state]
    worst = max(found, key=lambda each: (each.value or 0) / each.limit.bound)
    return worst.text() + (f"; {worst.why}" if worst.why else "")


@dataclass
class Advice:
    """Result of a scheme search.

    Attributes:
        best: the cheapest option that holds; None if none was shown to hold.
        bound: uncapped ideal suspension of both operations, a bound on the latency of reads but not of writes.
        impossible: the limit that no scheme can keep, with its figures; empty if that is not shown.
        configured: the unchanged configuration.
        options: all tried combinations, cheapest first.
        ways: all variants of one operation, with the other operation ideal.
        refused: why a scheme cannot be tried, by operation and scheme.
        untried: number of more expensive combinations that were not tried.
        life: the age that the drive has to reach; None if none is demanded.
        ratios: figures of the best divided by those of the others with the same seeds, by label and figure.
        path: the result file.
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
    impossible: str = ""
    life: LifeLimit | None = None
    ratios: dict[str, dict[str, Ratio]] = field(default_factory=dict)
    simulated: int = 0
    kept: int = 0
    path: Path | None = None

    @property
    def sets(self) -> dict[str, str]:
        """The settings of the best option; empty if there is none."""
        return dict(self.best.candidate.sets) if self.best is not None else {}

    @property
    def nearest(self) -> Option:
        """The option nearest to the limits, reported if none holds."""
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
            **({"life": self.life.to_dict()} if self.life else {}),
            "seeds": self.seeds,
            **best,
            "configured": self.configured.to_dict(),
            "bound": self.bound.to_dict(),
            "options": [each.to_dict() for each in self.options],
            **({"impossible": self.impossible} if self.impossible else {}),
            "ways": {
                operation: [
                    {"way": way.label, **option.to_dict(), "ruled_out": bool(option.ruled_out)} for way, option in of
                ]
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
        return f"Advice({', '.join(f'{key}={value}' for key, value in self.sets.items()) or 'as configured'})"
