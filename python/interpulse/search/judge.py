"""Statistical test of limits for one case: it holds, it misses, or it is open.

Several seeds are judged by Student's t on the logarithms of what each came to; one seed by the interval that its own
window gives. A percentile that rests on too few requests, or a window that was not steady, shows neither that a limit
holds nor, alone, that it misses: what the result marks is never taken for a fact.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from interpulse.runs.estimate import Estimate
from interpulse.search.limits import AnyLimit, Limit, Wear, said

IMPROVING = 0.75
"""A tail whose second half of the window is below this share of the first may yet keep its limit."""

BEYOND = 12
"""Requests that should lie beyond a percentile: `few` marks less than ten."""

MOST_LONGER = 64
"""A window is made longer so many times at most."""

KEEPS_UP = 0.02
"""So much less than what is offered may complete, besides what chance does to the number of arrivals."""


class State(StrEnum):
    """What is known of a limit."""

    HOLDS = "holds"
    MISSES = "misses"
    OPEN = "open"


@dataclass(frozen=True)
class Reading:
    """One limit in one case.

    Attributes:
        value: the geometric mean over the seeds, in the limit's unit; None where there is none.
        low: where the 95 % interval begins; None where none can be given.
        high: where it ends.
        why: what keeps it open, or what is behind a miss that the interval does not show.
    """

    limit: AnyLimit
    state: State
    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""

    def text(self) -> str:
        """Such as `read p99.9 1.04 ms (1.03 to 1.05 ms)`."""
        between = "" if self.low is None else f" ({said(self.limit, self.low)} to {said(self.limit, self.high)})"
        return f"{self.limit.name} {said(self.limit, self.value)}{between}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what is not known is absent."""
        unit = "_us" if isinstance(self.limit, Limit) else ""
        named = {f"value{unit}": self.value, f"low{unit}": self.low, f"high{unit}": self.high, "why": self.why or None}
        known = {key: value for key, value in named.items() if value is not None}
        return {"limit": self.limit.name, f"bound{unit}": self.limit.bound, "state": str(self.state), **known}


@dataclass(frozen=True)
class Judgement:
    """All limits in one case."""

    readings: tuple[Reading, ...]
    seeds: int
    unsteady: int = 0
    """Windows that were not steady."""
    unsure: int = 0
    """Windows too short to tell."""
    behind: str = ""
    """How far it stays behind what is offered, where it does."""

    @property
    def state(self) -> State:
        """Misses where one does; holds where all do."""
        states = {reading.state for reading in self.readings}
        if self.behind or State.MISSES in states:
            return State.MISSES
        return State.OPEN if State.OPEN in states else State.HOLDS

    @property
    def longer(self) -> bool:
        """Whether a longer window may settle what is open."""
        return self.state is State.OPEN and any(each.state is State.OPEN and each.why for each in self.readings)

    def missed(self) -> list[Reading]:
        """Limits that are missed, the most by its ratio first."""
        found = [each for each in self.readings if each.state is State.MISSES]
        return sorted(found, key=lambda each: -(each.value or 0) / each.limit.bound)

    def nearest(self) -> Reading:
        """The limit that binds: the one missed by most, or else that of which least is left."""
        return (self.missed() or sorted(self.readings, key=lambda each: -(each.value or 0) / each.limit.bound))[0]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        more = {"behind": self.behind} if self.behind else {}
        return {
            "state": str(self.state),
            "seeds": self.seeds,
            "not_steady": self.unsteady,
            "too_short_to_tell": self.unsure,
            **more,
            "limits": [each.to_dict() for each in self.readings],
        }


def judge(raws: Sequence[Mapping[str, Any]], limits: Sequence[AnyLimit], *, margin: float = 1.0) -> Judgement:
    """Judges the results of one case with several seeds.

    Args:
        raws: a result for each seed.
        limits: what is to be kept.
        margin: a limit is missed only from so many times its bound on; above 1 for what is dropped by one seed.
    """
    verdicts = [raw.get("steady", {}).get("verdict") for raw in raws]
    readings = tuple(_reading(limit, raws, margin) for limit in limits)
    return Judgement(readings, len(raws), verdicts.count("no"), verdicts.count("unknown"), _behind(raws))


def _reading(limit: AnyLimit, raws: Sequence[Mapping[str, Any]], margin: float) -> Reading:
    values = [limit.value(raw) for raw in raws]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return _nothing(limit, raws)
    value, low, high = _interval(limit, raws, known)
    few = any(limit.few(raw) for raw in raws)
    unsteady = [raw for raw in raws if raw.get("steady", {}).get("verdict") == "no"]
    found = Reading(limit, State.OPEN, value, None if few else low, None if few else high)
    beyond = not few and low is not None and low > limit.bound * margin
    if beyond and not any(_improves(limit, raw) for raw in unsteady):
        return replace(found, state=State.MISSES)
    if few and (lower := _lower(limit, raws, margin)):
        return replace(found, state=State.MISSES, why=lower)
    if few:
        return replace(found, why="it rests on too few requests")
    if unsteady:
        return replace(found, why=f"{len(unsteady)} of {len(raws)} windows were not steady")
    if high is not None and high <= limit.bound:
        if len(raws) == 1 and raws[0].get("steady", {}).get("verdict") == "unknown":
            return replace(found, why="the window is too short to tell whether it was steady")
        return replace(found, state=State.HOLDS)
    # Its interval has the bound in it: that is the answer, unless windows were too short to know better.
    short = any(raw.get("steady", {}).get("verdict") == "unknown" for raw in raws)
    return replace(found, why="windows are too short to tell whether they were steady" if short else "")


def _nothing(limit: AnyLimit, raws: Sequence[Mapping[str, Any]]) -> Reading:
    """Nothing completed in a window: a limit on no requests holds, unless requests starve."""
    if isinstance(limit, Wear):
        return Reading(limit, State.HOLDS, why="nothing was erased")
    oldest = [raw.get("oldest_outstanding_us", {}).get(limit.kind, 0.0) for raw in raws]
    if max(oldest, default=0.0) > limit.bound:
        return Reading(limit, State.MISSES, why=f"none completed, and one had waited for {said(limit, max(oldest))}")
    return Reading(limit, State.HOLDS, why=f"there were no {limit.kind} requests")


def _interval(
    limit: AnyLimit, raws: Sequence[Mapping[str, Any]], values: Sequence[float]
) -> tuple[float, float | None, float | None]:
    if len(raws) == 1:
        own = limit.interval(raws[0])
        if own is None and getattr(limit, "measure", "") == "mean":
            return values[0], None, None
        return values[0], *(own or (None, None))
    mean = Estimate.of(values) if min(values) <= 0 else Estimate.geometric(values)
    return mean.value, mean.low, mean.high


def _lower(limit: AnyLimit, raws: Sequence[Mapping[str, Any]], margin: float) -> str:
    """A lower percentile that is known and beyond the bound already."""
    for lower in reversed(limit.below()):
        if _reading(lower, raws, margin).state is State.MISSES:
            return f"{lower.name} misses it already"
    return ""


def _improves(limit: AnyLimit, raw: Mapping[str, Any]) -> bool:
    """Whether the second half of a window that was not steady was so much better that the limit may yet hold."""
    halves = raw.get("steady", {}).get("halves", {}).get(f"{getattr(limit, 'kind', '')}_p99_us")
    return halves is None or halves[1] < IMPROVING * halves[0]


@dataclass(frozen=True)
class Offered:
    """What a flow that does not wait for the drive offers.

    Attributes:
        rate: requests a second.
        variation: the squared variation of the gaps between them.
    """

    rate: float
    variation: float


def offered(raw: Mapping[str, Any], number: int) -> Offered | None:
    """What a flow of a result offers; None where it waits for the drive, replays a trace, or does not last."""
    before = f"flow.{number}."
    own = {key.removeprefix(before): text for key, text in raw.get("config", {}).items() if key.startswith(before)}
    lasts = own.get("start", "0ns") == "0ns" and all(
        own.get(key, "not set") == "not set" for key in ("stop", "requests")
    )
    rate = re.match(r"[\d.]+(?:e[+-]?\d+)?", str(own.get("rate", "")))
    if own.get("pacing") != "open" or rate is None or not lasts:
        return None
    return Offered(float(rate[0]), float(own.get("squared-variation", 1)))


def _behind(raws: Sequence[Mapping[str, Any]]) -> str:
    """What of the offered load is not done, where that is more than chance.

    What waits then grows for as long as the run lasts. Its latencies, long after the beginning, need not differ much
    between the halves of a window, so that it may be called steady; and a flow beside it may keep all its limits.
    """
    for raw in raws:
        flows = raw.get("flows", ())
        for number, flow in enumerate(flows):
            load = offered(raw, number)
            if load is None:
                continue
            chance = 4 * math.sqrt(load.variation / max(flow["host_requests"], 1))
            if flow["iops"] < load.rate * (1 - KEEPS_UP - chance):
                who = f"flow {flow['name']}" if len(flows) > 1 else "it"
                return f"{who} completes {flow['iops']:,.0f} of {load.rate:,.0f} requests a second"
    return ""


def longer(raw: Mapping[str, Any], limits: Sequence[AnyLimit]) -> int:
    """How many times longer a window has to be so that no limit rests on too few requests."""
    least = min(
        (beyond for limit in limits if (beyond := limit.beyond(raw)) is not None and beyond > 0), default=BEYOND
    )
    return min(MOST_LONGER, max(1, math.ceil(BEYOND / least)))
