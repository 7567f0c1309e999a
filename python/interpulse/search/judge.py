"""Statistical test of limits for one case: it holds, it misses, or it is open.

Several seeds are judged by Student's t on the logarithms of their results, one seed by the interval of its own window.
A percentile of too few requests, or an unsteady window, proves neither that a limit holds nor, alone, that it misses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from interpulse._core import ConfigError
from interpulse.runs.estimate import Estimate
from interpulse.runs.steadiness import overload
from interpulse.search.limits import AnyLimit, Limit, Wear, said

IMPROVING = 0.75
"""If the tail of a window's second half is below this share of the first half's, the limit may still hold."""

BEYOND = 12
"""Wanted number of requests beyond a percentile; `few` marks less than ten."""

LEAST_BEYOND = 10
"""Least number of requests beyond a percentile; results mark fewer with `few`."""

CLEARLY = 1.2
"""Factor by which one seed has to miss a limit."""

MOST_LONGER = 64
"""Maximum factor on a window."""

KEEPS_UP = 0.02
"""Allowed shortfall of the throughput below the offered load, besides the random variation of arrivals."""


class State(StrEnum):
    """State of a limit."""

    HOLDS = "holds"
    MISSES = "misses"
    OPEN = "open"


@dataclass(frozen=True)
class Reading:
    """One limit in one case.

    Attributes:
        value: the geometric mean over the seeds, in the limit's unit; None if there is none.
        low: lower end of the 95 % interval; None if unknown.
        high: upper end.
        why: why it is open, or the cause of a miss that the interval does not show.
    """

    limit: AnyLimit
    state: State
    value: float | None = None
    low: float | None = None
    high: float | None = None
    why: str = ""

    def text(self) -> str:
        """Text such as `read p99.9 1.04 ms (1.03 to 1.05 ms)`."""
        between = "" if self.low is None else f" ({said(self.limit, self.low)} to {said(self.limit, self.high)})"
        return f"{self.limit.name} {said(self.limit, self.value)}{between}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON; unknown values are absent."""
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
    """Number of unsteady windows."""
    unsure: int = 0
    """Number of windows too short to judge."""
    behind: str = ""
    """Text on the shortfall below the offered load; empty if there is none."""

    @property
    def state(self) -> State:
        """Misses if one limit misses; holds if all hold."""
        states = {reading.state for reading in self.readings}
        if self.behind or State.MISSES in states:
            return State.MISSES
        return State.OPEN if State.OPEN in states else State.HOLDS

    @property
    def longer(self) -> bool:
        """Whether a longer window may decide open limits."""
        return self.state is State.OPEN and any(each.state is State.OPEN and each.why for each in self.readings)

    def missed(self) -> list[Reading]:
        """Missed limits, the largest ratio to the bound first."""
        found = [each for each in self.readings if each.state is State.MISSES]
        return sorted(found, key=lambda each: -(each.value or 0) / each.limit.bound)

    def also_missed(self, other: Judgement | None) -> str:
        """The first limit on reads, writes or wear that `other` misses too, with figures; empty if there is none."""
        if other is None:
            return ""
        if self.behind and other.behind:
            return self.behind
        for mine, theirs in zip(self.readings, other.readings, strict=True):
            apart = getattr(mine.limit, "kind", "") != "all"
            if apart and mine.state is theirs.state is State.MISSES:
                return mine.text() + (f"; {mine.why}" if mine.why else "")
        return ""

    def nearest(self) -> Reading:
        """The binding limit: the one with the largest ratio to its bound, missed ones first."""
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
        limits: the limits.
        margin: factor on the bound beyond which a limit is missed; above 1 for decisions by one seed.
    """
    verdicts = [raw.get("steady", {}).get("verdict") for raw in raws]
    readings = tuple(_reading(limit, raws, margin) for limit in limits)
    return Judgement(readings, len(raws), verdicts.count("no"), verdicts.count("unknown"), shortfall(raws))


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
            return replace(found, why="the window is too short to decide whether it was steady")
        if all(raw.get("steady", {}).get("load", {}).get("verdict") == "unknown" for raw in raws):
            return replace(found, why="windows are too short to decide whether the drive serves the load")
        return replace(found, state=State.HOLDS)
    # The interval contains the bound: open for good, unless windows were too short.
    short = any(raw.get("steady", {}).get("verdict") == "unknown" for raw in raws)
    return replace(found, why="windows are too short to decide whether they were steady" if short else "")


def _nothing(limit: AnyLimit, raws: Sequence[Mapping[str, Any]]) -> Reading:
    """Reading of a window without completions: the limit holds unless requests starve."""
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
    """Text on a lower percentile that misses the bound; empty if there is none."""
    for lower in reversed(limit.below()):
        if _reading(lower, raws, margin).state is State.MISSES:
            return f"{lower.name} misses it already"
    return ""


def _improves(limit: AnyLimit, raw: Mapping[str, Any]) -> bool:
    """Whether an unsteady window improved so much in its second half that the limit may still hold."""
    halves = raw.get("steady", {}).get("halves", {}).get(f"{getattr(limit, 'kind', '')}_p99_us")
    return halves is None or halves[1] < IMPROVING * halves[0]


@dataclass(frozen=True)
class Offered:
    """Offered load of an open flow.

    Attributes:
        rate: requests per second.
        variation: squared coefficient of variation of the interarrival times.
    """

    rate: float
    variation: float


def offered(raw: Mapping[str, Any], number: int) -> Offered | None:
    """Offered load of a flow; None if it is closed, replays a trace, or does not last for the whole run."""
    before = f"flow.{number}."
    own = {key.removeprefix(before): text for key, text in raw.get("config", {}).items() if key.startswith(before)}
    lasts = own.get("start", "0ns") == "0ns" and all(
        own.get(key, "not set") == "not set" for key in ("stop", "requests")
    )
    rate = re.match(r"[\d.]+(?:e[+-]?\d+)?", str(own.get("rate", "")))
    if own.get("pacing") != "open" or rate is None or not lasts:
        return None
    return Offered(float(rate[0]), float(own.get("squared-variation", 1)))


def shortfall(raws: Sequence[Mapping[str, Any]]) -> str:
    """Text on an overload, or a throughput below the offered load by more than chance; empty otherwise.

    The backlog then grows during the whole run, but the window may be too short for its verdict, and another flow may
    keep all limits.
    """
    for raw in raws:
        if text := overload(raw):
            return text
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


def check_enough(case: str, raw: Mapping[str, Any], limits: Sequence[AnyLimit], *, scales: bool) -> None:
    """Checks by a first run that the limited percentiles can have enough requests.

    Args:
        case: name of the case.
        raw: its result.
        limits: the limits.
        scales: whether the window can be extended; traces and flows with a number of requests end by themselves.

    Raises:
        ConfigError: a percentile has too few requests beyond it even in the longest window.
    """
    most = MOST_LONGER if scales else 1
    for limit in limits:
        if not isinstance(limit, Limit) or limit.measure == "mean" or raw.get("interrupted"):
            continue
        count = int(raw.get("latency_us", {}).get(limit.kind, {}).get("count", 0)) * most
        if not count or round(count * limit.share, 6) >= LEAST_BEYOND:
            continue
        if any(_reading(lower, [raw], CLEARLY).state is State.MISSES for lower in limit.below()):
            continue  # The limit is missed however few requests there are.
        needed = math.ceil(round(LEAST_BEYOND / limit.share, 6))
        known = [each for each in limit.below() if count * each.share >= LEAST_BEYOND]
        lower = f"{limit.kind}-{known[-1].measure} or lower, or " if known else ""
        kind = "" if limit.kind == "all" else f"{limit.kind} "
        window = f"a window {most} times as long as configured" if scales else "a load that ends by itself"
        longer = "a larger run.requests or run.time" if scales else "a longer trace or more requests"
        raise ConfigError(
            f"{limit.name}: case {case}: seen {count:,} {kind}requests in {window}; {limit.measure} needs "
            f"{needed:,}, {LEAST_BEYOND} of them beyond it: expected {lower}{longer}"
        )


def longer(raw: Mapping[str, Any], limits: Sequence[AnyLimit]) -> int:
    """Factor on the window after which every limit has enough requests."""
    least = min(
        (beyond for limit in limits if (beyond := limit.beyond(raw)) is not None and beyond > 0), default=BEYOND
    )
    return min(MOST_LONGER, max(1, math.ceil(BEYOND / least)))
